"""Evidence is admitted by identity and content, and is in one set of an owner only, for ever."""

from __future__ import annotations

import psycopg
import pytest

from matins.ledger import evidence, obligation, plan, source
from matins.rules import keys
from matins.rules.canonical import sha256
from matins.rules.errors import NoSuchRow
from matins.rules.evidence import Evidence
from tests.ledger.factory import DATE, URL, Factory, item
from tests.ledger.test_ingest import KEY, read

TODAY = f"ada/morning/{DATE}"


def _morning(make: Factory, owner: str = "ada", *, day: str = "2026-08-17") -> str:
    """Today's morning of `owner`, claimed."""
    make.clock.set(f"{day}T04:05+00:00")
    plan.plan(make.conn)
    return f"{owner}/morning/{day}"


def _subscribed(make: Factory, *owners: str) -> None:
    make.clock.set("2026-08-16T20:00+00:00")
    for owner in owners:
        make.owner(owner)
        source.add(make.conn, owner, url=URL, name="gazette")


def _freeze(make: Factory, key: str, found: list[Evidence], content: bytes = b"{}") -> None:
    claim = make.claim(keys.obligation_work(key))
    evidence.freeze(
        make.conn, key, claim, owner=keys.parse(key).owner, content_hash=sha256(content), content=content, coverage={},
        items=[(one.event_key, one.evidence_hash, True) for one in found],
    )  # fmt: skip


def _titles(found: list[Evidence]) -> set[tuple[str, str]]:
    return {(one.title, one.text) for one in found}


def test_what_is_in_a_set_of_its_owner_is_never_fresh_again(factory: Factory) -> None:
    _subscribed(factory, "ada")
    read(factory, item("a"), item("b"))
    key = _morning(factory)
    found = evidence.fresh(factory.conn, key)
    assert len(found) == 2
    _freeze(factory, key, found)
    assert evidence.fresh(factory.conn, key) == []
    factory.clock.forward(3600)
    read(factory, item("a"), item("b"), item("c"))
    tomorrow = _morning(factory, day="2026-08-18")
    assert [one.title for one in evidence.fresh(factory.conn, tomorrow)] == ["c"]


def test_two_owners_share_a_source_and_each_is_told_once(factory: Factory) -> None:
    _subscribed(factory, "ada", "bob")
    read(factory, item("a"))
    _morning(factory)
    for owner in ("ada", "bob"):
        key = f"{owner}/morning/{DATE}"
        found = evidence.fresh(factory.conn, key)
        assert [one.title for one in found] == ["a"]
        _freeze(factory, key, found, content=owner.encode())
        assert evidence.fresh(factory.conn, key) == []
    count = factory.conn.execute("select count(*) from event").fetchone()
    assert count == (1,)


def test_a_known_identity_with_another_text_is_a_new_version_and_fresh_again(factory: Factory) -> None:
    _subscribed(factory, "ada")
    read(factory, item("a", "Old."))
    key = _morning(factory)
    _freeze(factory, key, evidence.fresh(factory.conn, key))
    assert read(factory, item("a", "New.")) == "new"
    tomorrow = _morning(factory, day="2026-08-18")
    found = evidence.fresh(factory.conn, tomorrow)
    assert _titles(found) == {("a", "New.")}
    assert not found[0].baseline
    versions = factory.conn.execute("select body from evidence order by admitted_at").fetchall()
    assert versions == [("Old.",), ("New.",)]


def test_a_text_that_comes_back_after_another_one_was_told_before_and_is_not_told_again(factory: Factory) -> None:
    _subscribed(factory, "ada")
    read(factory, item("a", "Old."))
    key = _morning(factory)
    _freeze(factory, key, evidence.fresh(factory.conn, key))
    read(factory, item("a", "New."))
    assert read(factory, item("a", "Old.")) == "none"
    assert evidence.fresh(factory.conn, _morning(factory, day="2026-08-18")) == []


def test_an_item_that_leaves_the_feed_and_comes_back_is_not_fresh_again(factory: Factory) -> None:
    _subscribed(factory, "ada")
    read(factory, item("a"), item("b"))
    key = _morning(factory)
    _freeze(factory, key, evidence.fresh(factory.conn, key))
    read(factory, item("b"))
    assert read(factory, item("a"), item("b")) == "none"
    assert evidence.fresh(factory.conn, _morning(factory, day="2026-08-18")) == []


