"""Waiting on a condition with a deadline, and seeing in the database who waits for whom."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import psycopg

_WAITING = """
select count(*)
  from pg_stat_activity
 where datname = current_database()
   and wait_event_type = 'Lock'
   and state = 'active'
"""


def until(holds: Callable[[], bool], *, seconds: float = 30.0) -> None:
    """Return as soon as `holds` does."""
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline, "it never happened"
        time.sleep(0.002)


@contextmanager
def watch(dsn: str) -> Iterator[Callable[[int], None]]:
    """A function that returns once so many statements in the database at `dsn` wait for a lock."""
    with psycopg.connect(dsn, autocommit=True) as conn:

        def count() -> int:
            found = conn.execute(_WAITING).fetchone()
            assert found is not None
            return int(found[0])

        yield lambda wanted: until(lambda: count() == wanted)
