"""How a try ends badly: failed and spaced for another one, exhausted, or out of attempts with its last holder dead.

The same rule as in the kernel: lock the work row first, judge after. (Ingest windows have statements of their own.)
"""

from __future__ import annotations

from dataclasses import dataclass

from matins.ledger.query import row, rows
from matins.ledger.work import Conn, explain_holder
from matins.rules import limits


@dataclass(frozen=True, slots=True)
class Failed:
    """What a recorded failure led to: the next try, or the end."""

    key: str
    exhausted: bool
    wait: float | None
    """Seconds until it may be claimed again; None when exhausted."""


_FAIL = """
with held as materialized (
    select *
      from work
     where key = %(key)s
       and token = %(token)s
       for no key update
), live as materialized (
    select *, ledger_now() as at, kind <> 'page' and (attempts >= budget or %(final)s) as spent
      from held
     where lease_expires_at > ledger_now()
       and in_flight = 0
       and kind <> 'ingest'
), freed as (
    update work
       set holder = null, lease_expires_at = null, deadline_at = null,
           retry_at = case when not live.spent then live.at + make_interval(
               secs => coalesce(%(retry_after)s, (%(spacing)s::float8[])[least(live.attempts, 4)])) end,
           attempts = case live.kind when 'page' then least(live.attempts, live.budget - 1) else live.attempts end,
           closed_at = case when live.spent then live.at end,
           moved_at = live.at
      from live
     where work.key = live.key
    returning work.key, work.kind, work.step, work.token, work.retry_at, live.spent, live.at
), obligation_moved as (
    update obligation
       set status = case when freed.spent then 'exhausted' else 'queued' end,
           ended_at = case when freed.spent then freed.at end
      from freed
     where obligation.work_key = freed.key
       and obligation.status = 'running'
    returning obligation.key, freed.spent, freed.at
), continuation_moved as (
    update continuation
       set status = case when freed.spent then 'exhausted' else 'pending' end,
           ended_at = case when freed.spent then freed.at end
      from freed
     where continuation.work_key = freed.key
       and continuation.status = 'running'
    returning continuation.key, freed.spent, freed.at
), message_moved as (
    update message
       set status = case when freed.spent then 'dead' else 'pending' end,
           ended_at = case when freed.spent then freed.at end,
           reason = %(reason)s
      from freed
     where message.work_key = freed.key
       and message.status = 'sending'
    returning message.key
), brief_moved as (
    update obligation
       set status = 'exhausted', ended_at = ended.at
      from (select key, at from obligation_moved where spent
            union all
            select key, at from continuation_moved where spent) as ended
     where obligation.follows = ended.key
       and obligation.status = 'declared'
    returning obligation.key, ended.at
), noted as (
    insert into audit (at, subject, event, token, facts)
    select at, key, kind || case when not spent then '.failed' when kind = 'message' then '.dead' else '.exhausted' end,
           token,
           jsonb_strip_nulls(jsonb_build_object('step', step, 'reason', %(reason)s::text, 'retry_at', retry_at))
      from freed
    union all
    select at, 'obligation/' || key, 'obligation.exhausted', null, jsonb_build_object('with', %(key)s::text)
      from brief_moved
)
select key, spent as exhausted, extract(epoch from retry_at - at)::float8 as wait
  from freed
"""


def fail(
    conn: Conn, key: str, *, token: int, reason: str, retry_after: float | None = None, final: bool = False
) -> Failed:
    """obligation running -> queued, exhausted; obligation declared -> exhausted; continuation running -> pending,
    exhausted; message sending -> pending, dead: spaced by the number of tries; the last try ends it, as does `final`.

    A `brief` (declared) is exhausted with its morning; a page is tried for ever. `reason` is a short sentence without
    addresses or text from outside. Raises LeaseLost or ActionInFlight.
    """
    got = row(
        conn,
        _FAIL,
        key=key,
        token=token,
        reason=reason,
        retry_after=retry_after,
        final=final,
        spacing=list(limits.SPACING),
    )
    if got is None:
        raise explain_holder(conn, key, token=token)
    return Failed(**got)


_FIND_SPENT = """
select work.key
  from (select work_key from obligation where status = 'running'
        union all
        select work_key from continuation where status = 'running'
        union all
        select work_key from message where status = 'sending'
        union all
        select work_key from page where dirty) as begun
  join work on work.key = begun.work_key
 where work.holder is not null
   and work.lease_expires_at <= ledger_now()
   and work.attempts >= work.budget
   and work.in_flight = 0
 order by work.lease_expires_at
 limit %(limit)s
   for no key update of work skip locked
"""


def find_spent(conn: Conn, *, limit: int = 100) -> list[str]:
    """Keys whose last holder died on the last attempt: a hint for `expire`, oldest first."""
    return [found["key"] for found in rows(conn, _FIND_SPENT, limit=limit)]


_EXPIRE = """
with held as materialized (
    select *
      from work
     where key = %(key)s
       for no key update
), dead as materialized (
    select *, ledger_now() as at
      from held
     where holder is not null
       and lease_expires_at <= ledger_now()
       and attempts >= budget
       and in_flight = 0
       and kind <> 'ingest'
), freed as (
    update work
       set holder = null, lease_expires_at = null, deadline_at = null,
           retry_at = case dead.kind when 'page' then dead.at + make_interval(secs => %(rest)s) end,
           attempts = case dead.kind when 'page' then dead.budget - 1 else dead.attempts end,
           closed_at = case when dead.kind <> 'page' then dead.at end, moved_at = dead.at
      from dead
     where work.key = dead.key
    returning work.key, work.kind, work.step, work.token, dead.holder as old_holder,
           dead.lease_expires_at as old_expiry, dead.at
), obligation_moved as (
    update obligation set status = 'exhausted', ended_at = freed.at from freed
     where obligation.work_key = freed.key and obligation.status = 'running'
    returning obligation.key, freed.at
), continuation_moved as (
    update continuation set status = 'exhausted', ended_at = freed.at from freed
     where continuation.work_key = freed.key and continuation.status = 'running'
    returning continuation.key, freed.at
), message_moved as (
    update message set status = 'dead', ended_at = freed.at, reason = 'its workers died' from freed
     where message.work_key = freed.key and message.status = 'sending'
    returning message.key
), brief_moved as (
    update obligation
       set status = 'exhausted', ended_at = ended.at
      from (select key, at from obligation_moved union all select key, at from continuation_moved) as ended
     where obligation.follows = ended.key
       and obligation.status = 'declared'
    returning obligation.key, ended.at
), noted as (
    insert into audit (at, subject, event, token, facts)
    select at, key, kind || case kind when 'message' then '.dead' when 'page' then '.rested' else '.exhausted' end,
           token,
           jsonb_strip_nulls(jsonb_build_object('step', step, 'reason', 'its workers died', 'old_holder', old_holder,
               'old_expiry', old_expiry))
      from freed
    union all
    select at, 'obligation/' || key, 'obligation.exhausted', null, jsonb_build_object('with', %(key)s::text)
      from brief_moved
)
select key from freed
"""


def expire(conn: Conn, key: str) -> bool:
    """obligation running, declared -> exhausted; continuation running -> exhausted; message sending -> dead: out of
    attempts, and its last holder is dead. A `brief` (declared) is exhausted with its morning. A page is never given
    up: it rests for an hour, and has one attempt again. Returns whether it moved.
    """
    return row(conn, _EXPIRE, key=key, rest=limits.PAGE_REST) is not None
