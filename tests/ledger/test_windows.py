"""Windows that are not read to their end: how rarely the next one is read, whose fault it was, and who may end one."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from matins.ledger import admission, ingest, source, window
from matins.ledger.source import Subscribed, Window
from matins.rules import keys, limits
from matins.rules.errors import NotDue, Refused
from matins.rules.evidence import Reading, ReadOutcome
from tests.ledger.factory import URL, Factory, failure, item, reading
from tests.ledger.test_ingest import KEY, read
from tests.ledger.wiki import subscribed

TARGET = "https://gazette.example/new-feed.xml"
HOUR = 3600.0


def _fail(make: Factory, found: Reading | None = None, *, source_key: str = KEY, last: bool = False) -> ingest.Unread:
    """The source's window claimed, and not read; `last`: on its last attempt."""
    at = source.window(make.conn, source_key)
    make.conn.execute("update work set retry_at = null where key = %s", (at.work_key,))
    if last:
        make.on_last_attempt(at.work_key)
    return ingest.fail(make.conn, make.claim(at.work_key), at, found or failure())


def _told(make: Factory) -> Subscribed:
    return next(one for one in source.of_owner(make.conn, "ada") if one.key == KEY)


def _due_in(make: Factory) -> float:
    return (_told(make).due_at - make.clock.now()).total_seconds()


def _unmodified(make: Factory, **changes: Any) -> str:
    at = source.window(make.conn, KEY)
    found = replace(reading(), unmodified=True, **changes)
    return ingest.settle(make.conn, make.claim(at.work_key), at, found)


def test_each_window_spent_after_another_doubles_the_wait_up_to_a_day_and_it_never_ends(factory: Factory) -> None:
    subscribed(factory, "ada")
    waits = []
    for _ in range(30):
        assert _fail(factory, last=True).spent
        waits.append(round(_due_in(factory) / HOUR, 1))
    assert waits[:8] == [0.5, 1, 2, 4, 8, 16, 24, 24]
    assert set(waits[8:]) == {24}
    assert _told(factory).failures == 30
    factory.clock.forward(24 * HOUR)
    assert source.find_due(factory.conn) == [KEY]
    read(factory, item("a"))
    assert (_told(factory).failures, round(_due_in(factory) / HOUR, 1)) == (0, 0.5)


def test_a_source_that_says_it_is_gone_is_asked_again_in_a_day_at_once(factory: Factory) -> None:
    subscribed(factory, "ada")
    assert _fail(factory, failure(ReadOutcome.GONE)).spent
    assert round(_due_in(factory) / HOUR, 1) == 24
    (unread,) = window.unread(factory.conn, KEY)
    assert (unread.how, unread.attempts) == ("gone", 1)


def _several(make: Factory, *, count: int, reached: int) -> list[str]:
    """Sources of which the first were read just now, and of the rest all but one could not be. Returns all keys."""
    make.owner("ada")
    found = []
    for number in range(count):
        url = f"https://{number}.example/feed"
        source.add(make.conn, "ada", url=url, name=f"source {number}")
        found.append(keys.source(url))
        at = source.window(make.conn, found[-1])
        if number < reached:
            ingest.settle(make.conn, make.claim(at.work_key), at, reading())
        elif number < count - 1:
            _fail(make, source_key=found[-1])
    return found


def test_while_five_of_six_cannot_be_reached_it_is_our_network_and_no_attempt_is_charged(factory: Factory) -> None:
    last = _several(factory, count=6, reached=1)[-1]
    for _ in range(3):
        unread = _fail(factory, source_key=last, last=True)
        assert (unread.spent, unread.our_network) == (False, True)
        left = factory.conn.execute("select budget - attempts from work where key = %s", (unread.key,)).fetchone()
        assert left == (1,)
    assert window.unread(factory.conn, last) == []
    told = factory.conn.execute("select kind, reason, count from decision").fetchall()
    assert told == [("our_network", ingest.OUR_NETWORK, 1 + 3)], "the fifth was the fourth of five"


