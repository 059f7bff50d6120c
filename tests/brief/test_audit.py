"""The copy held against its evidence: what a tampered draft is refused for, and that an honest one never is."""

from __future__ import annotations

import copy
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from matins.brief import audit
from matins.rules.errors import CopyRefused
from tests.brief.making import AT, PROSE, edition, evidence, look

QUOTED = (
    'The crane lifts 40 tonnes at once. "We had three weeks for it," said the harbour master. It cost £2.3 million.'
)
PIECES = [*QUOTED.split(), '"', "12", "1,000", "…", "\n\n", "“", "”", "e.g.", "£"]


def _draft() -> tuple[dict[str, Any], dict[str, Any]]:
    items = [
        evidence("Hourly ferries from 1 March", f"{PROSE}\n\n{QUOTED}"),
        evidence("A crane", QUOTED, source="echo"),
    ]
    draft, found = edition(items, [look("gazette"), look("lwn", reason="503")], interests={"shipping": ["ferries"]})
    return copy.deepcopy(draft), copy.deepcopy(found)


def test_an_honest_edition_passes_and_what_was_checked_is_counted() -> None:
    findings = audit.check(*_draft())
    assert findings.links == 2
    assert findings.numbers >= 4
    assert findings.quotations == 1
    assert findings.line.startswith("2 links, ")
    assert findings.line.endswith(" 1 quotation: all in the sources")


def _story(draft: dict[str, Any], **parts: Any) -> None:
    draft["stories"][0].update(parts)


def _link(url: str) -> Callable[[dict[str, Any]], None]:
    return lambda draft: draft["stories"][0]["sources"][0].update(url=url)


def _body(text: str) -> Callable[[dict[str, Any]], None]:
    return lambda draft: draft["stories"][1].update(body=[text])


@pytest.mark.parametrize(
    ("rule", "tamper"),
    [
        ("link", _link("https://news.example/accept/901")),
        ("link", _link("https://gazette.example/another-path")),
        ("link", _link("https://xn--gazette-9za.example/")),
        ("link", _link("https://go.example/?to=https://gazette.example/")),
        ("link", _body("The crane is at https://crane.example/ now.")),
        ("number", _body("The crane lifts 50 tonnes at once.")),
        ("number", _body("The crane lifts 40 ships at once.")),
        ("number", _body("It cost $2.3 million.")),
        ("quotation", _body('"We had two weeks for it," said the harbour master.')),
        ("verbatim", _body("The crane can lift 40 tonnes at once.")),
        ("length", _body(" ".join([QUOTED] * 9))),
        ("length", lambda draft: draft.update(opening="word " * 61)),
        ("inner word", lambda draft: draft.update(opening="The obligation is delivered.")),
        ("inner word", lambda draft: draft["coverage"].update(line="all leases observed")),
        ("inner word", lambda draft: _story(draft, why="because of the fallback")),
        ("count", lambda draft: draft["coverage"].update(reached=2)),
        ("count", lambda draft: draft.update(left_out=[{"reason": "over the limit", "count": 7}])),
        ("count", lambda draft: draft.update(opening="From 99 new items.")),
        ("date", lambda draft: draft.update(date="2026-12-01")),
        ("date", lambda draft: draft.update(key="kim/morning/2026-11-30")),
        ("story", lambda draft: _story(draft, evidence=[])),
        ("story", lambda draft: draft["stories"][0]["evidence"][0].update(evidence_hash="0" * 64)),
        ("story", lambda draft: draft["stories"][0]["sources"][0].update(name="The Times")),
    ],
)
def test_copy_that_its_evidence_does_not_hold_is_refused_by_name(
    rule: str, tamper: Callable[[dict[str, Any]], None]
) -> None:
    draft, found = _draft()
    tamper(draft)
    with pytest.raises(CopyRefused, match=rule) as refused:
        audit.check(draft, found)
    assert "crane" not in refused.value.message


def test_a_number_of_another_story_does_not_count() -> None:
    draft, found = _draft()
    draft["stories"][0]["body"], draft["stories"][1]["body"] = draft["stories"][1]["body"], draft["stories"][0]["body"]
    with pytest.raises(CopyRefused, match="number"):
        audit.check(draft, found)


def test_evidence_of_another_day_is_refused() -> None:
    draft, found = _draft()
    found["at"] = (AT + timedelta(days=1)).isoformat()
    with pytest.raises(CopyRefused, match=r"date \(window\)"):
        audit.check(draft, found)


def test_evidence_that_was_not_chosen_holds_nothing() -> None:
    draft, found = _draft()
    found["items"][0]["chosen"] = False
    with pytest.raises(CopyRefused, match="story"):
        audit.check(draft, found)


def test_inner_words_in_titles_texts_names_and_topics_of_others_are_theirs_to_use() -> None:
    title = "The lease of the canary breeder was delivered to an orphan"
    text = f"{title} on Sunday. The token was accepted, and the obligation succeeded after all these years."
    items = [evidence(title, text, name="Token Economy"), evidence("Bees return", source="b", name="Cursor News")]
    looks = [look("gazette"), look("workflow weekly", reason="503")]
    audit.check(*edition(items, looks, interests={"lease law": ["lease"]}))


@settings(max_examples=100, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.text(min_size=1, max_size=260),
            st.text(max_size=800) | st.lists(st.sampled_from(PIECES), max_size=150).map(" ".join),
        ),
        max_size=4,
    )
)
def test_no_text_whatever_makes_the_extractive_edition_fail_its_own_audit(told: list[tuple[str, str]]) -> None:
    items = [
        evidence(title, text, source=f"s{number}", url=f"https://s{number}.example/{number}")
        for number, (title, text) in enumerate(told)
        if not any(0xD800 <= ord(letter) < 0xE000 for letter in title + text)
    ]
    audit.check(*edition(items, long=2, short=2))
