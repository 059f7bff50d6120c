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
    select work.*
      from work
     where key = %(work_key)s
       for no key update
), found as materialized (
    select *, ledger_now() as at from held
), recorded as (
    update action
       set status = 'completed', provider = coalesce(%(provider)s, provider), reference = %(reference)s,
           receipt = %(receipt)s, ended_at = found.at
      from found
     where action.work_key = found.key
       and action.status = 'uncertain'
       and (%(token)s::bigint is null or action.token = %(token)s)
    returning action.key, action.work_key, action.token, action.provider, action.reference, found.at
), moved as (
    update message
       set status = 'accepted', provider = recorded.provider, reference = recorded.reference, reply = %(reply)s,
           accepted_at = recorded.at, reason = null,
           look_at = case when proof = 'mailbox' then recorded.at end
      from recorded
     where message.work_key = recorded.work_key
       and message.status = 'uncertain'
    returning message.key, message.work_key, recorded.token, recorded.provider, recorded.reference, recorded.at
), noted as (
    insert into audit (at, subject, event, token, facts)
    select at, work_key, 'message.accepted', token,
           jsonb_build_object('provider', provider, 'reference', reference, 'by', %(by)s::text)
      from moved
)
select key from moved
"""


def accept_late(conn: Conn, claim: Claim, receipt: Receipt) -> bool:
    """uncertain -> accepted: a receipt that came after its lease died. Not fenced: it is what an outsider answered."""
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
    """uncertain -> accepted: it was looked for and is there, so the server took it. Returns whether it moved."""
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
    select at, work_key, 'message.uncertain', token, jsonb_build_object('reason', %(reason)s::text) from moved
)
select key from moved
"""


def doubt(conn: Conn, claim: Claim, *, reason: str, quarantine: float) -> None:
    """sending -> uncertain: it may have been sent. It is looked for; "not found" proves nothing for `quarantine` s.

    Raises LeaseLost.
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
), found as materialized (
    select *, ledger_now() as at from held
), proved as (
    update action
       set status = 'not_done', reason = %(reason)s, refunded = true, ended_at = found.at
      from message, found
     where message.work_key = found.key
       and message.status = 'uncertain'
       and (message.quarantine_until <= found.at or %(waived)s)
       and action.work_key = found.key
       and action.status = 'uncertain'
    returning action.key, action.work_key, action.token, found.at,
              case when action.token > found.budget_token and not %(refunded)s then 1 else 0 end as refund,
              found.attempts, found.budget
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
       and message.status = 'uncertain'
    returning message.key, message.work_key, message.status, reopened.token, reopened.at
), noted as (
    insert into audit (at, subject, event, token, facts)
    select at, work_key, 'message.' || status, token, jsonb_build_object('reason', %(reason)s::text) from moved
)
select key, status from moved
"""
_REFUNDED = "select refunded from action where work_key = %(work_key)s"


def prove_not_sent(conn: Conn, work_key: str, *, reason: str, waived: bool = False) -> bool:
    """uncertain -> pending, dead: a complete look after the quarantine found nothing. Returns whether it moved.

    The attempt is given back once per key. `waived` sets the quarantine aside: the owner decided to send again.
    """
    before = row(conn, _REFUNDED, work_key=work_key)
    refunded = bool(before and before["refunded"])
    got = row(conn, _PROVE_NOT_SENT, work_key=work_key, reason=reason, waived=waived, refunded=refunded)
    return got is not None


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
), noted as (
    insert into audit (at, subject, event, token, facts)
    select at, work_key, 'message.' || %(status)s, null, jsonb_build_object('reason', %(reason)s::text) from moved
)
select key from moved
"""


def hold(conn: Conn, work_key: str, *, reason: str) -> bool:
    """uncertain -> held: nobody can find out, and the owner wants to decide. Returns whether it moved."""
    return row(conn, _GIVE_UP, work_key=work_key, status="held", reason=reason) is not None


def let_go(conn: Conn, work_key: str, *, reason: str) -> bool:
    """uncertain -> dead: nobody can find out, and the owner wants it left at that. Returns whether it moved."""
    return row(conn, _GIVE_UP, work_key=work_key, status="dead", reason=reason) is not None
