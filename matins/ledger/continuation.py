"""Continuations: what comes after research, one step at a time, in the order of the plan."""

from __future__ import annotations

from matins.ledger.move import DONE, Move
from matins.ledger.query import row, rows
from matins.ledger.work import Claim, Conn, explain_holder
from matins.rules import plans
from matins.rules.errors import Closed, NoSuchRow, OutputConflict

_FIND = """
select continuation.key, continuation.status, continuation.plan, continuation.work_key, work.step, work.budget_token
  from continuation
  join work on work.key = continuation.work_key
 where continuation.key = %(key)s
"""

_COMPLETE_STEP = """
with held as materialized (
    select *
      from work
     where key = %(work_key)s
       and token = %(token)s
       and step = %(step)s
       for no key update
), live as materialized (
    select *, ledger_now() as at
      from held
     where lease_expires_at > ledger_now()
       and in_flight = 0
), freed as (
    update work
       set holder = null, lease_expires_at = null, deadline_at = null, retry_at = null,
           step = %(next_step)s, attempts = 0, budget_token = live.token,
           closed_at = case when %(next_step)s::text is null then live.at end, moved_at = live.at
      from live
     where work.key = live.key
    returning work.key, work.token, live.at
), moved as (
    update continuation
       set status = case when %(next_step)s::text is null then 'done' else 'pending' end,
           ended_at = case when %(next_step)s::text is null then freed.at end
      from freed
     where continuation.work_key = freed.key
       and continuation.status = 'running'
    returning continuation.key, freed.token, freed.at
), written as (
    insert into action (key, subject, step, work_key, token, status, repeat, provider, request_hash, reference,
                        started_at, ended_at)
    select %(action)s, key, %(step)s, %(work_key)s, token, 'completed', 'harmless', 'ledger', %(request_hash)s,
           %(action)s, at, at
      from moved
     where %(action)s::text is not null
    returning key, work_key, token, provider, reference, started_at
), kept as (
    insert into frozen (hash, bytes, frozen_at)
    select %(request_hash)s, %(content)s, at from moved where %(action)s::text is not null
    on conflict (hash) do nothing
), noted as (
    insert into audit (at, subject, event, token, facts)
    select at, %(work_key)s, 'continuation.step_completed', token,
           jsonb_strip_nulls(jsonb_build_object('step', %(step)s::text, 'next', %(next_step)s::text))
      from moved
    union all
    select started_at, work_key, 'action.completed', token,
           jsonb_build_object('action', key, 'provider', provider, 'reference', reference)
      from written
)
select key from moved
"""


_WRITTEN = "select request_hash from action where key = %(key)s"


def complete_step(
    conn: Conn,
    key: str,
    claim: Claim,
    *,
    plan: int,
    written: tuple[str, str, bytes] | None = None,
) -> Move:
    """continuation running -> pending, done; action none -> completed: the claimed step is finished, the next is at
    hand.

    The next step has a budget of its own.
    `written` is (action key, hash, bytes) of a step whose only effect is a row of the ledger: that row is written here.
    Returns the next move. The same step already completed by this token is answered alike; with other bytes it raises
    OutputConflict. Raises LeaseLost or ActionInFlight.
    """
    step = str(claim.step)
    action, request_hash, content = written or (None, None, None)
    got = row(
        conn,
        _COMPLETE_STEP,
        work_key=claim.key,
        token=claim.token,
        step=step,
        next_step=plans.next_step(plan, step),
        action=action,
        request_hash=request_hash,
        content=content,
    )
    if got is None:
        confirm_completed(conn, key, claim)
        stored = row(conn, _WRITTEN, key=action)
        if stored is not None and stored["request_hash"] != request_hash:
            raise OutputConflict(key=key, stored=stored["request_hash"], asked=str(request_hash))
    return next_move(conn, key)


def confirm_completed(conn: Conn, key: str, claim: Claim) -> None:
    """Return if the step of `claim` was already completed under its token; else raise why it cannot be."""
    found = row(conn, _FIND, key=key)
    if found is None or found["budget_token"] != claim.token or found["step"] == claim.step:
        raise explain_holder(conn, claim.key, token=claim.token)


def next_move(conn: Conn, key: str) -> Move:
    """What to do next for a continuation: the step at hand, or `done`. Raises NoSuchRow."""
    found = row(conn, _FIND, key=key)
    if found is None:
        raise NoSuchRow(key=key)
    if found["status"] in ("done", "exhausted"):
        return Move(key, DONE)
    return Move(key, found["step"], found["work_key"])


def plan_of(conn: Conn, key: str) -> int:
    """The plan's version of this continuation. Raises NoSuchRow, or Closed when it has ended."""
    found = row(conn, _FIND, key=key)
    if found is None:
        raise NoSuchRow(key=key)
    if found["status"] in ("done", "exhausted"):
        raise Closed(key=key)
    return int(found["plan"])


_FIND_IDLE = """
select continuation.key, continuation.work_key
  from continuation
  join work on work.key = continuation.work_key
 where continuation.status in ('pending', 'running')
   and (work.lease_expires_at is null or work.lease_expires_at <= ledger_now())
   and (work.retry_at is null or work.retry_at <= ledger_now())
 order by continuation.created_at
 limit %(limit)s
"""


def find_idle(conn: Conn, *, limit: int = 500) -> list[tuple[str, str]]:
    """(key, work key) of continuations that somebody should be moving and nobody holds, oldest first."""
    return [(found["key"], found["work_key"]) for found in rows(conn, _FIND_IDLE, limit=limit)]
