"""A ledger with a clock that can be shifted, and what activities work with."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from psycopg_pool import ConnectionPool
from temporalio.client import Client

from activities.beats import Beats
from activities.desk import Desk
from matins.ledger import invariants, profile, today
from matins.orchestrator import Orchestrator
from matins.rules import profile as profiles
from matins.rules.limits import Limits
from tests.ledger.clock import Clock

MORNING = "2026-08-17T05:00+00:00"
LIMITS = Limits()


@pytest.fixture
def clock(conn: psycopg.Connection[Any]) -> Clock:
    """The clock of this test's database: it is six in the morning in London."""
    Clock.install(conn)
    clock = Clock(conn)
    clock.set(MORNING)
    return clock


@pytest.fixture
def morning(conn: psycopg.Connection[Any], clock: Clock) -> str:  # noqa: ARG001 - the clock is set first
    """The key of a queued morning."""
    raw = {"owner": "ada", "zone": "Europe/London", "window": "05:00-09:00"}
    profile.apply(conn, profiles.parse(raw, where="this test"))
    return today.ask(conn, "ada")


@pytest.fixture
def beats(dsn: str) -> Beats:
    """The beat of this process, not started yet."""
    return Beats(dsn, every=LIMITS.beat, lease=LIMITS.lease)


@pytest.fixture
def unreachable() -> Iterator[Orchestrator]:
    """Temporal at an address where nobody listens."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    client = asyncio.run_coroutine_threadsafe(Client.connect("127.0.0.1:1", lazy=True), loop).result(10)
    yield Orchestrator(client, loop, {})
    loop.call_soon_threadsafe(loop.stop)
    thread.join()
    loop.close()


@pytest.fixture
def desk(dsn: str, conn: psycopg.Connection[Any], beats: Beats, unreachable: Orchestrator) -> Iterator[Desk]:
    """What activities work with; the law is asked for after each test."""
    pool: ConnectionPool[Any] = ConnectionPool(dsn, min_size=1, open=False, kwargs={"autocommit": True})
    with pool:
        yield Desk(pool, beats, LIMITS, unreachable)
    assert invariants.broken(conn) == {}
