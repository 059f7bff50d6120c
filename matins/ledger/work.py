"""The lease kernel: one table and one set of statements for every kind of leased work.

Every statement locks the work row first and judges the lease after, by one instant of the database's clock: a plain
guarded update is no fence, because Postgres re-evaluates nothing when the blocker only locked the row or rolled back.
The domain row (obligation, continuation, message, ingest run) moves in the same statement as its work row.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from psycopg import Connection

from matins.ledger.query import Row, row, rows
from matins.rules import limits
from matins.rules.errors import (
    ActionInFlight,
    AttemptsSpent,
    Closed,
    LeaseHeld,
    LeaseLost,
    NoSuchRow,
    NotDue,
    Refused,
    StepOutOfOrder,
)

Conn = Connection[Any]


@dataclass(frozen=True, slots=True)
class Claim:
    """The right to write, until the lease ends or is renewed."""

    key: str
    kind: str
    step: str | None
    token: int
    attempts: int
    budget: int
    in_flight: int
    deadline_at: datetime


_CLAIM = """
with held as materialized (
    select *
      from work
     where key = %(key)s
       for no key update
), open as materialized (
    select *, ledger_now() as at
      from held
     where closed_at is null
       and attempts < budget
       and step is not distinct from %(step)s
       and (kind <> 'message' or in_flight = 0)
       and (kind <> 'ingest' or token = 0
            or exists (select 1 from ingest_run where ingest_run.work_key = held.key and ingest_run.token = held.token))
), free as materialized (
    select *
      from open
     where (retry_at is null or retry_at <= at)
       and (holder is null or lease_expires_at <= at or (holder = %(holder)s and in_flight = 0))
), claimed as (
    update work
       set token = free.token + 1,
           attempts = free.attempts + 1,
           holder = %(holder)s,
           deadline_at = free.at + make_interval(secs => %(limit)s),
           lease_expires_at = free.at + make_interval(secs => least(%(lease)s, %(limit)s)),
           retry_at = case when free.attempts >= %(unspaced)s
               then free.at + make_interval(
                   secs => (%(spacing)s::float8[])[least(free.attempts + 1 - %(unspaced)s, 4)]) end,
           moved_at = free.at
      from free
     where work.key = free.key
    returning work.key, work.kind, work.step, work.token, work.attempts, work.budget, work.in_flight, work.deadline_at,
           free.at, free.token as old_token, free.holder as old_holder, free.lease_expires_at as old_expiry
), obligation_moved as (
    update obligation
       set status = 'running', started_at = coalesce(started_at, claimed.at)
      from claimed
     where obligation.work_key = claimed.key
       and obligation.status in ('queued', 'running')
    returning obligation.key
), continuation_moved as (
    update continuation
       set status = 'running'
      from claimed
     where continuation.work_key = claimed.key
       and continuation.status in ('pending', 'running')
    returning continuation.key
), message_moved as (
    update message
       set status = 'sending'
      from claimed
     where message.work_key = claimed.key
       and message.status in ('pending', 'sending')
    returning message.key
), run_outlived as (
    update ingest_run
       set status = 'failed', reason = 'its reader died', ended_at = claimed.at
      from claimed
     where ingest_run.work_key = claimed.key
       and ingest_run.status = 'claimed'
    returning ingest_run.work_key, ingest_run.token, ingest_run.reason, claimed.at
), run_claimed as (
    insert into ingest_run (work_key, token, source_key, cursor_version, status, claimed_at)
    select claimed.key, claimed.token, source.key, source.cursor_version, 'claimed', claimed.at
      from claimed
      join source on source.window_key = claimed.key
    returning work_key
), noted as (
    insert into audit (at, subject, event, token, facts)
    select at, key, kind || '.claimed', token,
           jsonb_strip_nulls(jsonb_build_object('step', step, 'attempt', attempts, 'holder', %(holder)s::text,
               'old_token', nullif(old_token, 0), 'old_holder', old_holder, 'old_expiry', old_expiry))
      from claimed
     where kind <> 'ingest'  -- a read has one audit row in all
    union all
    select at, work_key, 'ingest_run.failed', token, jsonb_build_object('reason', reason) from run_outlived
)
select key, kind, step, token, attempts, budget, in_flight, deadline_at
  from claimed
"""


def claim(conn: Conn, key: str, *, holder: str, lease: float, limit: float, step: str | None = None) -> Claim:
    """obligation queued, running -> running; continuation pending, running -> running; message pending, sending ->
    sending; ingest_run none -> claimed; ingest_run claimed -> failed: a new token for `holder`, for at most `limit`
    seconds.

    A run of a window's earlier claim fails with the new claim. The same holder re-enters at once unless an action of
    its old token is in flight; anyone else waits until the lease is dead. From the third claim on, the next one is
    spaced. Raises Closed, LeaseHeld, NotDue, AttemptsSpent, ActionInFlight, StepOutOfOrder or NoSuchRow.
    """
    got = row(
        conn,
        _CLAIM,
        key=key,
        holder=holder,
        lease=lease,
        limit=limit,
        step=step,
        spacing=list(limits.SPACING),
        unspaced=limits.CRASHES_BEFORE_SPACING,
    )
    if got is None:
        raise explain_claim(conn, key, step=step)
    return Claim(**got)


_BEAT = """
with asked as (
    select *
      from unnest(%(keys)s::text[], %(tokens)s::bigint[]) as asked (key, token)
), held as materialized (
    select work.key, work.lease_expires_at, work.deadline_at
      from work
      join asked on work.key = asked.key and work.token = asked.token
       for no key update of work skip locked
), live as materialized (
    select *, ledger_now() as at
      from held
     where lease_expires_at > ledger_now()
)
update work
   set lease_expires_at = least(live.at + make_interval(secs => %(lease)s), live.deadline_at)
  from live
 where work.key = live.key
