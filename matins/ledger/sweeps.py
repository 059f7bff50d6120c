"""The record of the sweep's own runs: the cadence is judged from it."""

from __future__ import annotations

from typing import Any

from psycopg.types.json import Jsonb

from matins.ledger.query import execute, row
from matins.ledger.work import Conn

_BEGIN = "insert into sweep_run (caller, started_at) values (%(caller)s, ledger_now()) returning id"
_FINISH = "update sweep_run set finished_at = ledger_now(), passes = %(passes)s where id = %(id)s"
_SINCE = """
select extract(epoch from ledger_now() - max(started_at))::float8 as seconds
  from sweep_run
 where finished_at is not null
"""


def begin(conn: Conn, caller: str) -> int:
    """Note that a sweep began. Returns its number."""
    got = row(conn, _BEGIN, caller=caller)
    assert got is not None, "an insert returns its row"
    return int(got["id"])


def finish(conn: Conn, run: int, passes: dict[str, Any]) -> None:
    """Note what each pass of a sweep did."""
    execute(conn, _FINISH, id=run, passes=Jsonb(passes))


def seconds_since_last(conn: Conn) -> float | None:
    """Seconds since the last finished sweep began, by the database's clock; None if there was none."""
    found = row(conn, _SINCE)
    return float(found["seconds"]) if found and found["seconds"] is not None else None


_STAMP_RESTART = """
with held as materialized (
    select *
      from work
     where key = %(key)s
       for no key update
), stuck as materialized (
    select *, ledger_now() as at
      from held
     where closed_at is null
       and (lease_expires_at is null or lease_expires_at <= ledger_now())
       and (retry_at is null or retry_at <= ledger_now())
       and greatest(moved_at, restarted_at) < ledger_now() - make_interval(secs => %(after)s)
), stamped as (
    update work set restarted_at = stuck.at from stuck where work.key = stuck.key
    returning work.key, work.kind, work.token, stuck.moved_at, stuck.at
), noted as (
    insert into audit (at, subject, event, token, facts)
    select at, key, kind || '.restarted', token, jsonb_build_object('unmoved_since', moved_at) from stamped
)
select key from stamped
"""


def stamp_restart(conn: Conn, key: str, *, after: float) -> bool:
    """Whether this caller may replace the workflow of a row that nobody moved for `after` seconds. One winner."""
    return row(conn, _STAMP_RESTART, key=key, after=after) is not None
