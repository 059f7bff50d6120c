"""Two connections to one database whose clock can be moved while a statement waits; emptied after each test."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import psycopg
import pytest
from psycopg import Connection

from matins.ledger import invariants
from tests.ledger.clock import Clock
from tests.ledger.conftest import clocked_dsn
from tests.ledger.factory import Factory
from tests.ledger.tables import KEYS
from tests.ledger.waiting import watch
from tests.races.race import Race

__all__ = ["clocked_dsn"]

_EMPTY = "; ".join(["set session_replication_role = replica", *(f"delete from {table}" for table in KEYS)])


@pytest.fixture(scope="session")
def _pair(clocked_dsn: str) -> Iterator[tuple[Connection[Any], Connection[Any]]]:
    patience = "-c lock_timeout=15s"  # a statement that waits for the test's own thread would wait for ever
    with (
        psycopg.connect(clocked_dsn, autocommit=True) as one,
        psycopg.connect(clocked_dsn, autocommit=True, options=patience) as other,
    ):
        yield one, other


@pytest.fixture(scope="session")
def _pool() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(4) as pool:
        yield pool


@pytest.fixture
def race(clocked_dsn: str, _pair: tuple[Connection[Any], Connection[Any]], _pool: ThreadPoolExecutor) -> Iterator[Race]:
    """A race between two connections. The law is asked for after each test."""
    one, other = _pair
    with psycopg.connect(clocked_dsn, autocommit=True) as aside, watch(clocked_dsn) as waiting:
        yield Race(Factory(one, Clock(one)), Factory(other, Clock(other)), Clock(aside), _pool, waiting)
        assert invariants.broken(aside) == {}
        aside.execute(_EMPTY.encode())
