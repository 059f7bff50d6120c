"""What the product's own functions say to Postgres, as text with the values in it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
from psycopg import ClientCursor, Connection


@contextmanager
def recording(conn: Connection[Any]) -> Iterator[list[str]]:
    """Every statement that this connection runs in the block, whole."""
    said: list[str] = []

    class Listening(ClientCursor[Any]):
        def execute(self, query: Any, params: Any = None, **options: Any) -> Any:
            said.append(self.mogrify(query, params))
            return super().execute(query, params, **options)

    before, conn.cursor_factory = conn.cursor_factory, Listening
    try:
        yield said
    finally:
        conn.cursor_factory = before


def statements(conn: Connection[Any], act: Callable[[Connection[Any]], object]) -> list[str]:
    """What `act` runs; what it changes is undone."""
    with conn.transaction(force_rollback=True), recording(conn) as said:
        act(conn)
    return said


def explained(conn: psycopg.Connection[Any], statement: str) -> dict[str, Any]:
    """How Postgres ran the statement, as EXPLAIN (ANALYZE, BUFFERS) tells it; what it changed is undone."""
    with conn.transaction(force_rollback=True), psycopg.RawCursor(conn) as cursor:
        cursor.execute(f"explain (analyze, buffers, timing off, format json) {statement}".encode())
        [(told,)] = cursor.fetchall()
    found: dict[str, Any] = told[0]
    return found
