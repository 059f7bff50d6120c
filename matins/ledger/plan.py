"""The planner: declares what is owed by local date, queues it when its window opens, and lets go of what is too late.

Local dates and windows are computed in Python, once for each distinct zone and window, and handed to set statements.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, time
from typing import Any

from matins.ledger import decision
from matins.ledger.query import Row, rows
from matins.ledger.work import Conn
from matins.rules import calendar, limits, plans
from matins.rules.canonical import hash_of
from matins.rules.crash import crashpoint
from matins.rules.errors import ProfileRefused


@dataclass(slots=True)
class Planned:
    """What one planning changed, by key."""

    declared: list[str] = field(default_factory=list)
    restamped: list[str] = field(default_factory=list)
    queued: list[str] = field(default_factory=list)
    missed: list[str] = field(default_factory=list)
    refused: dict[str, str] = field(default_factory=dict)
    """Owner -> the sentence that says why nothing can be planned for it."""


_SHAPES = """
select ledger_now() as at, profile.zone, profile.opens, profile.ready_by, profile.useful_until,
       array_agg(owner.name order by owner.name) as owners
  from owner
  join profile on profile.owner = owner.name and profile.version = owner.profile_version
 where %(owner)s::text is null or owner.name = %(owner)s
 group by profile.zone, profile.opens, profile.ready_by, profile.useful_until
