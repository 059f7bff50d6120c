"""Messages of unknown fate: they may have been sent. What resolves them is evidence, or the owner's own decision."""

from __future__ import annotations

from dataclasses import dataclass

from psycopg.types.json import Jsonb

from matins.ledger.query import row
from matins.ledger.work import Claim, Conn, explain_holder
from matins.rules.receipt import Receipt, Sighting


@dataclass(frozen=True, slots=True)
class Doubt:
    """A message that may have been sent, and what its owner decided beforehand."""

    mail_id: str
    key: str
    proof: str
    if_unknown: str
    quarantine_over: bool
    late: bool


_DOUBTED = """
select mail_id, key, proof, if_unknown, quarantine_until <= ledger_now() as quarantine_over,
       useful_until_at <= ledger_now() as late
  from message
 where work_key = %(work_key)s
   and status = 'uncertain'
"""


def doubted(conn: Conn, work_key: str) -> Doubt | None:
    """What is needed to resolve an uncertain message, or None if it is not uncertain."""
    found = row(conn, _DOUBTED, work_key=work_key)
    return Doubt(**found) if found else None


_RESOLVE_ACCEPTED = """
with held as materialized (
    select key
      from work
     where key = %(work_key)s
       for no key update
), doubted as materialized (
    select action.key, action.work_key, action.token, action.status
      from action
      join held on action.work_key = held.key
     where action.status in ('uncertain', 'in_flight')
       for no key update of action
), found as materialized (
    select *, ledger_now() as at
      from doubted
     where coalesce(token = %(token)s::bigint, status = 'uncertain')
), recorded as (
    update action
       set status = 'completed', provider = coalesce(%(provider)s, provider), reference = %(reference)s,
           receipt = %(receipt)s, ended_at = found.at
      from found
     where action.key = found.key
    returning action.key, action.work_key, action.token, action.provider, action.reference,
              found.status as old_status, found.at
), freed as (
    update work
       set holder = null, lease_expires_at = null, deadline_at = null, retry_at = null,
           in_flight = work.in_flight - 1, closed_at = recorded.at, moved_at = recorded.at
      from recorded
     where work.key = recorded.work_key
       and recorded.old_status = 'in_flight'
), moved as (
    update message
       set status = 'accepted', provider = recorded.provider, reference = recorded.reference, reply = %(reply)s,
           accepted_at = recorded.at, reason = null,
           look_at = case when proof = 'mailbox' then recorded.at end
      from recorded
     where message.work_key = recorded.work_key
       and message.status in ('uncertain', 'sending')
    returning message.key, message.work_key, recorded.token, recorded.provider, recorded.reference, recorded.at
), noted as (
    insert into audit (at, subject, event, token, facts)
    select at, work_key, 'action.completed', token,
           jsonb_build_object('action', key, 'provider', provider, 'reference', reference)
      from recorded
    union all
    select at, work_key, 'message.accepted', token,
           jsonb_build_object('provider', provider, 'reference', reference, 'by', %(by)s::text)
      from moved
)
select key from moved
"""


def accept_late(conn: Conn, claim: Claim, receipt: Receipt) -> bool:
    """message uncertain, sending -> accepted; action uncertain, in_flight -> completed: a receipt after its lease died.

    Not fenced, because it is what an outsider answered; but it resolves only the attempt that it belongs to. Returns
    whether it moved.
    """
    got = row(
        conn,
        _RESOLVE_ACCEPTED,
        work_key=claim.key,
        token=claim.token,
        provider=receipt.provider,
        reference=receipt.reference,
        reply=receipt.evidence.get("reply", ""),
        receipt=Jsonb(receipt.evidence),
        by="a late receipt",
    )
    return got is not None


def accept_found(conn: Conn, work_key: str, *, mail_id: str, sighting: Sighting) -> bool:
    """message uncertain -> accepted; action uncertain -> completed: it was looked for and is there, so it was taken.

    Returns whether it moved.
    """
    got = row(
        conn,
        _RESOLVE_ACCEPTED,
        work_key=work_key,
        token=None,
        provider=None,
        reference=mail_id,
        reply=None,
        receipt=Jsonb({"found_by": sighting.mechanism, "placement": sighting.placement}),
        by=f"looked for and found in the {sighting.placement}",
    )
    return got is not None


_DOUBT = """
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
), doubted as (
    update action
       set status = 'uncertain', reason = %(reason)s, ended_at = live.at
      from live
     where action.work_key = live.key
       and action.token = live.token
       and action.status = 'in_flight'
    returning action.key, action.work_key, action.token, live.at
), freed as (
    update work
       set holder = null, lease_expires_at = null, deadline_at = null, retry_at = null,
           in_flight = work.in_flight - 1, closed_at = doubted.at, moved_at = doubted.at
      from doubted
     where work.key = doubted.work_key
    returning work.key, doubted.token, doubted.at
), moved as (
    update message
       set status = 'uncertain', reason = %(reason)s, look_at = freed.at,
           quarantine_until = freed.at + make_interval(secs => %(quarantine)s)
      from freed
     where message.work_key = freed.key
       and message.status = 'sending'
    returning message.key, message.work_key, freed.token, freed.at
), noted as (
    insert into audit (at, subject, event, token, facts)
    select at, work_key, 'action.uncertain', token, jsonb_build_object('action', key, 'reason', %(reason)s::text)
      from doubted
    union all
    select at, work_key, 'message.uncertain', token, jsonb_build_object('reason', %(reason)s::text) from moved
)
select key from moved
"""


