"""Asking for today's morning by hand: the planner's own row, queued at once."""

from __future__ import annotations

from datetime import date

from matins.ledger import profile
from matins.ledger.plan import plan
from matins.ledger.query import row
from matins.ledger.work import Conn
from matins.rules import calendar, keys, limits, plans
from matins.rules.errors import DateConflict, NoSuchRow, ProfileMissing, ProfileRefused, Refused

_TODAY = """
select ledger_now() as at, profile.zone
  from owner
  join profile on profile.owner = owner.name and profile.version = owner.profile_version
 where owner.name = %(owner)s
"""
_OBLIGATION = "select key from obligation where key = %(key)s"
_QUEUE = """
with held as materialized (
    select key, useful_until_at
      from obligation
     where key = %(key)s
       and status = 'declared'
       and follows is null
       for no key update
), found as materialized (
    select key, 'obligation/' || key as work_key, ledger_now() as at
      from held
     where useful_until_at > ledger_now()
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
    select at, work_key, 'obligation.queued', jsonb_build_object('early', true) from queued
)
select key from queued
"""


def queue_early(conn: Conn, key: str) -> bool:
    """obligation declared -> queued: one morning before its window opens, because somebody asked.

    Waits for whoever moves the row now. Returns whether it moved.
    """
    return row(conn, _QUEUE, key=key, budget=limits.BUDGET) is not None


def today(conn: Conn, owner: str) -> date:
    """The owner's date at the database's instant. Raises ProfileMissing."""
    found = row(conn, _TODAY, owner=owner)
    if found is None:
        raise ProfileMissing(f'there is no profile for "{owner[:40]}"; apply one: matins profile apply FILE')
    return calendar.local_date(found["at"], found["zone"])


def ask(conn: Conn, owner: str, *, on: date | None = None) -> str:
    """Queue today's morning of one owner now, whether or not its window is open. Returns its key.

    Meets the same row as the planner does. `on` is only compared: another date than the owner's today raises
    DateConflict naming both. Raises ProfileMissing, ProfileRefused, NoSuchRow when today is not owed, or Refused when
    the owner was ended.
    """
    day = today(conn, owner)
    if on is not None and on != day:
        raise DateConflict(
            f"{owner}'s day is {day.isoformat()}, you asked for {on.isoformat()}; leave the date out to run today's"
        )
    if profile.current(conn, owner).ended_at is not None:
        raise Refused(f"{owner} was ended: nothing is owed. To begin anew, apply a profile: matins profile apply FILE")
    planned = plan(conn, owner=owner)
    if owner in planned.refused:
        raise ProfileRefused(f"{owner}: {planned.refused[owner]}")
    key = keys.obligation(owner, plans.MORNING, day)
    queue_early(conn, key)
    if row(conn, _OBLIGATION, key=key) is None:
        raise NoSuchRow(
            f"nothing is owed to {owner} today: its useful-until had passed before there was a profile",
            key=key,
        )
    return key
