"""A database with a clock that can be shifted, one per process of the run; what a test does there is rolled back."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from psycopg import Connection

from matins.ledger import invariants
from tests import stack
from tests.ledger.clock import Clock
from tests.ledger.factory import Factory


@pytest.fixture(scope="session")
def clocked_dsn(postgres_admin: str) -> Iterator[str]:
    """The address of this process's own database, with every migration and a clock that can be shifted."""
    name = f"ledger_{uuid.uuid4().hex}"
    with psycopg.connect(postgres_admin, autocommit=True) as admin:
        admin.execute(f"create database {name} template {stack.TEMPLATE}")
        dsn = stack.address_of(postgres_admin, name)
        with psycopg.connect(dsn, autocommit=True) as conn:
            Clock.install(conn)
        yield dsn
        admin.execute(f"drop database {name} with (force)")


@pytest.fixture(scope="session")
def _ledger(clocked_dsn: str) -> Iterator[Connection[Any]]:
    with psycopg.connect(clocked_dsn, autocommit=True) as conn:
        yield conn


@pytest.fixture
def conn(_ledger: Connection[Any]) -> Iterator[Connection[Any]]:
    """A connection in a transaction that is rolled back. The law is asked for after each test."""
    with _ledger.transaction(force_rollback=True):
        yield _ledger
        assert invariants.broken(_ledger) == {}


@pytest.fixture
def clock(conn: Connection[Any]) -> Clock:
    """The clock of the database behind `conn`."""
    return Clock(conn)


@pytest.fixture
def factory(conn: Connection[Any], clock: Clock) -> Factory:
    """Puts rows in any state."""
    return Factory(conn, clock)