returning work.key
"""


def beat(conn: Conn, held: Sequence[tuple[str, int]], *, lease: float) -> set[str]:
    """Renew every (key, token) in `held` whose lease lives. Returns the keys renewed.

    A row that somebody has locked is passed over until the next beat, so that it cannot stop the others.
    """
    keys, tokens = [key for key, _ in held], [token for _, token in held]
    return {found["key"] for found in rows(conn, _BEAT, keys=keys, tokens=tokens, lease=lease)}


_BOUND = """
select set_config('lock_timeout', %(milliseconds)s, true), set_config('statement_timeout', %(milliseconds)s, true)
"""


def bound(conn: Conn, *, seconds: float) -> None:
    """Let no statement of this transaction wait longer. Of the transaction, not the session: a pooler leaks those."""
    row(conn, _BOUND, milliseconds=str(int(seconds * 1000)))


_STILL_MINE = """
select extract(epoch from least(lease_expires_at, deadline_at) - ledger_now())::float8 as left
  from work
 where key = %(key)s
   and token = %(token)s
   and lease_expires_at > ledger_now()
"""


def still_mine(conn: Conn, key: str, *, token: int, reserve: float = 0.0) -> float:
    """Seconds left of the lease under `token`. Raises LeaseLost if it is dead, or has less than `reserve` left."""
    found = row(conn, _STILL_MINE, key=key, token=token)
    if found is None or found["left"] < reserve:
        raise LeaseLost(key=key)
    return float(found["left"])


_RELEASE = """
with held as materialized (
    select *
      from work
     where key = %(key)s
       and token = %(token)s
       for no key update
), live as materialized (
    select *, ledger_now() as at
      from held
     where lease_expires_at > ledger_now()
       and in_flight = 0
), freed as (
    update work
       set holder = null, lease_expires_at = null, deadline_at = null, retry_at = null,
           attempts = live.attempts - 1, moved_at = live.at
      from live
     where work.key = live.key
    returning work.key, work.kind, work.step, work.token, live.at
), obligation_moved as (
    update obligation set status = 'queued' from freed
     where obligation.work_key = freed.key and obligation.status = 'running'
    returning obligation.key
), continuation_moved as (
    update continuation set status = 'pending' from freed
     where continuation.work_key = freed.key and continuation.status = 'running'
    returning continuation.key
), message_moved as (
    update message set status = 'pending' from freed
     where message.work_key = freed.key and message.status = 'sending'
    returning message.key
), run_moved as (
    update ingest_run set status = 'failed', reason = 'its worker was told to stop', ended_at = freed.at from freed
     where ingest_run.work_key = freed.key and ingest_run.status = 'claimed'
    returning ingest_run.work_key
), noted as (
    insert into audit (at, subject, event, token, facts)
    select at, key, kind || '.released', token, jsonb_strip_nulls(jsonb_build_object('step', step)) from freed
)
select key from freed
"""


def release(conn: Conn, key: str, *, token: int) -> None:
    """obligation running -> queued; continuation running -> pending; message sending -> pending;
    ingest_run claimed -> failed: given back unharmed, and the attempt with it. For SIGTERM.

    Raises LeaseLost, or ActionInFlight when an effect is under way.
    """
    if row(conn, _RELEASE, key=key, token=token) is None:
        raise explain_holder(conn, key, token=token)


_EXPLAIN = """
select *,
       lease_expires_at > ledger_now() as live,
       extract(epoch from lease_expires_at - ledger_now())::float8 as lease_wait,
       extract(epoch from retry_at - ledger_now())::float8 as retry_wait
  from work
 where key = %(key)s
"""


def explain_claim(conn: Conn, key: str, *, step: str | None) -> Refused:
    """Why a claim matched nothing: a second read that explains and never decides."""
    found = row(conn, _EXPLAIN, key=key)
    if found is None:
        return NoSuchRow(key=key)
    if found["closed_at"] is not None:
        return Closed(key=key)
    if found["step"] != step:
        return StepOutOfOrder(f"{found['step']} is at hand, {step} was asked", key=key)
    if found["live"]:
        return LeaseHeld(key=key, until=found["lease_expires_at"], wait=max(found["lease_wait"], 0.0))
    if found["kind"] == "message" and found["in_flight"]:
        return ActionInFlight(key=key)
    if found["attempts"] >= found["budget"]:
        return AttemptsSpent(key=key)
    return _not_due(found)


def _not_due(found: Row) -> Refused:
    at = found["retry_at"] or found["moved_at"]
    return NotDue(key=found["key"], at=at, wait=max(found["retry_wait"] or 0.0, 0.05))


def explain_holder(conn: Conn, key: str, *, token: int) -> Refused:
    """Why a statement under `token` matched nothing."""
    found = row(conn, _EXPLAIN, key=key)
    if found is None:
        return NoSuchRow(key=key)
    if found["token"] == token and found["live"] and found["in_flight"]:
        return ActionInFlight(key=key)
    return LeaseLost(key=key)
