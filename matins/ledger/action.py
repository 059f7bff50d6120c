"""Actions: one effect of one step, its intent and the hash of its exact bytes committed before the call.

One row per key. A replacement is the same row at generation + 1 with the same frozen bytes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from psycopg.types.json import Jsonb

from matins.ledger.query import row, rows
from matins.ledger.work import Claim, Conn, explain_holder
from matins.rules.canonical import sha256
from matins.rules.effects import EFFECTS
from matins.rules.errors import ActionInFlight, Closed, IntentConflict, LeaseLost, OutputConflict
from matins.rules.receipt import Receipt


@dataclass(frozen=True, slots=True)
class Started:
    """An effect that may now be called, or the receipt of the one that an earlier life already recorded."""

    key: str
    generation: int
    receipt: Receipt | None


@dataclass(frozen=True, slots=True)
class Stalled:
    """An effect in flight whose owner is dead."""

    key: str
    token: int


_FROZEN_REQUEST = """
select frozen.bytes
  from action
  join frozen on frozen.hash = action.request_hash
 where action.key = %(key)s
"""


def frozen_request(conn: Conn, key: str) -> bytes | None:
    """The bytes frozen under this action's key, or None: after the freeze nobody renders again."""
    found = row(conn, _FROZEN_REQUEST, key=key)
    return found["bytes"] if found else None


_FROZEN = "select bytes from frozen where hash = %(hash)s"


def frozen(conn: Conn, content_hash: str) -> bytes | None:
    """The bytes frozen under their hash, or None."""
    found = row(conn, _FROZEN, hash=content_hash)
    return found["bytes"] if found else None


_START = """
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
), started as (
    insert into action (key, subject, step, work_key, token, status, repeat, provider, request_hash, started_at)
    select %(key)s, %(subject)s, %(step)s, key, token, 'in_flight', %(repeat)s, %(provider)s, %(request_hash)s, at
      from live
    on conflict (key) do update
       set token = excluded.token, generation = action.generation + 1, status = 'in_flight',
           provider = excluded.provider, started_at = excluded.started_at, ended_at = null, reason = null
     where action.status in ('abandoned', 'not_done')
       and action.request_hash = excluded.request_hash
    returning key, work_key, token, generation, step, request_hash, started_at
), kept as (
    insert into frozen (hash, bytes, frozen_at)
    select content.hash, content.bytes, started.started_at
      from started, unnest(%(hashes)s::text[], %(contents)s::bytea[]) as content (hash, bytes)
    on conflict (hash) do nothing
), counted as (
    update work
       set in_flight = work.in_flight + 1, moved_at = started.started_at
      from started
     where work.key = started.work_key
), noted as (
    insert into audit (at, subject, event, token, facts)
    select started_at, work_key, 'action.started', token,
           jsonb_build_object('action', key, 'generation', generation, 'request_hash', request_hash)
      from started
)
select key, generation from started
"""
_FOUND = "select * from action where key = %(key)s"


def start(
    conn: Conn, claim: Claim, *, key: str, subject: str, step: str, provider: str, contents: Sequence[bytes]
) -> Started:
    """action none, abandoned, not_done -> in_flight: the first of `contents` is the request; all of them are frozen
    with it.

    If an earlier life of this key already recorded its effect, its receipt is returned and nothing starts. Raises
    LeaseLost, ActionInFlight, Closed (refused for good), or IntentConflict when other bytes are frozen under the key.
    """
    hashes = [sha256(content) for content in contents]
    got = row(
        conn,
        _START,
        work_key=claim.key,
        token=claim.token,
        key=key,
        subject=subject,
        step=step,
        repeat=EFFECTS[step].repeat.value,
        provider=provider,
        request_hash=hashes[0],
        hashes=hashes,
        contents=list(contents),
    )
    if got is not None:
        return Started(key=got["key"], generation=got["generation"], receipt=None)
    return _already(conn, claim, key=key, request_hash=hashes[0])


def _already(conn: Conn, claim: Claim, *, key: str, request_hash: str) -> Started:
    found = row(conn, _FOUND, key=key)
    if found is None:
        raise explain_holder(conn, claim.key, token=claim.token)
    if found["request_hash"] != request_hash:
        raise IntentConflict(key=key, stored=found["request_hash"], asked=request_hash)
    if found["status"] == "completed":
        receipt = Receipt(found["provider"], found["reference"], found["receipt"] or {})
        return Started(key=key, generation=found["generation"], receipt=receipt)
    if found["status"] == "refused":
        raise Closed("its effect was refused for good", key=key)
    if found["status"] in ("abandoned", "not_done"):
        raise LeaseLost(key=claim.key)
    raise ActionInFlight(key=key)


_RECORD = """
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
), recorded as (
    update action
       set status = %(status)s, provider = coalesce(%(provider)s, provider), reference = %(reference)s,
           receipt = %(receipt)s, reason = %(reason)s, ended_at = live.at
      from live
     where action.key = %(key)s
       and action.work_key = live.key
       and action.token = live.token
       and action.status = 'in_flight'
    returning action.key, action.work_key, action.token, action.status, live.at
), counted as (
    update work
       set in_flight = work.in_flight - 1, moved_at = recorded.at
      from recorded
     where work.key = recorded.work_key
), noted as (
    insert into audit (at, subject, event, token, facts)
    select at, work_key, 'action.' || status, token,
           jsonb_strip_nulls(jsonb_build_object('action', key, 'provider', %(provider)s::text,
               'reference', %(reference)s::text, 'reason', %(reason)s::text))
      from recorded
)
select key from recorded
"""