@pytest.mark.parametrize(("count", "reached"), [(2, 1), (2, 0), (4, 0), (6, 2)])
def test_a_few_sources_or_a_share_that_was_reached_say_nothing_about_our_network(
    factory: Factory, count: int, reached: int
) -> None:
    last = _several(factory, count=count, reached=reached)[-1]
    unread = _fail(factory, source_key=last, last=True)
    assert (unread.spent, unread.our_network) == (True, False)


def test_what_failed_long_ago_or_was_no_answer_of_the_network_does_not_count(factory: Factory) -> None:
    last = _several(factory, count=6, reached=0)[-1]
    assert not _fail(factory, failure(ReadOutcome.INVALID), source_key=last).our_network
    factory.clock.forward(limits.NETWORK_WINDOW + 1)
    assert not _fail(factory, source_key=last).our_network


def test_a_permanent_redirect_is_believed_once_it_has_held_for_a_week_and_not_before(factory: Factory) -> None:
    subscribed(factory, "ada")
    read(factory, item("a"))
    for day in range(8):
        assert source.window(factory.conn, KEY).url == URL, f"day {day}"
        _unmodified(factory, moved_to=TARGET)
        factory.clock.forward(24 * HOUR)
    assert source.window(factory.conn, KEY).url == TARGET
    assert _told(factory).url == URL


def test_a_redirect_is_believed_by_a_read_with_items_as_well_and_the_audit_says_so(factory: Factory) -> None:
    subscribed(factory, "ada")
    _moved(factory)
    told = factory.conn.execute("select facts ->> 'read_at_from_now_on' from audit order by id desc").fetchone()
    assert told == (TARGET,)


def _moved(make: Factory) -> None:
    """The source is read at the target of its redirect from now on."""
    for _ in range(2):
        at = source.window(make.conn, KEY)
        claim = make.claim(at.work_key)
        admitted = admission.admit(make.conn, claim, at, [item("a")], baseline=True)
        ingest.settle(make.conn, claim, at, replace(reading(item("a")), moved_to=TARGET), declared=admitted.items)
        make.clock.forward(limits.REDIRECT_HELD + 1)
    assert source.window(make.conn, KEY).url == TARGET


@pytest.mark.parametrize("between", ["", "https://elsewhere.example/feed"])
def test_a_redirect_that_was_not_there_meanwhile_or_led_elsewhere_begins_to_hold_anew(
    factory: Factory, between: str
) -> None:
    subscribed(factory, "ada")
    read(factory, item("a"))
    for target in (TARGET, between, TARGET):
        _unmodified(factory, moved_to=target)
        factory.clock.forward(4 * 24 * HOUR)
    _unmodified(factory, moved_to=TARGET)
    assert source.window(factory.conn, KEY).url == URL


def test_a_target_that_fails_is_given_up_and_the_source_is_read_at_its_own_address_again(factory: Factory) -> None:
    subscribed(factory, "ada")
    _moved(factory)
    _fail(factory)
    assert source.window(factory.conn, KEY).url == TARGET, "one failed try is not the end"
    _fail(factory, last=True)
    assert source.window(factory.conn, KEY).url == URL
    assert (_told(factory).moved_to, _told(factory).fetch_url) == (None, None)


def test_windows_that_were_not_read_stay_listed_whatever_is_read_later(factory: Factory) -> None:
    subscribed(factory, "ada")
    _fail(factory, last=True)
    factory.on_last_attempt(source.window(factory.conn, KEY).work_key)
    factory.claim(source.window(factory.conn, KEY).work_key)
    factory.die()
    window.expire(factory.conn, source.window(factory.conn, KEY))
    window.skip(factory.conn, source.window(factory.conn, KEY), reason="the feed is broken")
    for _ in range(3):
        read(factory, item("a"))
    found = [(one.cursor_version, one.how, one.reason, one.attempts) for one in window.unread(factory.conn, KEY)]
    assert found == [
        (3, "skipped", "the feed is broken", 0),
        (2, "died", window.DIED, limits.BUDGET),
        (1, "spent", "connection refused", limits.BUDGET),
    ]


