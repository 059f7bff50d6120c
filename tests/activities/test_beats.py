"""The beat of a process, on a real Postgres: who is renewed, who is heartbeated, and what cannot stop it."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
import pytest
from temporalio.testing import ActivityEnvironment

from activities.beats import Beats
from matins.ledger import work
from matins.ledger.work import Claim
from matins.local import process

EVERY, LEASE = 0.1, 30.0
Conn = psycopg.Connection[Any]


@pytest.fixture
def beats(dsn: str) -> Iterator[Beats]:
    """A beat that runs quickly, on leases that would live for long without it."""
    running = Beats(dsn, every=EVERY, lease=LEASE)
    running.start()
    yield running
    running.stop()


class Holder:
    """An activity that holds one claim: counts its heartbeats."""

    def __init__(self, beats: Beats, claim: Claim) -> None:
        self.claim, self.heartbeats = claim, 0
        self._beats, self._over, self._holds = beats, threading.Event(), threading.Event()
        environment = ActivityEnvironment()
        environment.on_heartbeat = lambda *_: self._count()
        self._thread = threading.Thread(target=lambda: environment.run(self._hold))

    def _count(self) -> None:
        self.heartbeats += 1

    def _hold(self) -> None:
        with self._beats.keep(self.claim):
            self._holds.set()
            self._over.wait(60)

    def __enter__(self) -> Holder:
        self._thread.start()
        assert self._holds.wait(10)
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()


def test_a_held_claim_is_renewed_and_its_activity_heartbeated_until_it_is_let_go(conn: Conn, beats: Beats) -> None:
    with Holder(beats, _claimed(conn, "one")) as one:
        _wait(lambda: _beaten(conn, "one") and one.heartbeats > 0)
        assert beats.held() == [("one", 1)]
    assert beats.held() == []
    beaten = one.heartbeats
    with Holder(beats, _claimed(conn, "two")) as two:
        _wait(lambda: two.heartbeats > 2)
    assert one.heartbeats <= beaten + 1


def test_one_locked_row_does_not_stop_the_others(conn: Conn, dsn: str, beats: Beats) -> None:
    claims = [_claimed(conn, name) for name in ("free", "locked")]
    with _locked(dsn, "locked"), Holder(beats, claims[0]) as free, Holder(beats, claims[1]) as locked:
        _wait(lambda: free.heartbeats > 3)
        assert _beaten(conn, "free")
        assert not _beaten(conn, "locked")
        assert locked.heartbeats == 0


def test_a_row_that_was_locked_is_renewed_when_it_is_free(conn: Conn, dsn: str, beats: Beats) -> None:
    with Holder(beats, _claimed(conn, "one")) as one:
        with _locked(dsn, "one"):
            beaten = one.heartbeats
            _wait(lambda: one.heartbeats <= beaten + 1)
        _wait(lambda: one.heartbeats > beaten + 1)


def test_a_lease_that_another_took_is_not_heartbeated(conn: Conn, beats: Beats) -> None:
    mine, lost = _claimed(conn, "mine"), _claimed(conn, "lost")
    conn.execute("update work set token = token + 1, holder = 'another' where key = 'lost'")
    with Holder(beats, mine) as here, Holder(beats, lost) as gone:
        _wait(lambda: here.heartbeats > 3)
        assert gone.heartbeats == 0
        assert not _beaten(conn, "lost")


def test_a_lease_that_died_is_not_brought_back(conn: Conn, beats: Beats) -> None:
    mine, dead = _claimed(conn, "mine"), _claimed(conn, "dead")
    conn.execute("update work set lease_expires_at = ledger_now() - interval '1 ms' where key = 'dead'")
    with Holder(beats, mine) as here, Holder(beats, dead) as gone:
        _wait(lambda: here.heartbeats > 3)
        assert gone.heartbeats == 0


def test_no_beat_carries_a_claim_past_its_deadline(conn: Conn, beats: Beats) -> None:
    claim = work.claim(conn, _row(conn, "one"), holder="me", lease=LEASE, limit=1.0)
    with Holder(beats, claim) as one:
        _wait(lambda: one.heartbeats > 0)
        _wait(lambda: not _lives(conn, "one"))


def test_a_lost_connection_is_made_again(conn: Conn, beats: Beats) -> None:
    with Holder(beats, _claimed(conn, "one")) as one:
        _wait(lambda: one.heartbeats > 0)
        killed = conn.execute(
            """
            select pg_terminate_backend(pid)
              from pg_stat_activity
             where datname = current_database() and backend_type = 'client backend' and pid <> pg_backend_pid()
            """
        ).fetchall()
        assert killed == [(True,)]
        before = one.heartbeats
        _wait(lambda: one.heartbeats > before + 2)


def test_a_claim_taken_again_is_kept_although_the_older_one_ends(conn: Conn, beats: Beats) -> None:
    older = Holder(beats, _claimed(conn, "one")).__enter__()
    with Holder(beats, _claimed(conn, "one")) as newer:
        older.__exit__()
        assert beats.held() == [("one", 2)]
        _wait(lambda: newer.heartbeats > 0)
    assert beats.held() == []


def test_told_to_stop_it_gives_back_what_is_idle_and_keeps_what_is_in_flight(conn: Conn, beats: Beats) -> None:
    idle, busy, lost = (_claimed(conn, name) for name in ("idle", "busy", "lost"))
    conn.execute("update work set in_flight = 1 where key = 'busy'")
    conn.execute("update work set token = token + 1 where key = 'lost'")
    with Holder(beats, idle), Holder(beats, busy), Holder(beats, lost):
        assert beats.release_idle() == ["idle"]
    found = conn.execute("select key, attempts, holder from work order by key").fetchall()
    assert found == [("busy", 1, "me"), ("idle", 0, None), ("lost", 1, "me")]


def test_without_postgres_nothing_is_given_back_and_nothing_raised(conn: Conn) -> None:
    beats = Beats("postgresql://nobody@127.0.0.1:1/nothing", every=EVERY, lease=LEASE)
    with Holder(beats, _claimed(conn, "one")):
        assert beats.release_idle() == []


def _row(conn: Conn, key: str) -> str:
    conn.execute("insert into work (key, kind) values (%s, 'obligation') on conflict do nothing", (key,))
    return key


def _claimed(conn: Conn, key: str) -> Claim:
    """A claim whose lease ends in ten seconds: after a beat it ends later."""
    return work.claim(conn, _row(conn, key), holder="me", lease=10.0, limit=600.0)


def _beaten(conn: Conn, key: str) -> bool:
    found = conn.execute("select lease_expires_at > ledger_now() + interval '11 s' from work where key = %s", (key,))
    return found.fetchone() == (True,)


def _lives(conn: Conn, key: str) -> bool:
    return conn.execute("select lease_expires_at > ledger_now() from work where key = %s", (key,)).fetchone() == (True,)


@contextmanager
def _locked(dsn: str, key: str) -> Iterator[None]:
    with psycopg.connect(dsn) as other:
        other.execute("select 1 from work where key = %s for update", (key,))
        yield
        other.rollback()


def _wait(condition: Any) -> None:
    assert process.wait(condition, seconds=10, every=0.01)
