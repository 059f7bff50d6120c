"""Nothing is told twice: what was told is told again only for something new, which is then named."""

from __future__ import annotations

import random
from datetime import date, timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from matins.brief import audit, bundle, coverage, select
from matins.rules.canonical import canonical
from matins.rules.errors import CopyRefused
from matins.rules.evidence import Evidence
from tests.brief.making import AT, DAY, PROSE, chosen_set, edition, evidence, told, version
from tests.brief.test_select import PORT, PORT_ECHO, PORT_ECHO_TEXT, PORT_TEXT

FERRY = evidence("Hourly ferries from March", PROSE)
FRIDAY = date(2026, 11, 27)
FARE = "The fare rises to 4.20 in summer."
REWORDED = (
    "Children under twelve travel free; adults pay £3.50, the council said on Monday. "
    "From the first week in March, a ferry to the outer islands is to sail hourly – now it is 5 times daily! "
    "Two crews are hired, one more is training. If forty people use the late boat on Saturdays, it stays."
)


def _told_again(item: Evidence, *, was: Evidence = FERRY, on: date = FRIDAY) -> tuple[bool, str, str]:
    found = chosen_set([item], told=[told(was, on)])["items"][0]
    return found["chosen"], found["reason"], found.get("new_fact", "-")


@pytest.mark.parametrize(
    "item",
    [
        pytest.param(version(FERRY, PROSE.replace("outer", "outermost").replace(", ", " – ")), id="a new version"),
        pytest.param(version(FERRY, " ".join(reversed(PROSE.split(". ")))), id="reordered"),
        pytest.param(version(FERRY, REWORDED), id="reworded"),
        pytest.param(version(FERRY, ""), id="shortened to its title"),
        pytest.param(evidence(FERRY.title, PROSE, source="echo"), id="another source"),
        pytest.param(evidence("On boats", "", source="echo", url=FERRY.url), id="another source's link to it"),
        pytest.param(evidence("Boats to the islands", PROSE, url=FERRY.url), id="a new identity, one link"),
        pytest.param(version(FERRY, f"{PROSE}\n\n99 comments\n\nPhoto: Jane Doe"), id="furniture"),
    ],
)
def test_a_story_without_a_new_fact_is_not_told_again(item: Evidence) -> None:
    assert _told_again(item) == (False, "told Friday", "")


@pytest.mark.parametrize(
    ("item", "new_fact"),
    [
        (version(FERRY, f"{REWORDED} {FARE} It rises to 5.10 later."), FARE),
        (version(FERRY, PROSE.replace("third", "fourth").replace("Two crews", "Nine crews")),
         "Nine crews have been hired, and a fourth is in training until the spring."),
        (evidence(FERRY.title, f"{PROSE} {FARE}", source="echo"), FARE),
        (version(FERRY, f"{PROSE} The boats come from Norway. {FARE}", title="Hourly ferries, fare up to 4.20"), FARE),
        (version(FERRY, PROSE, title="Hourly ferries from 7 April"), "Hourly ferries from 7 April"),
        (version(FERRY, f'{PROSE} "We never had so many boats," said the mayor.'),
         '"We never had so many boats," said the mayor.'),
    ],
)  # fmt: skip
def test_the_first_whole_sentence_with_a_new_fact_is_named(item: Evidence, new_fact: str) -> None:
    chosen, reason, said = _told_again(item)
    assert (chosen, said) == (True, new_fact)
    assert reason.startswith("told Friday, new: ")
    assert len(reason) <= 80


@pytest.mark.parametrize(
    ("on", "reason"),
    [
        (DAY - timedelta(days=1), "told Sunday"),
        (DAY - timedelta(days=6), "told Tuesday"),
        (DAY - timedelta(days=7), "told on 23 November"),
        (DAY - timedelta(days=400), "told on 26 October 2025"),
    ],
)
def test_when_it_was_told_is_named_as_one_says_it(on: date, reason: str) -> None:
    assert _told_again(FERRY, on=on)[1] == reason


def test_the_latest_telling_counts_and_what_any_told_piece_said_is_known() -> None:
    second = version(FERRY, f"{PROSE} {FARE}")
    echo = evidence(FERRY.title, f"{PROSE} The boats come from Norway.", source="echo")
    before = [told(FERRY, FRIDAY), told(second, DAY - timedelta(days=1)), told(echo, FRIDAY)]
    third = version(FERRY, f"{PROSE} The boats are from Norway. {FARE}")
    found = chosen_set([third], told=before)["items"][0]
    assert (found["told_on"], found["new_fact"], found["reason"]) == ("2026-11-29", "", "told Sunday")


