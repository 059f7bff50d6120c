"""Open roles: which boards are read for whom, what a morning's look at each came to, and what was reported."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from matins.ledger import admission, ingest, openings, outgoing, source
from matins.ledger.openings import Followed
from matins.rules import keys
from matins.rules.canonical import sha256
from matins.rules.errors import OutputConflict
from matins.rules.evidence import Item, Reading, ReadOutcome, SourceKind
from matins.rules.openings import BoardLook
from tests.ledger.factory import DATE, EVENING, OPEN, Factory, failure, reading
from tests.ledger.tables import tables
from tests.ledger.wiki import Morning, morning, read, research

ACME = Followed("acme", SourceKind.LEVER, "https://api.lever.co/v0/postings/acme?limit=100&mode=json")
BETA = Followed("beta", SourceKind.ASHBY, "https://api.ashbyhq.com/posting-api/job-board/beta")
TODAY = f"ada/morning/{DATE}"


def _role(identity: str) -> Item:
    facts = {"place": "London", "places": "London; Leeds", "team": "Bridges"}
    return Item(identity, f"https://jobs.example/{identity}", f"Engineer {identity}", "Build.", facts=facts)


def _following(make: Factory, *boards: Followed) -> None:
    make.clock.set(EVENING)
    make.owner("ada")
    openings.follow(make.conn, "ada", boards)


def _followed(make: Factory) -> list[tuple[str, str, str]]:
    return [(one.name, one.kind, one.purpose) for one in source.of_owner(make.conn, "ada")]


def _settle(make: Factory, found: Reading) -> None:
    """The board's window claimed, and a read of it that has no items settled or failed."""
    at = source.window(make.conn, ACME.key)
    claim = make.claim(at.work_key)
    if found.reached and found.outcome is not ReadOutcome.PARTIAL:
        ingest.settle(make.conn, claim, at, found)
    else:
        ingest.fail(make.conn, claim, at, found)


def _look(make: Factory) -> BoardLook:
    (look,) = openings.looks(make.conn, TODAY)
    return look


def test_exactly_the_boards_that_a_profile_names_are_read_and_asked_again_nothing_changes(factory: Factory) -> None:
    _following(factory, ACME, BETA)
    assert _followed(factory) == [
        ("openings at acme", "lever", "openings"), ("openings at beta", "ashby", "openings")
    ]  # fmt: skip
    before = tables(factory.conn)
    openings.follow(factory.conn, "ada", [ACME, BETA])
    assert tables(factory.conn) == before
    openings.follow(factory.conn, "ada", [replace(BETA, name="acme"), replace(ACME, name="beta")])
    assert _followed(factory) == [
        ("openings at acme", "ashby", "openings"), ("openings at beta", "lever", "openings")
    ], "names may be swapped"  # fmt: skip
    openings.follow(factory.conn, "ada", [])
    assert _followed(factory) == []


def test_following_boards_touches_no_news_and_no_other_owner(factory: Factory) -> None:
    _following(factory, ACME)
    factory.owner("bob")
    openings.follow(factory.conn, "bob", [ACME, BETA])
    source.add(factory.conn, "ada", url="https://gazette.example/feed", name="gazette")
    openings.follow(factory.conn, "ada", [])
    assert _followed(factory) == [("gazette", "feed", "news")]
    assert len(source.of_owner(factory.conn, "bob")) == 2


def test_open_roles_are_no_news(factory: Factory) -> None:
    _following(factory, ACME)
    read(factory, ACME.key, _role("1"))
    _, pieces = research(factory)
    assert pieces == ()
    assert source.looks(factory.conn, TODAY) == []


def test_a_board_that_was_read_lists_what_it_had_with_place_and_team(factory: Factory) -> None:
    _following(factory, ACME)
    research(factory)
    read(factory, ACME.key, _role("1"), _role("2"))
    look = _look(factory)
    assert (look.name, look.reached, look.reason, look.since) == ("acme", True, "", None)
    assert [(one.title, one.place, one.team) for one in sorted(look.postings, key=lambda one: one.title)] == [
        ("Engineer 1", "London; Leeds", "Bridges"),
        ("Engineer 2", "London; Leeds", "Bridges"),
    ]


