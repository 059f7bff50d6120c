"""Messages: one frozen mail to one destination, from pending to seen, or to the reason why not."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from psycopg.errors import UniqueViolation
from psycopg.types.json import Jsonb

from matins.ledger.doubt import accept_late
from matins.ledger.move import DONE, Move
from matins.ledger.query import row, rows
from matins.ledger.work import Claim, Conn
from matins.rules import limits
from matins.rules.errors import LeaseLost, NoSuchRow, OutputConflict, TooLate
from matins.rules.receipt import Receipt


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
select message.*, work.token, work.in_flight, work.lease_expires_at > ledger_now() as leased
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
    select at, work_key, 'action.completed', token,
           jsonb_build_object('action', key, 'provider', %(provider)s::text, 'reference', %(reference)s::text)
      from recorded
    union all
    select at, work_key, 'message.accepted', token,
           jsonb_build_object('provider', %(provider)s::text, 'reference', %(reference)s::text,
               'reply', %(reply)s::text)
      from moved
)
select key from moved
"""


def accept(conn: Conn, claim: Claim, receipt: Receipt) -> None:
    """message sending, uncertain -> accepted; action in_flight, uncertain -> completed: the server took it and said so.

    The same receipt again is answered alike; another one for an accepted mail raises OutputConflict. When the lease has
    died since, the receipt is evidence all the same (`doubt.accept_late`). Raises LeaseLost when it resolves nothing.

    Mail servers use short queue ids again after a while: a reference that stands for another mail already is replaced
    by this mail's own Message-ID, and the whole reply is kept either way.
    """
    try:
        with conn.transaction():
            _accept(conn, claim, receipt)
    except UniqueViolation:
        own = envelope(conn, claim.key).mail_id
        _accept(conn, claim, Receipt(receipt.provider, own, {**receipt.evidence, "used_again": receipt.reference}))


def _accept(conn: Conn, claim: Claim, receipt: Receipt) -> None:
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
    if got is None and not _already_accepted(conn, claim, receipt) and not accept_late(conn, claim, receipt):
        raise LeaseLost(key=claim.key)


def _already_accepted(conn: Conn, claim: Claim, receipt: Receipt) -> bool:
    found = row(conn, _STATE, work_key=claim.key)
    if found is None or found["accepted_at"] is None or found["token"] != claim.token:
        return False
    if found["reply"] is None:
        return False  # found by a look, before its receipt came: the first evidence stands
    if receipt.reference != found["reference"] and receipt.evidence.get("reply", "") != found["reply"]:
        raise OutputConflict(key=claim.key, stored=found["reference"], asked=receipt.reference)
    return True


_PENDING_OF = "select work_key from message where subject = %(subject)s and status = 'pending' order by key"


def pending_of(conn: Conn, subject: str) -> list[str]:
    """Work keys of a morning's messages that nobody has begun to send."""
    return [found["work_key"] for found in rows(conn, _PENDING_OF, subject=subject)]


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
    """message pending, sending -> expired: unsent past its useful-until, and nothing in flight.

    `token` is the caller's own lease, if it holds one. Returns whether it moved.
    """
    return row(conn, _EXPIRE, work_key=work_key, token=token) is not None


@dataclass(frozen=True, slots=True)
class Waiting:
    """A message whose next move is due and may have been lost."""

    work_key: str
    subject: str
    at: datetime


_FIND_IDLE = """
select message.work_key, message.subject, message.created_at as at
  from message
  join work on work.key = message.work_key
 where message.status in ('pending', 'sending')
   and (work.lease_expires_at is null or work.lease_expires_at <= ledger_now())
   and (work.retry_at is null or work.retry_at <= ledger_now())
union all
select work_key, subject, created_at
  from message
 where look_at <= ledger_now()
   and status in ('uncertain', 'accepted')
 order by at
 limit %(limit)s
"""


def find_idle(conn: Conn, *, limit: int = 500) -> list[Waiting]:
    """Messages that somebody should be sending or looking for, oldest first."""
    return [Waiting(**found) for found in rows(conn, _FIND_IDLE, limit=limit)]
