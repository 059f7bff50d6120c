"""One database with every migration for the catalog's tests, and empty ones for the migrations'."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
import pytest
from psycopg import Connection

from tests import stack
from tests.schema.lawful import ROWS


@pytest.fixture(scope="session")
def migrated_dsn(postgres_admin: str) -> Iterator[str]:
    """The address of a database that has every migration."""
    with _database(postgres_admin, f"schema_{uuid.uuid4().hex}", stack.TEMPLATE) as dsn:
        yield dsn


@pytest.fixture
def conn(migrated_dsn: str) -> Iterator[Connection[Any]]:
    """A connection to it, in a transaction that is rolled back."""
    with (
        psycopg.connect(migrated_dsn, autocommit=True) as connection,
        connection.transaction(force_rollback=True),
    ):
        yield connection


@pytest.fixture
def rows(conn: Connection[Any]) -> Connection[Any]:
    """The same connection, once there are rows that keep the law."""
    conn.execute(ROWS.encode())
    return conn


@pytest.fixture
def empty_dsn(postgres_admin: str) -> Iterator[str]:
    """The address of an empty database."""
    with _database(postgres_admin, f"empty_{uuid.uuid4().hex}", "template0") as dsn:
        yield dsn


@contextmanager
def _database(admin_dsn: str, name: str, template: str) -> Iterator[str]:
    with psycopg.connect(admin_dsn, autocommit=True) as admin:
        admin.execute(f"create database {name} template {template}")
        yield stack.address_of(admin_dsn, name)
        admin.execute(f"drop database {name} with (force)")
