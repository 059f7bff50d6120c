"""Windows that end without being read to their end: their last reader died, or a person gave them up. Each leaves a
row that no later progress hides, and the next window opens. And windows that a person gives a new budget.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from matins.ledger.query import row, rows
from matins.ledger.source import Window
from matins.ledger.work import Conn
from matins.rules import keys, limits
from matins.rules.errors import Refused

_FIND_SPENT = """
select source.key as source_key
  from source
  join work on work.key = source.window_key
 where source.due_at <= ledger_now()  -- it stays due while it is being read
   and work.lease_expires_at <= ledger_now()
   and work.attempts >= work.budget
   and work.closed_at is null
 order by work.lease_expires_at
 limit %(limit)s
"""


def find_spent(conn: Conn, *, limit: int = 100) -> list[str]:
    """Keys of sources whose last reader died on the window's last attempt: a hint for `expire`."""
    return [found["source_key"] for found in rows(conn, _FIND_SPENT, limit=limit)]


_END = """
with held as materialized (
    select *
      from work
     where key = %(work_key)s
       and closed_at is null
       for no key update
), dead as materialized (
    select *, ledger_now() as at
      from held
     where case %(how)s when 'died' then holder is not null and lease_expires_at <= ledger_now() and attempts >= budget
                        else holder is null or lease_expires_at <= ledger_now() end
), ended as (
    update ingest_run
       set status = 'failed', reason = 'its readers died', ended_at = dead.at
      from dead
     where ingest_run.work_key = dead.key
       and ingest_run.status = 'claimed'
    returning ingest_run.work_key, ingest_run.token as run_token, dead.at
), closed as (
    update work
       set holder = null, lease_expires_at = null, deadline_at = null, retry_at = null,
           closed_at = dead.at, moved_at = dead.at
      from dead
     where work.key = dead.key
    returning work.key, work.token, work.attempts, dead.at
), opened as (
    insert into work (key, kind, budget, moved_at)
    select %(next_window)s, 'ingest', %(budget)s, at from closed
), moved as (
    update source
       set outcome = case %(how)s when 'died' then 'failed' else source.outcome end,
           reason = %(reason)s, tried_at = closed.at,
           failing_since = case %(how)s when 'died' then coalesce(source.failing_since, closed.at)
                                        else source.failing_since end,
           cursor_version = source.cursor_version + 1,
           window_key = %(next_window)s, due_at = closed.at + make_interval(secs => %(poll_every)s)
      from closed
     where source.window_key = closed.key
), unread as (
    insert into unread_window (work_key, source_key, cursor_version, how, reason, attempts, ended_at)
    select key, %(source_key)s, %(cursor_version)s, %(how)s, %(reason)s, attempts, at from closed
), noted as (
    insert into audit (at, subject, event, token, facts)
    select at, key, case %(how)s when 'died' then 'ingest_run.failed' else 'window.skipped' end, token,
           jsonb_build_object('reason', %(reason)s::text, 'window_spent', true)
      from closed
    union all
    select at, work_key, 'ingest_run.failed', run_token, jsonb_build_object('reason', 'its readers died')
      from ended
     where %(how)s <> 'died'
)
select key from closed
"""
DIED = "its readers died"


def expire(conn: Conn, window: Window) -> bool:
    """ingest_run claimed -> failed: the window's last claimant is gone; it is terminal, and the next one opens.

    Returns whether it moved.
    """
    return _end(conn, window, how="died", reason=DIED)


def skip(conn: Conn, window: Window, *, reason: str) -> None:
    """ingest_run claimed -> failed: a person gives the window up; `reason` is kept, and the next one opens for the
    next poll.

    A reader that died in it is ended with it. Raises Refused while somebody reads it.
    """
    if not _end(conn, window, how="skipped", reason=reason[:200]):
        raise Refused("it is being read right now; try again in a moment", key=window.work_key)


def _end(conn: Conn, window: Window, *, how: str, reason: str) -> bool:
    got = row(
        conn,
        _END,
        work_key=window.work_key,
        source_key=window.source_key,
        cursor_version=window.cursor_version,
        how=how,
        reason=reason,
        next_window=keys.ingest_work(window.source_key, window.cursor_version + 1),
        budget=limits.BUDGET,
        poll_every=limits.POLL_EVERY,
    )
    return got is not None


_RENEW = """
with held as materialized (
    select *
      from work
     where key = %(work_key)s
       and closed_at is null
       for no key update
), idle as materialized (
    select *, ledger_now() as at
      from held
     where holder is null
        or (lease_expires_at <= ledger_now() and attempts < budget)
), renewed as (
    update work
       set attempts = case when idle.holder is null and %(budget)s then 0 else idle.attempts end,
           retry_at = null, moved_at = idle.at
      from idle
     where work.key = idle.key
    returning work.key, work.token, idle.at
), due as (
    update source set due_at = renewed.at from renewed where source.window_key = renewed.key
), noted as (
    insert into audit (at, subject, event, token, facts)
    select at, key, case when %(budget)s then 'window.renewed' else 'window.due' end, token, '{}' from renewed
)
select key from renewed
"""


def renew(conn: Conn, window: Window, *, budget: bool) -> None:
    """Have the window read now; with `budget`, by all its attempts anew. Raises Refused while somebody reads it."""
    if row(conn, _RENEW, work_key=window.work_key, budget=budget) is None:
        raise Refused("it is being read right now; look again in a moment", key=window.work_key)


@dataclass(frozen=True, slots=True)
class UnreadWindow:
    """One window that was not read to its end."""

    cursor_version: int
    how: str
    """spent, gone, died or skipped."""
    reason: str
    attempts: int
    ended_at: datetime


_UNREAD = """
select cursor_version, how, reason, attempts, ended_at
  from unread_window
 where source_key = %(source_key)s
 order by ended_at desc
 limit %(limit)s
"""


def unread(conn: Conn, source_key: str, *, limit: int = 10) -> list[UnreadWindow]:
    """The source's windows that were not read to their end, newest first."""
    return [UnreadWindow(**found) for found in rows(conn, _UNREAD, source_key=source_key, limit=limit)]


@dataclass(frozen=True, slots=True)
class Run:
    """One read, or several that found the same document."""

    status: str
    reason: str
    items: int
    fresh: int
    renamed: int
    reads: int
    since: datetime
    ended_at: datetime | None


_RUNS = """
select status, reason, admitted as items, fresh, renamed, reads, coalesce(first_claimed_at, claimed_at) as since,
       ended_at
  from ingest_run
 where source_key = %(source_key)s
 order by claimed_at desc
 limit %(limit)s
"""


def runs(conn: Conn, source_key: str, *, limit: int = 10) -> list[Run]:
    """The source's last reads, newest first."""
    return [Run(**found) for found in rows(conn, _RUNS, source_key=source_key, limit=limit)]
