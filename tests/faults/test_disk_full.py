"""The disk under Postgres runs full while work is done, and is freed again."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg_pool import ConnectionPool, PoolTimeout

from matins.ledger import action, invariants, plan, profile, work
from matins.ledger.migrate import migrate
from matins.rules import calendar, keys, plans
from matins.rules import profile as profiles
from matins.rules.errors import Closed, Refused
from matins.rules.receipt import Receipt
from tests.crash.life import until
from tests.crash.scene import a_zone_by_day
from tests.faults.small_disk import SmallDisk, may_mount
from tests.ledger.clock import Clock
from tests.ledger.factory import Factory
from tests.ledger.scene import PUT

OWNERS = [f"owner-{number}" for number in range(30)]
LEASE = 1.0


class Hand:
    """Does the mornings' research over and over, as a worker's activity does, until each one is closed."""

    def __init__(self, pool: ConnectionPool[Any], mornings: list[str]) -> None:
        self._pool, self._left = pool, list(mornings)
        self.heard: list[str] = []
        """What the ledger said was completed."""
        self.lost = 0
        """How often Postgres failed it."""
        self.said = ""
        """What failed last."""
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    @contextmanager
    def at_work(self) -> Iterator[None]:
        """Work in a thread of its own during the block."""
        self._thread.start()
        try:
            yield
        finally:
            self._stop.set()
            self._thread.join(timeout=30)

    def is_done(self) -> bool:
        """Whether its thread has ended, with nothing left."""
        if self._thread.is_alive():
            return False
        assert self._left == []
        return True

    def _run(self) -> None:
        while self._left and not self._stop.wait(0.01):
            key = self._left.pop(0)
            try:
                with self._pool.connection(timeout=1) as conn:
                    self._research(conn, key)
                self.heard.append(key)
            except Closed:
                pass  # it was committed, and only the answer was lost
            except (Refused, psycopg.Error, PoolTimeout) as error:
                self.lost += not isinstance(error, Refused)
                self.said = self.said or repr(error)
                self._left.append(key)

    def _research(self, conn: psycopg.Connection[Any], key: str) -> None:
        make, work_key = Factory(conn, Clock(conn)), keys.obligation_work(key)
        claim = work.claim(conn, work_key, holder=f"hand/{self.lost}", lease=LEASE, limit=30)
        for stalled in action.stalled_in(conn, work_key):
            action.abandon(conn, stalled.key, token=stalled.token, quarantine=1)
        name = keys.action(key, plans.RESEARCH)
        started = action.start(
            conn, claim, key=name, subject=key, step=plans.RESEARCH, provider=PUT.provider, contents=[b"evidence"]
        )
        if started.receipt is None:
            action.record_completed(conn, claim, key=name, receipt=Receipt(PUT.provider, f"{key}@1"))
        make.complete(key, claim)


@pytest.fixture
def disk(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[SmallDisk]:
    """A tmpfs where that is allowed and asked for."""
    with SmallDisk(tmp_path / "disk", mounted=request.param == "disk" and may_mount(tmp_path)) as made:
        yield made


@pytest.mark.parametrize("disk", ["disk", "limit"], indirect=True)
def test_work_goes_on_by_itself_after_the_disk_was_full(disk: SmallDisk) -> None:
    dsn = disk.start()
    migrate(dsn)
    with psycopg.connect(dsn, autocommit=True) as conn:
        mornings = [_owe(conn, owner) for owner in OWNERS]
        conn.execute("select pg_switch_wal()")
    with ConnectionPool(dsn, min_size=2, max_size=12, open=True, kwargs={"autocommit": True}) as pool:
        hand = Hand(pool, mornings)
        with hand.at_work():
            until(lambda: len(hand.heard) >= 3, seconds=20, why=lambda: hand.said)
            disk.fill()
            until(disk.is_down, seconds=20, why="Postgres lived on a full disk")
            assert hand.lost
            heard = list(hand.heard)
            assert len(heard) < len(mornings)
            disk.free()
            assert disk.start() == dsn
            with psycopg.connect(dsn, autocommit=True) as conn:
                assert invariants.broken(conn) == {}
                assert set(heard) <= set(_succeeded(conn))
                until(lambda: _passes(conn) and hand.is_done(), seconds=30, why=lambda: hand.said)
                _assert_each_once(conn, mornings)


def _owe(conn: psycopg.Connection[Any], owner: str) -> str:
    zone = a_zone_by_day()
    asked = {"owner": owner, "zone": zone, "window": "00:00-23:59", "destinations": []}
    profile.apply(conn, profiles.parse(asked, where="this test"))
    assert plan.plan(conn, owner=owner).refused == {}
    return keys.obligation(owner, plans.MORNING, calendar.local_date(datetime.now(UTC), zone))


def _passes(conn: psycopg.Connection[Any]) -> bool:
    """Let the half minute pass at once that comes after the third claim of one piece of work."""
    conn.execute("update work set retry_at = ledger_now() where retry_at > ledger_now()")
    return True


def _succeeded(conn: psycopg.Connection[Any]) -> list[str]:
    found = conn.execute("select key from obligation where status = 'succeeded' and follows is null order by key")
    return [key for (key,) in found.fetchall()]


def _assert_each_once(conn: psycopg.Connection[Any], mornings: list[str]) -> None:
    """Every morning succeeded, with one continuation and one row of the audit for it, and no rule is broken."""
    assert invariants.broken(conn) == {}
    assert _succeeded(conn) == sorted(mornings)
    for event in ("obligation.succeeded", "continuation.pending"):
        noted = conn.execute("select facts ->> 'key', subject from audit where event = %s", (event,)).fetchall()
        assert len(noted) == len(mornings), event
    in_flight = conn.execute("select count(*) from action where status = 'in_flight'").fetchone()
    assert in_flight == (0,)
