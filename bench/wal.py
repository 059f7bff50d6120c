"""What Postgres wrote between two moments, read from its log (pg_walinspect): bytes, rows, commits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import psycopg

_STATS = """
select coalesce(sum(record_size), 0)::float8 as bytes,
       coalesce(sum(fpi_size), 0)::float8 as pages,
       coalesce(sum(count) filter (where "resource_manager/record_type" ~ '^Heap2?/(INSERT|UPDATE|HOT_UPDATE|DELETE)'),
                0)::float8 as rows,
       coalesce(sum(count) filter (where "resource_manager/record_type" ~ '^Btree/INSERT'), 0)::float8 as entries,
       coalesce(sum(count) filter (where "resource_manager/record_type" = 'Transaction/COMMIT'), 0)::float8 as commits
  from pg_get_wal_stats(%s::pg_lsn, %s::pg_lsn, true)
"""


@dataclass(frozen=True, slots=True)
class Written:
    """What the log holds of a stretch of time."""

    bytes: float
    """Of the records, without whole pages."""
    pages: float
    """Bytes of whole pages: each that is touched for the first time since a checkpoint."""
    rows: float
    """Inserted, updated or deleted."""
    entries: float
    """Put into an index."""
    commits: float


def begin(conn: psycopg.Connection[Any]) -> str:
    """Where the log ends now, after a checkpoint."""
    conn.execute("create extension if not exists pg_walinspect")
    conn.execute("checkpoint")
    return position(conn)


def position(conn: psycopg.Connection[Any]) -> str:
    """Where the log ends now."""
    [(found,)] = conn.execute("select pg_current_wal_insert_lsn()::text").fetchall()
    return str(found)


def since(conn: psycopg.Connection[Any], began: str) -> Written:
    """What was written since `began`, all of it flushed."""
    conn.execute("select pg_switch_wal()")
    ends = position(conn)
    [found] = conn.execute(_STATS, (began, ends)).fetchall()
    return Written(*found)
