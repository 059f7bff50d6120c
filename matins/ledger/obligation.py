"""Obligations: what is owed to an owner on a local date, and the move from research to its continuation."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime, time

from matins.ledger.move import DONE, Move
from matins.ledger.query import row, rows
from matins.ledger.work import Claim, Conn, explain_holder
from matins.rules import keys, limits, plans
from matins.rules.errors import NoSuchRow, OutputConflict

_FIND = "select key, status, work_key, output_hash, plan, unadvanced from obligation where key = %(key)s"


@dataclass(frozen=True, slots=True)
class Completed:
    """A succeeded obligation and the first move of its continuation."""

    key: str
    token: int
    next: Move


_COMPLETE = """
with held as materialized (
    select *
      from work
     where key = %(work_key)s
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
           closed_at = live.at, moved_at = live.at
      from live
     where work.key = live.key
    returning work.key, work.token, live.at
), moved as (
    update obligation
       set status = 'succeeded', output_hash = %(output_hash)s, ended_at = freed.at
      from freed
     where obligation.work_key = freed.key
       and obligation.status = 'running'
    returning obligation.key, obligation.plan, freed.token, freed.at
), planned_work as (
    insert into work (key, kind, step, budget, moved_at)
    select %(next_work)s, 'continuation', %(first_step)s, %(budget)s, at from moved
), planned as (
    insert into continuation (key, work_key, plan, status, created_at)
    select key, %(next_work)s, plan, 'pending', at from moved
), noted as (
    insert into audit (at, subject, event, token, facts)
    select at, %(work_key)s, 'obligation.succeeded', token, jsonb_build_object('output_hash', %(output_hash)s::text)
      from moved
    union all
    select at, %(next_work)s, 'continuation.pending', null, jsonb_build_object('step', %(first_step)s::text)
      from moved
)
select key, token from moved
"""


def complete(conn: Conn, key: str, claim: Claim, *, plan: int, output_hash: str) -> Completed:
    """obligation running -> succeeded; continuation none -> pending: if `claim` still holds the lease.

    The same output asked again is answered alike, whoever asks; another one raises OutputConflict. Raises LeaseLost or
    ActionInFlight.
    """
    step = plans.first_step(plan)
    next_work = keys.continuation_work(key)
    got = row(
        conn,
        _COMPLETE,
        work_key=claim.key,
        token=claim.token,
        output_hash=output_hash,
        next_work=next_work,
        first_step=step,
        budget=limits.BUDGET,
    )
    if got is None:
        found = row(conn, _FIND, key=key)
        if found is None or found["status"] != "succeeded":
            raise explain_holder(conn, claim.key, token=claim.token)
        if found["output_hash"] != output_hash:
            raise OutputConflict(key=key, stored=found["output_hash"], asked=output_hash)
    return Completed(key, claim.token, Move(key, step, next_work))


_ADVANCE = """
with held as materialized (
    select *
      from obligation
     where key = %(key)s
       and unadvanced
       for no key update
), found as materialized (
    select *, ledger_now() as at from held
), planned_work as (
    insert into work (key, kind, step, budget, moved_at)
    select %(next_work)s, 'continuation', %(first_step)s, %(budget)s, at from found
    on conflict (key) do nothing
), planned as (
    insert into continuation (key, work_key, plan, status, created_at)
    select key, %(next_work)s, plan, 'pending', at from found
    on conflict (key) do nothing
), cleared as (
    update obligation set unadvanced = false from found where obligation.key = found.key
    returning obligation.key, found.at
), noted as (
    insert into audit (at, subject, event, token, facts)
    select at, %(next_work)s, 'continuation.pending', null,
           jsonb_build_object('step', %(first_step)s::text, 'by', 'advance')
      from cleared
)
select key from cleared
"""


def advance(conn: Conn, key: str) -> bool:
    """continuation none -> pending: create the one that a succeeded obligation still lacks. Returns whether it did."""
    found = row(conn, _FIND, key=key)
    if found is None:
        raise NoSuchRow(key=key)
    created = row(
        conn,
        _ADVANCE,
        key=key,
        next_work=keys.continuation_work(key),
        first_step=plans.first_step(found["plan"]),
        budget=limits.BUDGET,
    )
    return created is not None


_FIND_UNADVANCED = """
select key from obligation where unadvanced order by ended_at limit %(limit)s for no key update skip locked
"""


def find_unadvanced(conn: Conn, *, limit: int = 100) -> list[str]:
    """Keys of succeeded obligations without a continuation, oldest first: a hint for `advance`."""
    return [found["key"] for found in rows(conn, _FIND_UNADVANCED, limit=limit)]


_FIND_IDLE = """
select obligation.key, obligation.work_key
  from obligation
  join work on work.key = obligation.work_key
 where obligation.status in ('queued', 'running')
   and (work.lease_expires_at is null or work.lease_expires_at <= ledger_now())
   and (work.retry_at is null or work.retry_at <= ledger_now())
 order by obligation.opens_at
 limit %(limit)s
"""


def find_idle(conn: Conn, *, limit: int = 500) -> list[tuple[str, str]]:
    """(key, work key) of obligations that somebody should be moving and nobody holds, oldest first."""
    return [(found["key"], found["work_key"]) for found in rows(conn, _FIND_IDLE, limit=limit)]


_POLLS = """
select exists (
    select 1
      from subscription
      join source on source.key = subscription.source_key
      join work on work.key = source.window_key
     where subscription.owner = obligation.owner
       and (work.retry_at is null or work.retry_at <= ledger_now())
       and coalesce(source.tried_at, '-infinity') < obligation.queued_at
       and (coalesce(source.asked_at, '-infinity') < obligation.queued_at
            or source.asked_at > ledger_now() - make_interval(secs => %(wait)s))
) or jsonb_path_exists(profile.document, '$.openings.boards[0]') and not exists (
    select 1
      from subscription
     where subscription.owner = obligation.owner
       and subscription.purpose = 'openings'
) as waiting
  from obligation
  join profile on profile.owner = obligation.owner and profile.version = obligation.profile_version
 where obligation.key = %(key)s
"""


def next_move(conn: Conn, key: str, *, poll_wait: float = limits.POLL_WAIT) -> Move:
    """What to do next for an obligation: `polls` (sources to be read, or boards to be followed first), `research`, or
    `done`. Raises NoSuchRow.
    """
    found = row(conn, _FIND, key=key)
    if found is None:
        raise NoSuchRow(key=key)
    if found["status"] not in ("queued", "running"):
        return Move(key, DONE)
    polls = row(conn, _POLLS, key=key, wait=poll_wait)
    name = "polls" if polls and polls["waiting"] else plans.RESEARCH
    return Move(key, name, found["work_key"])


@dataclass(frozen=True, slots=True)
class Owed:
    """What a step needs to know of the obligation it works for."""

    key: str
    owner: str
    local_date: date
    plan: int
    profile_version: int
    queued_at: datetime
    send_at: time | None
    zone: str
    now: datetime
    """The database's instant of this reading."""


_OWED = """
select obligation.key, obligation.owner, obligation.local_date, obligation.plan, obligation.profile_version,
       obligation.queued_at, profile.send_at, profile.zone, ledger_now() as now
  from obligation
  join profile on profile.owner = obligation.owner and profile.version = obligation.profile_version
 where obligation.key = %(key)s
"""


def owed(conn: Conn, key: str) -> Owed:
    """What is owed under `key`. Raises NoSuchRow."""
    found = row(conn, _OWED, key=key)
    if found is None:
        raise NoSuchRow(key=key)
    return Owed(**found)
