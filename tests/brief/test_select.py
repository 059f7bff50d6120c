"""Which items are news, which are one story, what is told and why the rest is not."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta
from time import process_time

import pytest

from matins.brief import select
from matins.rules.canonical import canonical
from matins.rules.evidence import Evidence
from tests.brief.making import AT, PROSE, chosen_set, evidence, look, told

PORT = "The port of Aldermouth reopens to container ships on Thursday"
PORT_ECHO = "Aldermouth port to reopen on Thursday as harbour board lifts closure"
PORT_TEXT = (
    "The harbour board has lifted its closure of the outer basin after divers raised the sunken barge Patient Wren. "
    "Nine container ships wait in the roads and will be brought in by order of arrival."
)
PORT_ECHO_TEXT = (
    "Container ships return on Thursday: the harbour board lifted the closure of the outer basin on Sunday, once "
    "divers had raised the barge Patient Wren. Nine ships lie in the roads, hauliers say."
)


def _clusters(items: list[Evidence]) -> list[list[str]]:
    found: dict[int, list[str]] = {}
    for item in chosen_set(items)["items"]:
        found.setdefault(item["cluster"], []).append(item["title"])
    return sorted(sorted(titles) for titles in found.values())


def _pad(count: int = 6) -> list[Evidence]:
    subjects = ("Bees return to chimneys", "Opera funding halved", "Chess club wins cup", "Bakery turns ninety",
                "Glacier lake drained safely", "Violin found under stairs")  # fmt: skip
    return [evidence(title, f"{title} in short.", source=f"pad{n}") for n, title in enumerate(subjects[:count])]


def test_two_sources_with_like_titles_and_texts_tell_one_story() -> None:
    items = [evidence(PORT, PORT_TEXT), evidence(PORT_ECHO, PORT_ECHO_TEXT, source="echo"), *_pad()]
    assert [PORT_ECHO, PORT] in _clusters(items)


def test_two_sources_with_the_same_link_tell_one_story_whatever_the_titles() -> None:
    link = "https://www.gazette.example/2026/port/"
    items = [evidence("At last", url=link), evidence("Cranes move", source="echo", url=link.replace("www.", ""))]
    assert _clusters(items) == [["At last", "Cranes move"]]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (PORT, "Aldermouth port workers vote on Thursday on container pay"),
        ("Lodestone 9.3 fixes an index bug", "Lodestone 9.2 fixes an index bug"),
        ("Council approves the bridge over the Sallow", "Council rejects the school on the Sallow"),
        ("What we are reading this week", "What we're reading this week"),
        ("Weeknotes", "Weeknotes"),
    ],
)
def test_look_alikes_stay_two_stories(one: str, other: str) -> None:
    items = [
        evidence(one, PORT_TEXT),
        evidence(other, "Dockers decide about wages after months of talks; ballots close at six.", source="echo"),
        *_pad(),
    ]
    assert not any(one in titles and len(titles) > 1 for titles in _clusters(items))


def test_a_front_page_or_a_link_used_for_everything_joins_nothing() -> None:
    front = [
        evidence("Bees return", url="https://a.example/"),
        evidence("Opera cut", source="b", url="https://a.example/"),
    ]
    shared = [evidence(title, url="https://a.example/all") for title in ("Chess cup", "Bakery turns ninety")]
    other = evidence("Glacier lake drained", source="b", url="https://a.example/all")
    assert all(len(titles) == 1 for titles in _clusters([*front, *shared, other]))


def test_one_source_s_series_with_like_titles_is_not_one_story() -> None:
    items = [evidence(f"Release notes of the parser, {part}", f"About {part}.") for part in ("part one", "part two")]
    assert all(len(titles) == 1 for titles in _clusters(items))


def test_of_a_new_source_at_most_three_items_of_the_last_48_hours_are_news() -> None:
    hours = (1, 2, 3, 4, 49)
    items = [evidence(f"Story {h}", published=AT - timedelta(hours=h), baseline=True) for h in hours]
    items.append(evidence("Undated", published=None, baseline=True))
    found = {item["title"]: item for item in chosen_set(items)["items"]}
    assert [title for title, item in found.items() if item["rank"]] == ["Story 1", "Story 2", "Story 3"]
    assert found["Story 4"]["reason"] == found["Undated"]["reason"] == select.OLD
    assert not found["Story 49"]["chosen"]
    assert found["Story 49"]["text"] == ""


def test_a_baseline_date_in_the_far_future_proves_nothing() -> None:
    items = [evidence("In 2031", published=datetime(2031, 1, 1, tzinfo=UTC), baseline=True)]
    assert not chosen_set(items)["items"][0]["chosen"]


def test_an_old_item_that_is_new_at_a_known_source_is_news_but_comes_last() -> None:
    items = [
        evidence("An old port", published=AT - timedelta(days=400)),
        evidence("Bees return", published=AT - timedelta(hours=30)),
    ]
    ranked = [item["title"] for item in chosen_set(items, interests={"shipping": ["port"]})["items"]]
    assert ranked == ["Bees return", "An old port"]


def test_a_future_date_does_not_make_an_item_fresher_than_one_seen_now() -> None:
    items = [
        evidence("From tomorrow", published=AT + timedelta(days=1), seen=AT - timedelta(hours=2)),
        evidence("Just seen", published=None, seen=AT - timedelta(minutes=1)),
    ]
    assert [item["title"] for item in chosen_set(items)["items"]] == ["Just seen", "From tomorrow"]


def test_interests_come_first_in_their_order_then_sources_then_freshness() -> None:
    items = [
        evidence("Fresh bees", "Bees.", published=AT - timedelta(minutes=5)),
        evidence("A train", "Rails.", published=AT - timedelta(hours=9)),
        evidence("A ship", "Hulls.", published=AT - timedelta(hours=30)),
        evidence("Rain", "One train stopped.", published=AT - timedelta(hours=1)),
        evidence("Opera funding halved in the city", PROSE, source="a", published=AT - timedelta(hours=40)),
        evidence("City halves its opera funding", PROSE, source="b", published=AT - timedelta(hours=40)),
    ]
    found = chosen_set(items, interests={"shipping": ["ship"], "rail": ["train"]})["items"]
    order = list(dict.fromkeys(item["rank"] for item in found))
    leads = [next(item["title"] for item in found if item["rank"] == rank) for rank in order]
    assert leads[:3] == ["A ship", "A train", "Rain"]
    assert leads[3] in ("Opera funding halved in the city", "City halves its opera funding")
    assert leads[4] == "Fresh bees"


@pytest.mark.parametrize(
    ("word", "title", "follows"),
    [
        ("port", "The ports are shut", True),
        ("port", "A report on portable stoves", False),
        ("container ship", "Container ships wait", True),
        ("IT", "It rained", False),
        ("IT", "The IT crowd", True),
        ("C++", "A new C++ compiler", True),
    ],
)
def test_an_interest_s_word_is_found_as_a_whole_word(word: str, title: str, follows: bool) -> None:
    found = chosen_set([evidence(title, "Nothing.")], interests={"topic": [word]})["items"][0]
    assert (found["topic"] == "topic") is follows


def test_no_topic_and_no_source_takes_more_than_its_share_while_others_wait() -> None:
    flood = [evidence(f"Port {letter * 3}", f"{letter}", source="flood") for letter in "abcdefgh"]
    others = [evidence(f"Quiet {letter * 4}", f"{letter}", source=f"s{letter}") for letter in "uvwxyz"]
    found = chosen_set([*flood, *others], interests={"shipping": ["port"]}, long=4, short=4)["items"]
    told = [item["source_name"] for item in found if item["chosen"]]
    assert told.count("Flood") == 2
    assert len(told) == 8
    assert {item["reason"] for item in found if not item["chosen"]} == {select.ENOUGH_OF_SOURCE}


def test_room_that_a_share_leaves_free_is_filled() -> None:
    flood = [evidence(f"Port {letter * 3}", letter, source="flood") for letter in "abcdefgh"]
    found = chosen_set(flood, long=3, short=3)["items"]
    assert sum(item["chosen"] for item in found) == 6
    assert {item["reason"] for item in found if not item["chosen"]} == {select.OVER}


def test_the_same_evidence_in_any_order_gives_the_same_bytes() -> None:
    items = [evidence(PORT, PORT_TEXT), evidence(PORT_ECHO, PORT_ECHO_TEXT, source="echo"), *_pad()]
    items += [evidence(f"Old {n}", published=AT - timedelta(hours=n), baseline=True, source="new") for n in range(6)]
    looks = [look("gazette"), look("echo"), look("new", reason="503")]
    first = canonical(chosen_set(items, looks))
    for seed in range(5):
        random.Random(seed).shuffle(items)
        random.Random(seed).shuffle(looks)
        assert canonical(chosen_set(items, looks)) == first


def test_a_thousand_items_are_chosen_from_in_no_time() -> None:
    items = [evidence(f"Story {n} of the town and its port", PROSE * 5, source=f"s{n % 140}") for n in range(1000)]
    started = process_time()
    found = chosen_set(items, interests={"shipping": ["port"]}, told=[told(item) for item in items[:50]])
    assert process_time() - started < 2.5  # five times what it may take
    assert len(found["items"]) == 1000
    assert not any(item["chosen"] for item in found["items"] if item.get("told_on"))
