"""One claimed read of one window: what is declared is stored, and only then the cursor moves, once."""

from __future__ import annotations

from typing import Any

import pytest

from matins.ledger import admission, ingest, source, window, work
from matins.ledger.source import Window
from matins.rules import keys, limits
from matins.rules.errors import Closed, EvidenceMissing, LeaseLost, NotDue
from matins.rules.evidence import Cursor, ReadOutcome
from tests.ledger import wiki
from tests.ledger.factory import URL, Factory, Scene, failure, item, reading
from tests.ledger.tables import tables

KEY = keys.source(URL)


def _source(make: Factory) -> dict[str, Any]:
    found = make.conn.execute("select to_jsonb(source) from source where key = %s", (KEY,)).fetchone()
    assert found is not None
    return dict(found[0])


def _runs(make: Factory) -> list[tuple[int, str, str]]:
    return make.conn.execute("select token, status, reason from ingest_run order by claimed_at, token").fetchall()


def _window(at: Scene) -> Window:
    assert at.window is not None
    return at.window


def read(make: Factory, *items: Any, etag: str = '"1"') -> str:
    """The current window of the gazette, claimed, read to its end and settled. Returns `new` or `none`."""
    return wiki.read(make, KEY, *items, etag=etag)


def test_a_settled_read_moves_the_cursor_once_with_its_validators_and_opens_the_next_window(factory: Factory) -> None:
    at = factory.scene("ingest_run/claimed_admitted")
    assert (
        ingest.settle(factory.conn, at.claim, _window(at), reading(item("a"), item("b"), etag='"7"'), declared=2)
        == "new"
    )
    row = _source(factory)
    assert (row["cursor_version"], row["etag"], row["outcome"], row["items_read"]) == (2, '"7"', "new", 2)
    opened = source.window(factory.conn, KEY)
    assert (opened.work_key, opened.cursor) == (keys.ingest_work(KEY, 2), Cursor('"7"'))
    ingest.settle(factory.conn, at.claim, _window(at), reading(item("a"), item("b"), etag='"8"'), declared=2)
    assert _source(factory) == row


def test_a_source_that_is_reached_and_has_nothing_settles_as_none(factory: Factory) -> None:
    factory.scene("ingest_run/new")
    assert read(factory, item("a"), item("b")) == "none"
    assert read(factory) == "none"
    row = _source(factory)
    assert (row["outcome"], row["cursor_version"], row["failing_since"]) == ("none", 4, None)


def test_a_source_that_cannot_be_reached_keeps_its_cursor_and_is_tried_again(factory: Factory) -> None:
    factory.scene("ingest_run/new")
    before = source.window(factory.conn, KEY)
    claim = factory.claim(before.work_key)
    unread = ingest.fail(factory.conn, claim, before, failure())
    assert (unread.spent, unread.wait) == (False, limits.SPACING[0])
    row = _source(factory)
    assert (row["outcome"], row["reason"], row["cursor_version"]) == ("unreachable", "connection refused", 2)
    assert row["failing_since"] == row["tried_at"]
    assert source.window(factory.conn, KEY) == before
    with pytest.raises(NotDue):
        factory.claim(before.work_key)
    factory.clock.forward(limits.SPACING[0] + 1)
    assert source.find_due(factory.conn) == [KEY]
    assert read(factory) == "none"
    assert _source(factory)["failing_since"] is None


def test_the_wait_that_a_server_asks_for_is_kept_up_to_an_hour(factory: Factory) -> None:
    at = factory.scene("ingest_run/claimed")
    assert ingest.fail(factory.conn, at.claim, _window(at), failure(retry_after=90_000)).wait == 3600


def test_fewer_items_stored_than_were_declared_do_not_settle(factory: Factory) -> None:
    at = factory.scene("ingest_run/claimed_admitted")
    before = tables(factory.conn)
    with pytest.raises(EvidenceMissing, match="2 of 3 items are stored"):
        ingest.settle(factory.conn, at.claim, _window(at), reading(item("a"), item("b"), item("c")), declared=3)
    assert tables(factory.conn) == before
    assert admission.admit(factory.conn, at.claim, _window(at), [item("c")], baseline=True).items == 3
    ingest.settle(factory.conn, at.claim, _window(at), reading(item("a"), item("b"), item("c")), declared=3)


def test_an_identity_that_a_page_shows_twice_counts_once_by_its_first_item(factory: Factory) -> None:
    at = factory.scene("ingest_run/claimed")
    page = [item("a", "First."), item("a", "Second."), item("b")]
    assert admission.admit(factory.conn, at.claim, _window(at), page, baseline=True).items == 2
    assert ingest.settle(factory.conn, at.claim, _window(at), reading(*page), declared=2) == "new"
    found = factory.conn.execute("select body from evidence order by title").fetchall()
    assert found == [("First.",), ("Text.",)]


