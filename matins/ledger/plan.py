"""The planner: declares what is owed by local date, queues it when its window opens, and lets go of what is too late.

Local dates and windows are computed in Python, once for each distinct zone and window, and handed to set statements.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date, timedelta
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
with waiting as materialized (
    select owner, min(local_date) as first, max(local_date) as last
      from obligation
     where status = 'declared'
       and follows is null
     group by owner
)
select ledger_now() as at, profile.zone, profile.opens, profile.ready_by, profile.useful_until,
       array_agg(owner.name order by owner.name) as owners,
       min(planned.last) as planned, min(owner.created_at) filter (where planned.last is null) as since,
       min(waiting.first) as waiting_first, max(waiting.last) as waiting_last
  from owner
  join profile on profile.owner = owner.name and profile.version = owner.profile_version
  left join waiting on waiting.owner = owner.name
 cross join lateral (select min(last) as last
                       from unnest(profile.products) as product (name)
                      cross join lateral (select max(local_date) as last
                                            from obligation
                                           where obligation.owner = owner.name
                                             and obligation.product = product.name) as newest) as planned
 where owner.ended_at is null
   and (%(owner)s::text is null or owner.name = %(owner)s)
 group by profile.zone, profile.opens, profile.ready_by, profile.useful_until
"""

_DECLARE = """
with day as (
    select *
      from unnest(%(zones)s::text[], %(opens)s::time[], %(ready_by)s::time[], %(useful_until)s::time[],
                  %(dates)s::date[], %(day_starts)s::timestamptz[], %(opens_at)s::timestamptz[],
                  %(ready_by_at)s::timestamptz[], %(useful_until_at)s::timestamptz[])
        as day (zone, opens, ready_by, useful_until, local_date, day_starts_at, opens_at, ready_by_at, useful_until_at)
), moment as materialized (
    select ledger_now() as at
), due as (
    select owner.name as owner, profile.version, product.name as product, day.*,
           owner.name || '/' || product.name || '/' || to_char(day.local_date, 'YYYY-MM-DD') as key
      from owner
      join profile on profile.owner = owner.name and profile.version = owner.profile_version
      join day on (day.zone, day.opens, day.ready_by, day.useful_until)
                = (profile.zone, profile.opens, profile.ready_by, profile.useful_until)
     cross join lateral unnest(profile.products) as product (name)
     where owner.ended_at is null
       and (%(owner)s::text is null or owner.name = %(owner)s)
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
           day_starts_at, opens_at, ready_by_at, useful_until_at, at
      from due
     cross join moment
     order by key
    on conflict (owner, product, local_date) do nothing
    returning *
), briefs as (
    insert into obligation (key, owner, product, local_date, status, plan, intent_hash, profile_version, tzdata,
                            day_starts_at, opens_at, ready_by_at, useful_until_at, declared_at, follows)
    select owner || '/brief/' || to_char(local_date, 'YYYY-MM-DD'), owner, 'brief', local_date, 'declared', %(plan)s,
           %(brief_intent)s, profile_version, tzdata, day_starts_at, opens_at, ready_by_at, useful_until_at,
           declared_at, key
      from declared
     order by key
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
), moment as materialized (
    select ledger_now() as at
), held as materialized (
    select obligation.key, profile.version, day.*
      from obligation
      join owner on owner.name = obligation.owner
      join profile on profile.owner = owner.name and profile.version = owner.profile_version
      join day on (day.zone, day.opens, day.ready_by, day.useful_until, day.local_date)
                = (profile.zone, profile.opens, profile.ready_by, profile.useful_until, obligation.local_date)
     where obligation.status = 'declared'
       and (obligation.profile_version, obligation.tzdata) <> (profile.version, %(tzdata)s)
       and not exists (select 1
                         from obligation as morning
                        where morning.key = obligation.follows
                          and morning.status <> 'declared')
     order by obligation.key
       for no key update of obligation skip locked
), restamped as (
    update obligation
       set profile_version = held.version, tzdata = %(tzdata)s, day_starts_at = held.day_starts_at,
           opens_at = held.opens_at, ready_by_at = held.ready_by_at, useful_until_at = held.useful_until_at
      from held
     where obligation.key = held.key
    returning obligation.key, obligation.profile_version, obligation.opens_at
), noted as (
    insert into audit (at, subject, event, facts)
    select at, 'obligation/' || key, 'obligation.restamped',
           jsonb_build_object('profile', profile_version, 'opens_at', opens_at, 'tzdata', %(tzdata)s::text)
      from restamped
     cross join moment
)
select key from restamped order by key
"""