"""

_DECLARE = """
with day as (
    select *
      from unnest(%(zones)s::text[], %(opens)s::time[], %(ready_by)s::time[], %(useful_until)s::time[],
                  %(dates)s::date[], %(day_starts)s::timestamptz[], %(opens_at)s::timestamptz[],
                  %(ready_by_at)s::timestamptz[], %(useful_until_at)s::timestamptz[])
        as day (zone, opens, ready_by, useful_until, local_date, day_starts_at, opens_at, ready_by_at, useful_until_at)
), due as (
    select owner.name as owner, profile.version, product.name as product, day.*,
           owner.name || '/' || product.name || '/' || to_char(day.local_date, 'YYYY-MM-DD') as key
      from owner
      join profile on profile.owner = owner.name and profile.version = owner.profile_version
      join day on (day.zone, day.opens, day.ready_by, day.useful_until)
                = (profile.zone, profile.opens, profile.ready_by, profile.useful_until)
     cross join lateral unnest(profile.products) as product (name)
     where (%(owner)s::text is null or owner.name = %(owner)s)
       and day.useful_until_at > owner.created_at
       and not exists (select 1
                         from obligation
                        where obligation.owner = owner.name
                          and obligation.product = product.name
                          and obligation.local_date = day.local_date)
), declared as (
    insert into obligation (key, owner, product, local_date, status, plan, intent_hash, profile_version, tzdata,
                            day_starts_at, opens_at, ready_by_at, useful_until_at, declared_at)
    select key, owner, product, local_date, 'declared', %(plan)s, %(intent)s, version, %(tzdata)s,
           day_starts_at, opens_at, ready_by_at, useful_until_at, ledger_now()
      from due
    on conflict (owner, product, local_date) do nothing
    returning *
), briefs as (
    insert into obligation (key, owner, product, local_date, status, plan, intent_hash, profile_version, tzdata,
                            day_starts_at, opens_at, ready_by_at, useful_until_at, declared_at, follows)
    select owner || '/brief/' || to_char(local_date, 'YYYY-MM-DD'), owner, 'brief', local_date, 'declared', %(plan)s,
           %(brief_intent)s, profile_version, tzdata, day_starts_at, opens_at, ready_by_at, useful_until_at,
           declared_at, key
      from declared
    on conflict (owner, product, local_date) do nothing
    returning key, declared_at, opens_at, profile_version
), noted as (
    insert into audit (at, subject, event, facts)
    select declared_at, 'obligation/' || key, 'obligation.declared',
           jsonb_build_object('profile', profile_version, 'opens_at', opens_at, 'tzdata', %(tzdata)s::text)
      from (select key, declared_at, opens_at, profile_version from declared
            union all
            select key, declared_at, opens_at, profile_version from briefs) as both_kinds
)
select key from declared order by key
"""

_RESTAMP = """
with day as (
    select *
      from unnest(%(zones)s::text[], %(opens)s::time[], %(ready_by)s::time[], %(useful_until)s::time[],
                  %(dates)s::date[], %(day_starts)s::timestamptz[], %(opens_at)s::timestamptz[],
                  %(ready_by_at)s::timestamptz[], %(useful_until_at)s::timestamptz[])
        as day (zone, opens, ready_by, useful_until, local_date, day_starts_at, opens_at, ready_by_at, useful_until_at)
), restamped as (
    update obligation
       set profile_version = profile.version, tzdata = %(tzdata)s, day_starts_at = day.day_starts_at,
           opens_at = day.opens_at, ready_by_at = day.ready_by_at, useful_until_at = day.useful_until_at
      from owner
      join profile on profile.owner = owner.name and profile.version = owner.profile_version
      join day on (day.zone, day.opens, day.ready_by, day.useful_until)
                = (profile.zone, profile.opens, profile.ready_by, profile.useful_until)
     where obligation.owner = owner.name
       and obligation.local_date = day.local_date
       and obligation.status = 'declared'
       and (obligation.profile_version, obligation.tzdata) <> (profile.version, %(tzdata)s)
       and not exists (select 1
                         from obligation as morning
                        where morning.key = obligation.follows
                          and morning.status <> 'declared')
    returning obligation.key, obligation.profile_version, obligation.opens_at
), noted as (
    insert into audit (at, subject, event, facts)
    select ledger_now(), 'obligation/' || key, 'obligation.restamped',
           jsonb_build_object('profile', profile_version, 'opens_at', opens_at, 'tzdata', %(tzdata)s::text)
      from restamped
)
select key from restamped order by key
"""

_QUEUE = """
with held as materialized (
    select key
      from obligation
     where status = 'declared'
       and follows is null
       and (%(key)s::text is null or key = %(key)s)
       and (opens_at <= ledger_now() or %(early)s)
       and useful_until_at > ledger_now()
     order by opens_at
     limit %(limit)s
       for no key update skip locked
), found as materialized (
    select key, 'obligation/' || key as work_key, ledger_now() as at from held
), worked as (
    insert into work (key, kind, budget, moved_at)
    select work_key, 'obligation', %(budget)s, at from found
), queued as (
    update obligation
       set status = 'queued', work_key = found.work_key, queued_at = found.at
      from found
     where obligation.key = found.key
    returning obligation.key, obligation.work_key, found.at
), noted as (
    insert into audit (at, subject, event, facts)
    select at, work_key, 'obligation.queued', jsonb_build_object('early', %(early)s::boolean) from queued
)
select key from queued order by key
"""

_MISS = """
with held as materialized (
    select obligation.key, obligation.status, obligation.work_key
      from obligation
      left join work on work.key = obligation.work_key
     where obligation.status in ('declared', 'queued')
       and obligation.follows is null
       and obligation.started_at is null
       and obligation.useful_until_at <= ledger_now()
     order by obligation.useful_until_at
     limit %(limit)s
       for no key update of obligation skip locked
), locked as materialized (
    select work.key
      from work
      join held on held.work_key = work.key
     where work.holder is null
       for no key update of work skip locked
), found as materialized (
    select held.key, held.work_key, ledger_now() as at
      from held
     where held.work_key is null
        or held.work_key in (select key from locked)
), closed as (
    update work set closed_at = found.at, moved_at = found.at from found where work.key = found.work_key
), missed as (
    update obligation
       set status = 'missed', ended_at = found.at
      from found
     where obligation.key = found.key
       and obligation.started_at is null
    returning obligation.key, found.at
), briefs as (
    update obligation
       set status = 'missed', ended_at = found.at
      from found
     where obligation.follows = found.key
       and obligation.status = 'declared'
    returning obligation.key, found.at
), noted as (
    insert into audit (at, subject, event)
    select at, 'obligation/' || key, 'obligation.missed'
      from (select key, at from missed union all select key, at from briefs) as both_kinds
)
select key from missed order by key
"""


def plan(conn: Conn, *, owner: str | None = None, limit: int = 1000) -> Planned:
    """none -> declared, declared -> queued, declared, queued -> missed: for every owner, or for one.

    An owner whose zone the pinned table does not know is refused by name and delays nobody else.
    """
    done = Planned()
    days = _days(conn, owner, done)
    if days["zones"]:
        done.declared = _keys(conn, _DECLARE, owner=owner, **_intents(), **days)
        done.restamped = _keys(conn, _RESTAMP, tzdata=calendar.TZDATA, **days)
        crashpoint("plan.after_insert")
    done.queued = _keys(conn, _QUEUE, key=None, early=False, limit=limit, budget=limits.BUDGET)
    done.missed = _keys(conn, _MISS, limit=limit)
    return done


def queue_early(conn: Conn, key: str) -> bool:
    """declared -> queued: one morning before its window opens, because somebody asked. Returns whether it moved."""
    return bool(_keys(conn, _QUEUE, key=key, early=True, limit=1, budget=limits.BUDGET))


def _keys(conn: Conn, statement: Any, **parameters: object) -> list[str]:
    return [found["key"] for found in rows(conn, statement, **parameters)]


def _intents() -> dict[str, object]:
    return {
        "plan": plans.CURRENT,
        "tzdata": calendar.TZDATA,
        "intent": hash_of(plans.intent(plans.MORNING, plans.CURRENT)),
        "brief_intent": hash_of(plans.intent(plans.BRIEF, plans.CURRENT)),
    }


def _days(conn: Conn, owner: str | None, done: Planned) -> dict[str, list[object]]:
    shapes: list[Row] = []
    windows: list[calendar.Window] = []
    for shape in rows(conn, _SHAPES, owner=owner):
        try:
            windows.append(_window(shape))
            shapes.append(shape)
        except ProfileRefused as refused:
            for name in shape["owners"]:
                done.refused[name] = refused.message
                decision.note(conn, f"owner/{name}", "plan.refused", refused.message)
    columns: dict[str, list[object]] = {
        "zones": [shape["zone"] for shape in shapes],
        "opens": [shape["opens"] for shape in shapes],
        "ready_by": [shape["ready_by"] for shape in shapes],
        "useful_until": [shape["useful_until"] for shape in shapes],
        "dates": [window.local_date for window in windows],
        "day_starts": [window.day_starts_at for window in windows],
        "opens_at": [window.opens_at for window in windows],
        "ready_by_at": [window.ready_by_at for window in windows],
        "useful_until_at": [window.useful_until_at for window in windows],
    }
    return columns


def _window(shape: Row) -> calendar.Window:
    at, opens, ready_by, useful = shape["at"], shape["opens"], shape["ready_by"], shape["useful_until"]
    assert isinstance(at, datetime)
    assert isinstance(opens, time)
    return calendar.window(at, shape["zone"], opens=opens, ready_by=ready_by, useful_until=useful)