def test_a_spent_window_opens_the_next_one_and_stays_visible(factory: Factory) -> None:
    at = factory.scene("ingest_run/claimed_spent")
    unread = ingest.fail(factory.conn, at.claim, _window(at), failure())
    assert (unread.spent, unread.wait) == (True, None)
    row = _source(factory)
    assert (row["cursor_version"], row["window_key"]) == (2, keys.ingest_work(KEY, 2))
    assert (row["outcome"], row["etag"]) == ("unreachable", "")
    with pytest.raises(Closed):
        factory.claim(at.work_key)
    factory.clock.forward(limits.POLL_EVERY + 1)
    assert read(factory, item("a")) == "new"
    assert _runs(factory)[0] == (1, "unreachable", "connection refused")
    found = factory.conn.execute("select facts from audit where event = 'ingest_run.unreachable'").fetchone()
    assert found is not None
    assert found[0]["window_spent"] is True


def test_a_window_whose_last_reader_died_is_ended_by_the_sweep_and_the_next_one_opens(factory: Factory) -> None:
    at = factory.scene("ingest_run/claimed_spent_dead")
    assert window.find_spent(factory.conn) == [KEY]
    assert window.expire(factory.conn, _window(at))
    assert _runs(factory) == [(1, "failed", "its readers died")]
    assert _source(factory)["window_key"] == keys.ingest_work(KEY, 2)
    assert window.find_spent(factory.conn) == []


def test_a_run_that_outlived_its_lease_is_marked_failed_when_the_next_one_is_made(factory: Factory) -> None:
    at = factory.scene("ingest_run/claimed_dead")
    taken = factory.claim(at.work_key, holder="worker-2")
    assert _runs(factory) == [(1, "failed", "its reader died"), (2, "claimed", "")]
    with pytest.raises(LeaseLost):
        admission.admit(factory.conn, at.claim, _window(at), [item("a")], baseline=True)
    with pytest.raises(LeaseLost):
        ingest.settle(factory.conn, at.claim, _window(at), reading())
    assert ingest.settle(factory.conn, taken, _window(at), reading()) == "none"


def test_what_a_dead_run_had_admitted_is_not_fresh_again_for_the_next_run(factory: Factory) -> None:
    at = factory.scene("ingest_run/claimed_admitted")
    factory.die()
    taken = factory.claim(at.work_key, holder="worker-2")
    admission.admit(factory.conn, taken, _window(at), [item("a"), item("b")], baseline=True)
    assert ingest.settle(factory.conn, taken, _window(at), reading(item("a"), item("b")), declared=2) == "none"
    found = factory.conn.execute("select count(*) from evidence").fetchone()
    assert found == (2,)


def test_a_reader_told_to_stop_gives_its_attempt_back_and_the_window_is_due_at_once(factory: Factory) -> None:
    at = factory.scene("ingest_run/claimed")
    work.release(factory.conn, at.work_key, token=at.claim.token)
    assert _runs(factory) == [(1, "failed", "its worker was told to stop")]
    assert source.find_due(factory.conn) == [KEY]
    assert factory.claim(at.work_key).attempts == 1


def test_a_source_that_has_never_been_read_to_its_end_is_read_for_the_first_time(factory: Factory) -> None:
    at = factory.scene("ingest_run/unreachable")
    assert admission.is_first_read(factory.conn, KEY)
    factory.clock.forward(1000)
    claim = factory.claim(at.work_key)
    ingest.settle(factory.conn, claim, _window(at), reading())
    assert not admission.is_first_read(factory.conn, KEY)


def test_an_invalid_answer_is_neither_unreachable_nor_none(factory: Factory) -> None:
    at = factory.scene("ingest_run/claimed")
    ingest.fail(factory.conn, at.claim, _window(at), failure(ReadOutcome.INVALID))
    assert _source(factory)["outcome"] == "invalid"
    assert _source(factory)["settled_at"] is None


def test_a_source_is_due_again_after_a_while_and_while_it_is_read_it_is_not(factory: Factory) -> None:
    factory.scene("ingest_run/new")
    assert source.find_due(factory.conn) == []
    factory.clock.forward(limits.POLL_EVERY + 1)
    assert source.find_due(factory.conn) == [KEY]
    factory.claim(source.window(factory.conn, KEY).work_key)
    assert source.find_due(factory.conn) == []


def test_a_source_that_nobody_reads_any_more_is_not_due(factory: Factory) -> None:
    factory.scene("ingest_run/unclaimed")
    factory.conn.execute("delete from subscription")
    assert source.find_due(factory.conn) == []