@pytest.mark.parametrize(
    ("found", "reason"),
    [
        (failure(), "connection refused"),
        (replace(failure(ReadOutcome.PARTIAL), reached=True, reason="page 2: timed out"), "page 2: timed out"),
        (None, "not answered in time"),
    ],
)
def test_a_board_that_was_not_read_whole_lists_nothing_that_could_be_relied_on(
    factory: Factory, found: Reading | None, reason: str
) -> None:
    _following(factory, ACME)
    read(factory, ACME.key, _role("1"))
    factory.clock.set(OPEN)
    research(factory)
    if found is not None:
        _settle(factory, found)
    look = _look(factory)
    assert (look.reached, look.reason, look.postings) == (False, reason, ())
    assert (look.since is None) == (found is None)


def test_what_a_board_lists_is_what_its_last_whole_read_listed_however_often_it_was_unchanged(factory: Factory) -> None:
    _following(factory, ACME)
    read(factory, ACME.key, _role("1"), _role("2"))
    read(factory, ACME.key, _role("2"), _role("3"))
    research(factory)
    for _ in range(3):
        _settle(factory, replace(reading(), unmodified=True))
    assert sorted(one.identity for one in _look(factory).postings) == ["2", "3"]
    read(factory, ACME.key)
    assert _look(factory).postings == ()


def test_a_partial_read_between_leaves_the_list_of_the_last_whole_one(factory: Factory) -> None:
    _following(factory, ACME)
    read(factory, ACME.key, _role("1"))
    at = source.window(factory.conn, ACME.key)
    claim = factory.claim(at.work_key)
    admission.admit(factory.conn, claim, at, [_role("2")], baseline=False)
    ingest.fail(factory.conn, claim, at, replace(failure(ReadOutcome.PARTIAL), reached=True))
    research(factory)
    factory.conn.execute("update work set retry_at = null where key = %s", (at.work_key,))
    _settle(factory, replace(reading(), unmodified=True))
    assert [one.identity for one in _look(factory).postings] == ["1"]


def _keep(make: Factory, at: Morning, content: bytes) -> Any:
    make.freeze(content)
    return openings.keep(make.conn, at.key, at.claim, content_hash=sha256(content), facts={"checked": ["acme"]})


def test_a_report_is_kept_once_and_the_next_one_is_compared_with_it(factory: Factory) -> None:
    _following(factory, ACME)
    at = morning(factory)
    assert openings.last_report(factory.conn, at.key) is None
    kept = _keep(factory, at, json.dumps({"new": 1}).encode())
    before = tables(factory.conn)
    assert _keep(factory, at, json.dumps({"new": 1}).encode()) == kept
    assert tables(factory.conn) == before
    with pytest.raises(OutputConflict):
        _keep(factory, at, b"another")
    assert openings.last_report(factory.conn, at.key) is None
    later = morning(factory, day="2026-08-18")
    assert openings.last_report(factory.conn, later.key) == b'{"new": 1}'


def test_a_message_that_was_queued_before_stays_as_it_was_frozen(factory: Factory) -> None:
    _following(factory, ACME)
    at = morning(factory)
    first = replace(factory.outgoing(f"{at.key}/openings"), kind="openings")
    queued = outgoing.queue(factory.conn, at.key, at.claim, messages=[first], send_at=None)
    assert queued == (keys.message_work(f"{at.key}/openings/email/inbox"),)
    before = tables(factory.conn)
    other = replace(first, mail=b"other", mail_hash=sha256(b"other"), mail_id="<other@x>")
    assert outgoing.queue(factory.conn, at.key, at.claim, messages=[other], send_at=None) == queued
    assert tables(factory.conn) == before
    assert outgoing.queue(factory.conn, at.key, at.claim, messages=[], send_at=None) == ()
