"""What an edition leaves for the wiki: quoted summaries, and which events one story is."""

from __future__ import annotations

import pytest

from matins.brief import summary
from matins.brief.phrases import words
from tests.brief.making import PROSE, chosen_set, edition, evidence, look

FIRST = PROSE.partition(" Two crews")[0]


def test_a_summary_is_the_title_and_the_first_whole_sentences_with_paragraphs_kept() -> None:
    title, text = summary.summary_of({"title": "Hourly\nferries", "text": f"{FIRST}\n\nRead more\n\n{PROSE}"})
    assert title == "Hourly ferries"
    paragraphs = text.split("\n\n")
    assert paragraphs[0] == FIRST
    assert PROSE.startswith(paragraphs[1])
    assert 100 < words(text) <= 120


@pytest.mark.parametrize(("title", "text"), [("Only a title", ""), ("", "Read more")])
def test_a_summary_without_a_sentence_to_quote_has_a_title_and_no_text(title: str, text: str) -> None:
    assert summary.summary_of({"title": title, "text": text}) == (title or text, "")


def test_each_told_story_leaves_one_summary_and_the_events_of_its_page() -> None:
    items = [
        evidence("Hourly ferries from March", "Short.", source="echo"),
        evidence("Hourly ferries from March"),
        evidence("Bees return", "Bees came home to the old town on Sunday.", source="b"),
    ]
    draft, found = edition(items, [look("gazette")], interests={"shipping": ["ferries"]}, long=1, short=1)
    assert summary.stories_of(draft, found) == [
        {
            "lead": items[1].event_key,
            "topic": "shipping",
            "members": [items[1].event_key, items[0].event_key],
            "headline": "Hourly ferries from March",
        },
        {"lead": items[2].event_key, "topic": "", "members": [items[2].event_key], "headline": "Bees return"},
    ]
    told = summary.summaries(draft, found)
    assert [one["evidence_hash"] for one in told] == [items[1].evidence_hash, items[2].evidence_hash]
    assert told[1] == {
        "event_key": items[2].event_key,
        "evidence_hash": items[2].evidence_hash,
        "title": "Bees return",
        "text": "Bees came home to the old town on Sunday.",
    }


@pytest.mark.parametrize("made", [summary.summaries, summary.stories_of])
def test_a_draft_and_evidence_of_two_mornings_are_refused(made) -> None:  # type: ignore[no-untyped-def]
    draft, _ = edition([evidence("Hourly ferries")])
    with pytest.raises(KeyError):
        made(draft, chosen_set([]))
