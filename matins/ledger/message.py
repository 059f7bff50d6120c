"""Messages: one frozen mail to one destination, from pending to seen, or to the reason why not."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from psycopg.types.json import Jsonb

from matins.ledger.move import DONE, Move
from matins.ledger.query import row, rows
from matins.ledger.work import Claim, Conn, explain_holder
from matins.rules import limits
from matins.rules.errors import LeaseLost, NoSuchRow, NotDue, TooLate
from matins.rules.receipt import Receipt, Sighting


@dataclass(frozen=True, slots=True)
class Envelope:
    """What a sender needs: the frozen bytes, where they go, and the keys they are found by."""

    key: str
    subject: str
    work_key: str
    address: str
    mail: bytes
    mail_id: str
    proof: str
    action: str


_ENVELOPE = """
select message.key, message.subject, message.work_key, message.address, frozen.bytes as mail, message.mail_id,
       message.proof, message.key as action
  from message
  join frozen on frozen.hash = message.mail_hash
 where message.work_key = %(work_key)s
"""


def envelope(conn: Conn, work_key: str) -> Envelope:
    """The message of a work row. Raises NoSuchRow."""
    found = row(conn, _ENVELOPE, work_key=work_key)
    if found is None:
        raise NoSuchRow(key=work_key)
    return Envelope(**found)


_STATE = """
select message.*, work.in_flight, work.lease_expires_at > ledger_now() as leased,
       message.useful_until_at <= ledger_now() as late,
       extract(epoch from message.look_at - ledger_now())::float8 as look_wait
  from message
  join work on work.key = message.work_key
 where message.work_key = %(work_key)s
"""


def next_move(conn: Conn, work_key: str) -> Move:
    """What to do next for a message: `send`, `recover`, `look`, `observe`, or `done`. Raises NoSuchRow."""
    found = row(conn, _STATE, work_key=work_key)
    if found is None:
        raise NoSuchRow(key=work_key)
    match found["status"]:
        case "pending":
            name = "send"
        case "sending":
            name = "recover" if found["in_flight"] and not found["leased"] else "send"
        case "uncertain":
            name = "look"
        case "accepted" if found["look_at"] is not None:
            name = "observe"
        case _:
            name = DONE
    return Move(work_key, name, work_key)


def due_to_look(conn: Conn, work_key: str) -> None:
    """Return if a look at the mailbox is due now. Raises NotDue with the wait, or NoSuchRow."""
    found = row(conn, _STATE, work_key=work_key)
    if found is None:
        raise NoSuchRow(key=work_key)
    if found["look_at"] is not None and found["look_wait"] > 0:
        raise NotDue(key=work_key, at=found["look_at"], wait=found["look_wait"])


_STILL_USEFUL = "select 1 as yes from message where work_key = %(work_key)s and useful_until_at > ledger_now()"


def still_useful(conn: Conn, work_key: str) -> None:
    """Return if the message is worth sending now. Raises TooLate."""
    if row(conn, _STILL_USEFUL, work_key=work_key) is None:
        raise TooLate(key=work_key)


_ACCEPT = """
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
       set status = 'completed', provider = %(provider)s, reference = %(reference)s, receipt = %(receipt)s,
           ended_at = live.at
      from live
     where action.work_key = live.key
       and action.token = live.token
       and action.status = 'in_flight'
    returning action.key, action.work_key, action.token, live.at
), freed as (
    update work
       set holder = null, lease_expires_at = null, deadline_at = null, retry_at = null,
           in_flight = work.in_flight - 1, closed_at = recorded.at, moved_at = recorded.at
      from recorded
     where work.key = recorded.work_key
    returning work.key, recorded.token, recorded.at
), moved as (
    update message
       set status = 'accepted', provider = %(provider)s, reference = %(reference)s, reply = %(reply)s,
           accepted_at = freed.at, reason = null,
           look_at = case when proof = 'mailbox' then freed.at + make_interval(secs => %(first_look)s) end
      from freed
     where message.work_key = freed.key
       and message.status = 'sending'
    returning message.key, message.work_key, freed.token, freed.at
), noted as (
    insert into audit (at, subject, event, token, facts)
    select at, work_key, 'message.accepted', token,
           jsonb_build_object('provider', %(provider)s::text, 'reference', %(reference)s::text,
               'reply', %(reply)s::text)
      from moved
)
select key from moved
"""


def accept(conn: Conn, claim: Claim, receipt: Receipt) -> None:
    """sending -> accepted: the server took it and said so; the action completes with it.

    The same receipt again is answered alike. When the lease has died since, the receipt is evidence all the same and
    resolves an uncertain message. Raises LeaseLost when neither holds.
    """
    reply = receipt.evidence.get("reply", "")
    parameters = {"provider": receipt.provider, "reference": receipt.reference, "reply": reply}
    got = row(
        conn,
        _ACCEPT,
        work_key=claim.key,
        token=claim.token,
        receipt=Jsonb(receipt.evidence),
        first_look=limits.OBSERVE_AFTER[0],
        **parameters,
    )
    if got is None and not _already_accepted(conn, claim.key, receipt) and not accept_late(conn, claim, receipt):
        raise LeaseLost(key=claim.key)


def _already_accepted(conn: Conn, work_key: str, receipt: Receipt) -> bool:
    found = row(conn, _STATE, work_key=work_key)
    return found is not None and (found["provider"], found["reference"]) == (
        receipt.provider,
        receipt.reference,
    )


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
        by=f"found by {sighting.mechanism} in {sighting.placement}",
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


_OBSERVE = """
with held as materialized (
    select *
      from message
     where work_key = %(work_key)s
       for no key update
), found as materialized (
    select *, ledger_now() as at
      from held
     where status = 'accepted'
), moved as (
    update message
       set status = 'observed', mechanism = %(mechanism)s, placement = %(placement)s, observed_at = found.at,
           ended_at = found.at, look_at = null, looks = message.looks + 1
      from found
     where message.key = found.key
    returning message.key, message.work_key, message.observed_at
), noted as (
    insert into audit (at, subject, event, token, facts)
    select observed_at, work_key, 'message.observed', null,
           jsonb_build_object('mechanism', %(mechanism)s::text, 'placement', %(placement)s::text)
      from moved
)
select key from moved
"""


def observe(conn: Conn, work_key: str, sighting: Sighting) -> bool:
    """accepted -> observed: it was seen, by a named mechanism, in a named place. Returns whether it moved."""
    got = row(conn, _OBSERVE, work_key=work_key, mechanism=sighting.mechanism, placement=sighting.placement)
    return got is not None


_LOOK_AGAIN = """
update message
   set looks = looks + 1,
       reason = %(reason)s,
       look_at = case
           when status = 'accepted' and useful_until_at <= ledger_now() then null
           else ledger_now() + make_interval(secs => (%(spacing)s::float8[])[least(looks + 1, %(most)s)])
       end
 where work_key = %(work_key)s
   and status in ('accepted', 'uncertain')
   and look_at is not null