def record_completed(conn: Conn, claim: Claim, *, key: str, receipt: Receipt) -> None:
    """action in_flight -> completed: the provider's receipt is kept.

    The same receipt again is answered alike; another one raises OutputConflict. Raises LeaseLost.
    """
    _record(conn, claim, key, "completed", receipt.provider, receipt.reference, Jsonb(receipt.evidence), None)


def record_refused(conn: Conn, claim: Claim, *, key: str, reason: str) -> None:
    """action in_flight -> refused: it did not happen and will not. Raises LeaseLost."""
    _record(conn, claim, key, "refused", None, None, None, reason)


def record_not_done(conn: Conn, claim: Claim, *, key: str, reason: str) -> None:
    """action in_flight -> not_done: it did not happen and may be tried again; the attempt stays spent. Raises
    LeaseLost.
    """
    _record(conn, claim, key, "not_done", None, None, None, reason)


def _record(
    conn: Conn,
    claim: Claim,
    key: str,
    status: str,
    provider: str | None,
    reference: str | None,
    receipt: Any,
    reason: str | None,
) -> None:
    wanted = {"status": status, "provider": provider, "reference": reference, "reason": reason}
    done = row(conn, _RECORD, work_key=claim.key, token=claim.token, key=key, receipt=receipt, **wanted)
    if done is not None:
        return
    found = row(conn, _FOUND, key=key)
    if found is None or found["token"] != claim.token or found["status"] != status:
        raise explain_holder(conn, claim.key, token=claim.token)
    if reference != found["reference"]:
        raise OutputConflict(key=key, stored=found["reference"], asked=str(reference))


_FIND_STALLED = """
select action.key, action.token
  from action
  join work on work.key = action.work_key
 where action.status = 'in_flight'
   and (work.token > action.token or work.holder is null or work.lease_expires_at <= ledger_now())
 order by action.started_at
 limit %(limit)s
"""


def find_stalled(conn: Conn, *, limit: int = 100) -> list[Stalled]:
    """Effects in flight whose owner is dead, oldest first: a hint for `abandon`."""
    return [Stalled(**found) for found in rows(conn, _FIND_STALLED, limit=limit)]


_STALLED_IN = """
select action.key, action.token
  from action
  join work on work.key = action.work_key
 where action.work_key = %(work_key)s
   and action.status = 'in_flight'
   and (work.token > action.token or work.holder is null or work.lease_expires_at <= ledger_now())
"""


def stalled_in(conn: Conn, work_key: str) -> list[Stalled]:
    """Effects in flight of one work row whose owner is dead."""
    return [Stalled(**found) for found in rows(conn, _STALLED_IN, work_key=work_key)]


_ABANDON = """
with held as materialized (
    select work.*
      from work
     where key = (select work_key from action where key = %(key)s)
       for no key update
), dead as materialized (
    select *, ledger_now() as at
      from held
     where token > %(token)s
        or holder is null
        or lease_expires_at <= ledger_now()
), abandoned as (
    update action
       set status = case repeat when 'harmless' then 'abandoned' else 'uncertain' end,
           reason = 'its worker died', ended_at = dead.at
      from dead
     where action.key = %(key)s
       and action.work_key = dead.key
       and action.token = %(token)s
       and action.status = 'in_flight'
    returning action.key, action.work_key, action.token, action.status, dead.token as work_token, dead.holder,
           dead.lease_expires_at, dead.at
), counted as (
    update work
       set in_flight = work.in_flight - 1,
           holder = case when abandoned.status = 'abandoned' then work.holder end,
           lease_expires_at = case when abandoned.status = 'abandoned' then work.lease_expires_at end,
           deadline_at = case when abandoned.status = 'abandoned' then work.deadline_at end,
           closed_at = case when abandoned.status = 'uncertain' then abandoned.at end,
           moved_at = abandoned.at
      from abandoned
     where work.key = abandoned.work_key
    returning work.key
), message_moved as (
    update message
       set status = 'uncertain', look_at = abandoned.at,
           quarantine_until = abandoned.at + make_interval(secs => %(quarantine)s),
           reason = 'its worker died during the send'
      from abandoned
     where message.work_key = abandoned.work_key
       and message.status = 'sending'
       and abandoned.status = 'uncertain'
    returning message.work_key, message.reason, abandoned.token, abandoned.at
), noted as (
    insert into audit (at, subject, event, token, facts)
    select at, work_key, 'action.' || status, token,
           jsonb_strip_nulls(jsonb_build_object('action', key, 'seen_token', work_token, 'holder', holder,
               'lease_expired_at', lease_expires_at))
      from abandoned
    union all
    select at, work_key, 'message.uncertain', token, jsonb_build_object('reason', reason) from message_moved
)
select key, status from abandoned
"""


def abandon(conn: Conn, key: str, *, token: int, quarantine: float) -> str | None:
    """action in_flight -> abandoned, uncertain; message sending -> uncertain: its owner is dead.

    Seen by the token observed and the lease's expiry. An uncertain message is looked for at once, and "not found"
    proves nothing for `quarantine` seconds. Returns the new status, or None when the owner lives or the action moved
    meanwhile.
    """
    found = row(conn, _ABANDON, key=key, token=token, quarantine=quarantine)
    return found["status"] if found else None