def test_what_another_source_told_of_the_story_is_no_news() -> None:
    port, echo = evidence(PORT, PORT_TEXT), evidence(PORT_ECHO, f"{PORT_ECHO_TEXT} The fee is £900.", source="echo")
    pads = [evidence(title, f"{title}.", source=title[:3]) for title in ("Bees return home", "Opera cut", "Chess cup")]
    new = version(port, f"{PORT_TEXT} To come in costs £900 a ship.", title="What it costs to come in")
    before = [told(item) for item in (port, echo, *pads)]
    assert not chosen_set([new], told=before)["items"][0]["chosen"]


def test_what_an_earlier_version_told_is_no_news_in_a_source_that_is_like_the_later_one() -> None:
    first = evidence("At last", f"The boats come. {FARE}", url="")
    second = version(first, PROSE, title=FERRY.title)
    new = evidence(FERRY.title, f"{PROSE} The fare will be £4.20.", source="echo")
    assert not chosen_set([new], told=[told(first), told(second)])["items"][0]["chosen"]


def test_a_part_of_a_told_number_is_another_number() -> None:
    item = version(FERRY, PROSE, title="Hourly ferries from March 1")
    assert _told_again(item, was=version(FERRY, PROSE, title="Hourly ferries from March 12"))[0]


def test_a_story_that_was_never_told_is_told_beside_one_that_was() -> None:
    found = chosen_set([evidence("Bees return", source="b"), FERRY], told=[told(FERRY)])["items"]
    assert {item["title"]: item["chosen"] for item in found} == {"Bees return": True, FERRY.title: False}
    assert "told_on" not in next(item for item in found if item["chosen"])


def test_another_story_of_the_same_series_is_not_taken_for_a_told_one() -> None:
    was = evidence("Lodestone 9.2 fixes an index bug", "Lodestone is a database.")
    found = chosen_set([evidence("Lodestone 9.3 fixes an index bug", "Lodestone is.")], told=[told(was)])["items"][0]
    assert (found["chosen"], found["reason"]) == (True, "new")


def test_one_source_more_with_something_new_brings_the_whole_story_back() -> None:
    items = [evidence(PORT, PORT_TEXT), evidence(PORT_ECHO, f"{PORT_ECHO_TEXT} The fee is £900.", source="echo")]
    pads = [evidence(title, f"{title}.", source=title[:3]) for title in ("Bees return home", "Opera cut", "Chess cup")]
    draft, found = edition([*items, *pads], told=[told(items[0])])
    story = next(story for story in draft["stories"] if story["told_on"])
    assert len(story["evidence"]) == 2
    assert story["sources"][0]["name"] == "Echo"
    audit.check(draft, found)


def test_a_told_story_takes_nobody_s_place() -> None:
    old = [evidence(f"Port {letter * 4}", f"About {letter}.", source="flood") for letter in "abcdefgh"]
    fresh = [evidence(f"Quay {letter * 4}", f"About {letter}.", source="flood") for letter in "uvwxyz"]
    fields: dict[str, Any] = {"interests": {"shipping": ["port", "quay"]}, "long": 2, "short": 2}
    alone = [item for item in chosen_set(fresh, **fields)["items"] if item["chosen"]]
    among = chosen_set([*old, *fresh], told=[told(item) for item in old], **fields)["items"]
    assert {item["event_key"] for item in among if item["chosen"]} == {item["event_key"] for item in alone}
    assert {item["reason"] for item in among if item["title"].startswith("Port")} == {"told Friday"}
    assert all(item["rank"] for item in among)


def test_c43_an_item_dated_13_days_ahead_is_shown_once_and_sorts_by_its_arrival() -> None:
    ahead = evidence("From the future", published=AT + timedelta(days=13), seen=AT - timedelta(hours=2))
    later = evidence("Just seen", "Bees.", published=None, seen=AT - timedelta(minutes=1), source="b")
    first = [item["title"] for item in chosen_set([ahead, later])["items"]]
    assert first == ["Just seen", "From the future"]
    again = chosen_set([version(ahead, PROSE.replace("ferry", "Ferry"))], told=[told(ahead, on=DAY)])["items"][0]
    assert not again["chosen"]
    assert again["rank"] == 1