"""


def look_again(conn: Conn, work_key: str, *, reason: str) -> None:
    """Note a look that found nothing, and when the next one is due; an accepted mail is looked for to useful-until."""
    spacing = list(limits.OBSERVE_AFTER)
    with conn.cursor() as cursor:
        cursor.execute(
            _LOOK_AGAIN,
            {"work_key": work_key, "reason": reason, "spacing": spacing, "most": len(spacing)},
        )


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


_FIND_LATE = """
select message.work_key
  from message
  join work on work.key = message.work_key
 where message.status in ('pending', 'sending')
   and message.useful_until_at <= ledger_now()
   and work.in_flight = 0
   and (work.lease_expires_at is null or work.lease_expires_at <= ledger_now())
 order by message.useful_until_at
 limit %(limit)s
"""


def find_late(conn: Conn, *, limit: int = 100) -> list[str]:
    """Work keys of unsent messages that are past their useful time: a hint for `expire`."""
    return [found["work_key"] for found in rows(conn, _FIND_LATE, limit=limit)]


_EXPIRE = """
with held as materialized (
    select *
      from work
     where key = %(work_key)s
       for no key update
), idle as materialized (
    select *, ledger_now() as at
      from held
     where in_flight = 0
       and (holder is null or lease_expires_at <= ledger_now() or token = %(token)s)
), moved as (
    update message
       set status = 'expired', ended_at = idle.at, reason = 'it was no longer useful'
      from idle
     where message.work_key = idle.key
       and message.status in ('pending', 'sending')
       and message.useful_until_at <= idle.at
    returning message.key, message.work_key, idle.at
), closed as (
    update work
       set holder = null, lease_expires_at = null, deadline_at = null, retry_at = null,
           closed_at = moved.at, moved_at = moved.at
      from moved
     where work.key = moved.work_key
), noted as (
    insert into audit (at, subject, event, token, facts)
    select at, work_key, 'message.expired', %(token)s, '{}' from moved
)
select key from moved
"""


def expire(conn: Conn, work_key: str, *, token: int | None = None) -> bool:
    """pending, sending -> expired: unsent past its useful-until. `token` is the caller's own lease, if it holds one."""
    return row(conn, _EXPIRE, work_key=work_key, token=token) is not None


@dataclass(frozen=True, slots=True)
class Waiting:
    """A message whose next move is due and may have been lost."""

    work_key: str
    status: str
    at: datetime


_FIND_IDLE = """
select message.work_key, message.status, message.created_at as at
  from message
  join work on work.key = message.work_key
 where message.status in ('pending', 'sending')
   and (work.lease_expires_at is null or work.lease_expires_at <= ledger_now())
   and (work.retry_at is null or work.retry_at <= ledger_now())
union all
select work_key, status, created_at
  from message
 where look_at <= ledger_now()
   and status in ('uncertain', 'accepted')
 order by at
 limit %(limit)s
"""


def find_idle(conn: Conn, *, limit: int = 500) -> list[Waiting]:
    """Messages that somebody should be sending or looking for, oldest first."""
    return [Waiting(**found) for found in rows(conn, _FIND_IDLE, limit=limit)]
