"""Where sentences end, and which of them are worth telling."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from matins.brief import sentences
from matins.brief.phrases import fold


@pytest.mark.parametrize(
    "whole",
    [
        ["The U.S. Navy sent two ships.", "They arrive on Friday."],
        ["It was made in the U.S.", "The parts came from Norway."],
        ["Dr. Quist measured 3.5 metres.", "Mr. and Mrs. Tarn watched."],
        ["J. R. Harker wrote it.", "K. Falk printed it."],
        ["The vote was at 10 a.m. on Monday.", "Nobody came before 11 a.m. in the end."],
        ['"We are open. We are glad," she said.', "The doors stay open until six."],
        ["“Is it deep?” Ms Orr asked.", "It is."],
        ['He asked: "Why?"', "Nobody knew."],
        ["It costs £2.3 million.", "No. 12 Quay Street is empty."],
        ["Was it the wind?", "It was!", "And then… it stopped."],
        ["港が開いた。", "船が来る。"],
        ["Acme Ltd. of Aldermouth closed on 3 Nov. last year.", "Others followed."],
        ["(It rained all day.)", "Then it stopped."],
    ],
)
def test_sentences_end_where_a_reader_would_end_them(whole: list[str]) -> None:
    joined = "".join(whole) if whole[0].endswith("。") else " ".join(whole)
    assert sentences.split(joined) == whole


@given(st.text(st.characters(codec="utf-8"), max_size=300))
def test_splitting_loses_nothing(text: str) -> None:
    assert "".join("".join(sentences.split(text)).split()) == "".join(fold(text).split())


@pytest.mark.parametrize(
    "furniture",
    [
        "Read more at the Gazette of Aldermouth.",
        "The post The port reopens appeared first on Harbour Gazette.",
        "Subscribe to our daily newsletter for more like this.",
        "Sign up here to get the news first thing.",
        "Continue reading this story on our site.",
        "Photo: the outer basin seen from the air last week.",
        "Image credit: the harbour board of Aldermouth town.",
        "By Ines Calloway and Tom Ardley",
        "12 comments",
        "Article URL: https://gazette.example/a and more.",
        "submitted by a reader of the Gazette [link] [comments]",
        "See https://gazette.example/a for the list of ships.",
        "This article was originally published on the Echo's own site.",
        "Copyright 2026 Harbour Gazette, all rights reserved.",
        "The board said that the ships would come in when the…",
        "THE PORT OF ALDERMOUTH OPENS AGAIN ON THURSDAY MORNING.",
        "A crane",
        "and so it went on for days without an end.",
        "— — — — * * * * — — —",
    ],
)
def test_what_feeds_put_around_an_article_is_not_told(furniture: str) -> None:
    text = f"{furniture}\n\nThe harbour board opened the basin on Thursday morning.\n\n{furniture}"
    assert list(sentences.honest(text)) == [["The harbour board opened the basin on Thursday morning."]]


@pytest.mark.parametrize(
    "honest",
    [
        "Two million people subscribe and pay each month.",
        "The comments of the harbour master were short and clear.",
        "By noon the last of the ships had left the roads.",
        "By Monday the Harbour Board will have voted on it.",
        "He read the letter twice and put it away.",
        "The fare is £4.20.",
        "Readers sent 41 photos of the bridge to the paper.",
        "Rail unions accept the offer and call off the strike",
    ],
)
def test_plain_sentences_that_only_look_like_furniture_are_told(honest: str) -> None:
    assert list(sentences.honest(honest)) == [[honest]]


def test_a_sentence_that_only_repeats_the_title_is_left_out() -> None:
    text = "The port reopens on Thursday. Nine ships wait in the roads."
    assert list(sentences.honest(text, title="The port reopens on Thursday")) == [["Nine ships wait in the roads."]]