def doubt(conn: Conn, claim: Claim, *, reason: str, quarantine: float) -> None:
    """message sending -> uncertain; action in_flight -> uncertain: it may have been sent, and is looked for.

    "Not found" proves nothing for `quarantine` seconds. Raises LeaseLost.
    """
    got = row(conn, _DOUBT, work_key=claim.key, token=claim.token, reason=reason, quarantine=quarantine)
    if got is None:
        raise explain_holder(conn, claim.key, token=claim.token)


_PROVE_NOT_SENT = """
with held as materialized (
    select *
      from work
     where key = %(work_key)s
       for no key update
), asked as materialized (
    select message.work_key, message.quarantine_until
      from message
      join held on message.work_key = held.key
     where message.status = 'uncertain'
       for no key update of message
), doubted as materialized (
    select action.key, action.work_key, action.token, action.refunded
      from action
      join held on action.work_key = held.key
     where action.status = 'uncertain'
       for no key update of action
), found as materialized (
    select doubted.key, doubted.work_key, doubted.token, held.attempts, held.budget, ledger_now() as at,
           case when doubted.token > held.budget_token and not doubted.refunded then 1 else 0 end as refund
      from held
      join asked on asked.work_key = held.key
      join doubted on doubted.work_key = held.key
     where asked.quarantine_until <= ledger_now()
        or %(waived)s
), proved as (
    update action
       set status = 'not_done', reason = %(reason)s, refunded = true, ended_at = found.at
      from found
     where action.key = found.key
    returning found.*
), reopened as (
    update work
       set attempts = work.attempts - proved.refund,
           closed_at = case when proved.attempts - proved.refund >= proved.budget then proved.at end,
           moved_at = proved.at
      from proved
     where work.key = proved.work_key
    returning work.key, work.attempts >= work.budget as spent, proved.token, proved.at
), moved as (
    update message
       set status = case when reopened.spent then 'dead' else 'pending' end,
           ended_at = case when reopened.spent then reopened.at end,
           look_at = null, quarantine_until = null, reason = %(reason)s
      from reopened
     where message.work_key = reopened.key
    returning message.key, message.work_key, message.status, reopened.token, reopened.at
), noted as (
    insert into audit (at, subject, event, token, facts)
    select at, work_key, 'action.not_done', token, jsonb_build_object('action', key, 'reason', %(reason)s::text)
      from proved
    union all
    select at, work_key, 'message.' || status, token, jsonb_build_object('reason', %(reason)s::text) from moved
)
select key, status from moved
"""


def prove_not_sent(conn: Conn, work_key: str, *, reason: str, waived: bool = False) -> bool:
    """message uncertain -> pending, dead; action uncertain -> not_done: a complete look after the quarantine found
    none.

    The attempt is given back once per key; without one left, the message is dead. `waived` sets the quarantine aside:
    the owner decided to send again. Returns whether it moved.
    """
    return row(conn, _PROVE_NOT_SENT, work_key=work_key, reason=reason, waived=waived) is not None


_GIVE_UP = """
with held as materialized (
    select *
      from work
     where key = %(work_key)s
       for no key update
), found as materialized (
    select *, ledger_now() as at from held
), moved as (
    update message
       set status = %(status)s, look_at = null, reason = %(reason)s,
           ended_at = case when %(status)s = 'dead' then found.at end
      from found
     where message.work_key = found.key
       and message.status = 'uncertain'
    returning message.key, message.work_key, found.at
), parked as (
    update action
       set status = 'held', reason = %(reason)s
      from moved
     where action.work_key = moved.work_key
       and action.status = 'uncertain'
    returning action.key, action.work_key, action.token, moved.at
), noted as (
    insert into audit (at, subject, event, token, facts)
    select at, work_key, 'action.held', token, jsonb_build_object('action', key, 'reason', %(reason)s::text) from parked
    union all
    select at, work_key, 'message.' || %(status)s, null, jsonb_build_object('reason', %(reason)s::text) from moved
)
select key from moved
"""


def hold(conn: Conn, work_key: str, *, reason: str) -> bool:
    """message uncertain -> held; action uncertain -> held: nobody can find out, and the owner wants to decide.

    Returns whether it moved.
    """
    return row(conn, _GIVE_UP, work_key=work_key, status="held", reason=reason) is not None


def let_go(conn: Conn, work_key: str, *, reason: str) -> bool:
    """message uncertain -> dead; action uncertain -> held: nobody can find out, and the owner wants it left at that.

    Returns whether it moved.
    """
    return row(conn, _GIVE_UP, work_key=work_key, status="dead", reason=reason) is not None