def test_a_window_that_is_skipped_opens_the_next_one_for_the_next_poll_and_keeps_the_cursor(factory: Factory) -> None:
    subscribed(factory, "ada")
    read(factory, item("a"))
    before = source.window(factory.conn, KEY)
    window.skip(factory.conn, before, reason="r" * 300)
    now = source.window(factory.conn, KEY)
    assert (now.cursor_version, now.cursor) == (before.cursor_version + 1, before.cursor)
    assert round(_due_in(factory) / HOUR, 1) == 0.5
    assert (_told(factory).outcome, _told(factory).failing_since) == ("new", None)
    assert window.unread(factory.conn, KEY)[0].reason == "r" * 200


@pytest.mark.parametrize("act", [lambda make, at: window.skip(make.conn, at, reason="no"),
                                 lambda make, at: window.renew(make.conn, at, budget=True)])  # fmt: skip
def test_nobody_ends_or_renews_a_window_that_is_being_read(factory: Factory, act: Any) -> None:
    at = factory.scene("ingest_run/claimed").window
    with pytest.raises(Refused, match="being read right now"):
        act(factory, at)


@pytest.mark.parametrize(("budget", "attempts"), [(True, 0), (False, 3)])
def test_a_window_that_is_renewed_is_due_now_and_its_attempts_come_back_only_if_asked_for(
    factory: Factory, budget: bool, attempts: int
) -> None:
    subscribed(factory, "ada")
    for _ in range(3):
        _fail(factory)
    at = source.window(factory.conn, KEY)
    with pytest.raises(NotDue):
        factory.claim(at.work_key)
    window.renew(factory.conn, at, budget=budget)
    assert source.find_due(factory.conn) == [KEY]
    assert factory.claim(at.work_key).attempts == attempts + 1


def test_a_window_whose_last_reader_died_is_for_the_sweep_to_end_and_not_to_renew(factory: Factory) -> None:
    at = factory.scene("ingest_run/claimed_spent_dead").window
    assert isinstance(at, Window)
    with pytest.raises(Refused):
        window.renew(factory.conn, at, budget=True)


def test_reads_that_found_the_same_document_are_one_run_and_move_no_cursor(factory: Factory) -> None:
    subscribed(factory, "ada")
    read(factory, item("a"))
    before = source.window(factory.conn, KEY)
    for _ in range(4):
        assert _unmodified(factory) == "none"
    at = source.window(factory.conn, KEY)
    assert (at.work_key, at.cursor_version) == (before.work_key, before.cursor_version)
    assert [(one.status, one.reads) for one in window.runs(factory.conn, KEY)] == [("none", 4), ("new", 1)]
    told = window.runs(factory.conn, KEY)[0]
    assert told.ended_at is not None
    assert told.since < told.ended_at
    _fail(factory)
    factory.clock.forward(HOUR)
    _unmodified(factory)
    found = [(one.status, one.reads) for one in window.runs(factory.conn, KEY)]
    assert sorted(found) == [("new", 1), ("none", 5), ("unreachable", 1)]
    audit = factory.conn.execute("select count(*) from audit where subject = %s", (at.work_key,)).fetchone()
    assert audit == (6,), "one row per read, none for its claim"


def test_an_unmodified_document_gives_all_attempts_back(factory: Factory) -> None:
    subscribed(factory, "ada")
    for _ in range(limits.BUDGET - 1):
        _fail(factory)
    factory.conn.execute("update work set retry_at = null")
    assert _unmodified(factory) == "none"
    assert factory.claim(source.window(factory.conn, KEY).work_key).attempts == 1


def test_a_source_that_its_owner_reads_no_more_is_not_polled_and_what_was_read_stays(factory: Factory) -> None:
    subscribed(factory, "ada")
    read(factory, item("a"))
    assert source.remove(factory.conn, "ada", KEY)
    assert not source.remove(factory.conn, "ada", KEY)
    factory.clock.forward(24 * HOUR)
    assert source.find_due(factory.conn) == []
    assert source.of_owner(factory.conn, "ada") == []
    assert factory.conn.execute("select count(*) from evidence").fetchone() == (1,)
    assert source.add(factory.conn, "ada", url=URL, name="gazette")
    assert source.find_due(factory.conn) == [KEY]
