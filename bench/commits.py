"""Commits and write-ahead log of one morning's ledger, taken from what the worker wrote.

A commit is a transaction that wrote. Each transition leaves an audit row, and the row's xmin names its transaction; what
that transaction wrote is read from the log itself (pg_walinspect). Beats, reads of sources and sweeps have other
subjects or no audit row, and are not counted, though they went on at the same time.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import psycopg

from bench.ground import Ground, Observed
from bench.table import Row

_TRANSACTIONS = """
select distinct xmin::text as xid
  from audit
 where subject = any(%(subjects)s)
   and event in ('obligation.declared', 'obligation.queued') = %(planning)s
"""
_FILES = """
with held as (
    select oid, reltoastrelid from pg_class where oid = 'frozen'::regclass
), tables as (
    select oid from held union select reltoastrelid from held
)
select pg_relation_filenode(oid) as file from tables
union
select pg_relation_filenode(indexrelid) from pg_index where indrelid in (select oid from tables)
"""
_WRITTEN = """
with mine as (
    select start_lsn, record_length, fpi_length
      from pg_get_wal_records_info(%(log_from)s::pg_lsn, %(log_to)s::pg_lsn)
     where xid::text = any(%(xids)s)
), frozen as (
    select distinct start_lsn
      from pg_get_wal_block_info(%(log_from)s::pg_lsn, %(log_to)s::pg_lsn)
     where relfilenode = any(%(files)s)
)
select coalesce(sum(record_length - fpi_length), 0)::float8 as bytes,
       coalesce(sum(record_length - fpi_length) filter (where start_lsn in (select start_lsn from frozen)), 0)::float8,
       coalesce(sum(fpi_length), 0)::float8
  from mine
"""


@dataclass(frozen=True, slots=True)
class Written:
    """What one morning's transactions wrote, in commits and bytes."""

    commits: int
    planning: int
    log: float
    frozen: float
    pages: float


def measure(ground: Ground) -> list[Row]:
    """Commits and log of each morning of `ground`."""
    with ground.ledger() as conn:
        conn.execute("create extension if not exists pg_walinspect")
        found = [_written(conn, one) for one in ground.mornings]
    return [
        Row("commits of one morning's ledger, claim to seen", [one.commits for one in found], at_most=20),
        Row("  to declare and to queue it, for all owners at once", [one.planning for one in found]),
        Row("log (WAL) of the same, frozen texts apart", [kib(one.log - one.frozen) for one in found], "KiB", 12),
        Row("  the frozen texts", [kib(one.frozen) for one in found], "KiB"),
        Row("  whole pages, first touched after a checkpoint", [kib(one.pages) for one in found], "KiB"),
    ]


def _written(conn: psycopg.Connection[Any], one: Observed) -> Written:
    key = one.morning.key
    subjects = [*one.works(), f"edition/{key}"]
    moved = _column(conn, _TRANSACTIONS, subjects=subjects, planning=False)
    planned = _column(conn, _TRANSACTIONS, subjects=subjects, planning=True)
    files = _column(conn, _FILES)
    window = {"log_from": one.log_from, "log_to": one.log_to}
    [found] = conn.execute(_WRITTEN, {**window, "xids": moved, "files": files}).fetchall()
    return Written(len(moved), len(planned), *found)


def _column(conn: psycopg.Connection[Any], statement: Any, **parameters: object) -> list[Any]:
    return [value for (value,) in conn.execute(statement, parameters).fetchall()]


def kib(count: float) -> float:
    """Bytes as KiB."""
    return count / 1024