def test_what_was_there_when_a_source_was_first_read_is_the_baseline_and_what_came_later_is_not(
    factory: Factory,
) -> None:
    _subscribed(factory, "ada")
    read(factory, item("a"))
    read(factory, item("a"), item("b"))
    found = {one.title: one.baseline for one in evidence.fresh(factory.conn, _morning(factory))}
    assert found == {"a": True, "b": False}


def test_what_a_source_had_before_an_owner_began_to_read_it_is_that_owners_baseline(factory: Factory) -> None:
    _subscribed(factory, "ada")
    read(factory, item("a"))
    read(factory, item("a"), item("b"))
    factory.owner("bob")
    source.add(factory.conn, "bob", url=URL, name="news")
    read(factory, item("a"), item("b"), item("c"))
    _morning(factory)
    ada = {one.title: one.baseline for one in evidence.fresh(factory.conn, TODAY)}
    bob = {one.title: one.baseline for one in evidence.fresh(factory.conn, f"bob/morning/{DATE}")}
    assert ada == {"a": True, "b": False, "c": False}
    assert bob == {"a": True, "b": True, "c": False}


def test_an_item_that_an_earlier_set_of_its_owner_has_cannot_be_frozen_again(factory: Factory) -> None:
    _subscribed(factory, "ada")
    read(factory, item("a"))
    key = _morning(factory)
    found = evidence.fresh(factory.conn, key)
    _freeze(factory, key, found)
    tomorrow = _morning(factory, day="2026-08-18")
    with pytest.raises(psycopg.errors.UniqueViolation), factory.conn.transaction():
        _freeze(factory, tomorrow, found)
    assert evidence.frozen_set(factory.conn, tomorrow) is None


def test_fresh_evidence_comes_newest_first_and_bounded(factory: Factory) -> None:
    _subscribed(factory, "ada")
    read(factory, item("a"))
    factory.clock.forward(60)
    read(factory, item("a"), item("b"))
    key = _morning(factory)
    assert [one.title for one in evidence.fresh(factory.conn, key)] == ["b", "a"]
    assert [one.title for one in evidence.fresh(factory.conn, key, limit=1)] == ["b"]


def test_a_morning_waits_for_the_sources_it_has_asked_for_and_no_longer_than_it_may(factory: Factory) -> None:
    _subscribed(factory, "ada")
    key = _morning(factory)
    assert obligation.next_move(factory.conn, key).name == "polls"
    assert source.ask(factory.conn, key) == [KEY]
    assert source.find_due(factory.conn) == [KEY]
    assert obligation.next_move(factory.conn, key).name == "polls"
    factory.clock.forward(61)
    assert obligation.next_move(factory.conn, key).name == "research"
    (look,) = source.looks(factory.conn, key)
    assert (look.reached, look.reason, look.items_read) == (False, "not answered in time", 0)


def test_a_morning_goes_on_as_soon_as_its_sources_are_read(factory: Factory) -> None:
    _subscribed(factory, "ada")
    key = _morning(factory)
    source.ask(factory.conn, key)
    read(factory, item("a"))
    assert source.ask(factory.conn, key) == []
    assert obligation.next_move(factory.conn, key).name == "research"
    (look,) = source.looks(factory.conn, key)
    assert (look.reached, look.reason, look.items_read) == (True, "", 1)


def test_sources_are_listed_by_name_with_how_their_last_read_went(factory: Factory) -> None:
    _subscribed(factory, "ada")
    source.add(factory.conn, "ada", url="https://other.example/feed", name="almanac")
    read(factory, item("a"))
    found = source.of_owner(factory.conn, "ada")
    assert [(one.name, one.outcome, one.items_read) for one in found] == [("almanac", None, 0), ("gazette", "new", 1)]


def test_a_name_that_is_taken_and_an_owner_who_does_not_exist_are_refused_by_the_table(factory: Factory) -> None:
    _subscribed(factory, "ada")
    with pytest.raises(psycopg.IntegrityError), factory.conn.transaction():
        source.add(factory.conn, "ada", url="https://other.example/feed", name="gazette")
    with pytest.raises(psycopg.IntegrityError), factory.conn.transaction():
        source.add(factory.conn, "nobody", url=URL, name="gazette")


def test_a_window_of_a_source_that_does_not_exist_is_refused_by_name(factory: Factory) -> None:
    with pytest.raises(NoSuchRow):
        source.window(factory.conn, "0" * 40)