def test_the_order_of_what_was_told_and_of_the_evidence_makes_no_difference() -> None:
    items = [evidence(PORT, PORT_TEXT), evidence(PORT_ECHO, PORT_ECHO_TEXT, source="echo"), version(FERRY, FARE)]
    before = [told(item, FRIDAY - timedelta(days=n)) for item in (*items, FERRY) for n in range(2)]
    first = canonical(chosen_set(items, told=before))
    for seed in range(5):
        random.Random(seed).shuffle(items)
        random.Random(seed).shuffle(before)
        assert canonical(chosen_set(items, told=before)) == first


def test_a_story_told_again_begins_with_what_is_new_and_is_short() -> None:
    draft, found = edition([version(FERRY, f"{PROSE} {FARE}")], told=[told(FERRY)])
    story = draft["stories"][0]
    assert (story["told_on"], story["new_fact"]) == ("2026-11-27", FARE)
    assert story["body"] == [PROSE.partition(" Two crews")[0]]
    made = bundle.bundle(draft, found)
    for name in ("index.html", "mail.html", "mail.txt", "brief.md"):
        assert "Told you on Friday. New:" in " ".join(made[name].decode().split())
        assert made[name].decode().count(FARE) == 1
    audit.check(draft, found)


def test_a_headline_that_is_new_is_not_said_twice() -> None:
    draft, found = edition([version(FERRY, PROSE, title="Hourly ferries from 7 April")], told=[told(FERRY)])
    assert coverage.again(draft["stories"][0]) == "Told you on Friday. The headline is new."
    audit.check(draft, found)


@pytest.mark.parametrize(
    ("rule", "parts"),
    [
        ("told before", {"told_on": "2026-11-26"}),
        ("told before", {"again": "Told you on Thursday. New:"}),
        ("told before", {"told_on": "", "again": "", "new_fact": ""}),
        ("told before", {"new_fact": "Two crews have been hired, and a third is in training until the spring."}),
        ("verbatim", {"new_fact": "The fare rises to 4.20"}),
        ("number", {"new_fact": "The fare rises to 4.90 in summer."}),
        ("length", {"body": [PROSE]}),
    ],
)
def test_what_is_said_to_be_new_is_held_against_the_evidence(rule: str, parts: dict[str, object]) -> None:
    draft, found = edition([version(FERRY, f"{PROSE} {FARE}")], told=[told(FERRY)])
    draft["stories"][0].update(parts)
    with pytest.raises(CopyRefused, match=rule):
        audit.check(draft, found)


def test_what_was_left_out_is_listed_with_its_reason_and_counted_after_the_thirtieth() -> None:
    items = [evidence(f"Story {chr(97 + n) * 4} *{n}*", f"{n}", source=f"s{n}") for n in range(36)]
    old = [evidence(f"Old {n}", published=AT - timedelta(days=9), baseline=True, source="new") for n in range(3)]
    draft, found = edition([*items, *old], told=[told(item) for item in items[:14]], long=1, short=1)
    assert coverage.left_out(draft) == (
        "Left out: 20 over the limit, 14 told before, 3 old (there when their source was first read)."
    )
    assert (len(draft["left_out_items"]), draft["left_out_more"]) == (30, 4)
    assert {one["reason"] for one in draft["left_out_items"]} == {"told Friday", select.OVER}
    made = bundle.bundle(draft, found)
    page, text = made["index.html"].decode(), made["brief.md"].decode()
    for one in draft["left_out_items"]:
        assert f'<li><a href="{one["url"]}" rel="noopener noreferrer">{one["title"]}</a> · {one["source"]} · ' in page
        assert f"](<{one['url']}>) · {one['source']} · {one['reason']}" in text
    assert page.count("<li>and 4 more</li>") == text.count("- and 4 more") == 1
    draft["left_out_items"][0]["url"] = "https://other.example/"
    with pytest.raises(CopyRefused, match=r"count \(left out list\)"):
        audit.check(draft, found)


@settings(max_examples=40, deadline=None)
@given(
    st.lists(
        st.sampled_from([*PROSE.split(), FARE, "Anna", "\n\n", '"', "“", "1,000", "…", "港が開いた。"]), max_size=60
    )
)
def test_whatever_a_new_version_says_its_edition_passes_the_audit(pieces: list[str]) -> None:
    draft, found = edition([version(FERRY, " ".join(pieces))], told=[told(FERRY)])
    audit.check(draft, found)
    assert _told_again(version(FERRY, " ".join(pieces)), was=version(FERRY, " ".join(pieces)))[0] is False