_QUEUE = """
with held as materialized (
    select key
      from obligation
     where status = 'declared'
       and follows is null
       and opens_at <= ledger_now()
       and useful_until_at > ledger_now()
       and not exists (select 1 from owner where owner.name = obligation.owner and owner.ended_at is not null)
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
    select at, work_key, 'obligation.queued', jsonb_build_object('early', false) from queued
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
    """obligation none -> declared; obligation declared -> queued; obligation declared, queued -> missed: for every
    owner, or declared for one.

    Dates on which nobody planned are declared too, and missed at once. An owner whose zone the pinned table does not
    know is refused by name and delays nobody else.
    """
    done = Planned()
    owed, waiting = _days(conn, owner, done)
    if owed["zones"]:
        done.declared = _keys(conn, _DECLARE, owner=owner, **_intents(), **owed)
        crashpoint("plan.after_insert")
    if waiting["zones"]:
        done.restamped = _keys(conn, _RESTAMP, tzdata=calendar.TZDATA, **waiting)
    done.queued = _keys(conn, _QUEUE, limit=limit, budget=limits.BUDGET)
    done.missed = _keys(conn, _MISS, limit=limit)
    return done


def _keys(conn: Conn, statement: Any, **parameters: object) -> list[str]:
    return [found["key"] for found in rows(conn, statement, **parameters)]


def _intents() -> dict[str, object]:
    return {
        "plan": plans.CURRENT,
        "tzdata": calendar.TZDATA,
        "intent": hash_of(plans.intent(plans.MORNING, plans.CURRENT)),
        "brief_intent": hash_of(plans.intent(plans.BRIEF, plans.CURRENT)),
    }


def _days(conn: Conn, owner: str | None, done: Planned) -> tuple[dict[str, list[object]], dict[str, list[object]]]:
    """The days that may have to be declared, and those whose declared rows may have to be restamped."""
    owed, waiting = [], []
    for shape in rows(conn, _SHAPES, owner=owner):
        try:
            owed += [(shape, day) for day in _owed(shape)]
            waiting += [(shape, day) for day in _waiting(shape)]
        except ProfileRefused as refused:
            for name in shape["owners"]:
                done.refused[name] = refused.message
                decision.note(conn, f"owner/{name}", "plan.refused", refused.message)
    return _columns(owed), _columns(waiting)


def _owed(shape: Row) -> list[date]:
    zone, today = shape["zone"], calendar.local_date(shape["at"], shape["zone"])
    first = today
    if shape["planned"] is not None:
        first = min(first, shape["planned"] + timedelta(days=1))
    if shape["since"] is not None:
        first = min(first, calendar.local_date(shape["since"], zone))
    return calendar.days(max(first, today - timedelta(days=limits.FILL_DAYS)), today, zone)


def _waiting(shape: Row) -> list[date]:
    if shape["waiting_first"] is None:
        return []
    return calendar.days(shape["waiting_first"], shape["waiting_last"], shape["zone"])


def _columns(days: list[tuple[Row, date]]) -> dict[str, list[object]]:
    windows = [(shape, _window(shape, day)) for shape, day in days]
    return {
        "zones": [shape["zone"] for shape, _ in windows],
        "opens": [shape["opens"] for shape, _ in windows],
        "ready_by": [shape["ready_by"] for shape, _ in windows],
        "useful_until": [shape["useful_until"] for shape, _ in windows],
        "dates": [window.local_date for _, window in windows],
        "day_starts": [window.day_starts_at for _, window in windows],
        "opens_at": [window.opens_at for _, window in windows],
        "ready_by_at": [window.ready_by_at for _, window in windows],
        "useful_until_at": [window.useful_until_at for _, window in windows],
    }


def _window(shape: Row, day: date) -> calendar.Window:
    names = ("opens", "ready_by", "useful_until")
    return calendar.window_on(day, shape["zone"], **{name: shape[name] for name in names})
