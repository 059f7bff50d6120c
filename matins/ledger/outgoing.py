"""Messages that a step hands over beside the edition: frozen, and queued under the step's lease."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from matins.ledger.query import row
from matins.ledger.work import Claim, Conn, explain_holder
from matins.rules import keys, limits


@dataclass(frozen=True, slots=True)
class Outgoing:
    """One message as a step hands it over: its frozen bytes, and where they go."""

    kind: str
    channel: str
    destination: str
    address: str
    proof: str
    if_unknown: str
    mail: bytes
    mail_hash: str
    mail_id: str


def columns(subject: str, messages: Sequence[Outgoing]) -> dict[str, list[object]]:
    """The messages as the parallel arrays that a statement takes, with their keys and work rows."""
    named = [keys.message(subject, one.kind, one.channel, one.destination) for one in messages]
    return {
        "keys": list(named),
        "works": [keys.message_work(name) for name in named],
        "kinds": [one.kind for one in messages],
        "channels": [one.channel for one in messages],
        "destinations": [one.destination for one in messages],
        "addresses": [one.address for one in messages],
        "proofs": [one.proof for one in messages],
        "if_unknowns": [one.if_unknown for one in messages],
        "mails": [one.mail for one in messages],
        "mail_hashes": [one.mail_hash for one in messages],
        "mail_ids": [one.mail_id for one in messages],
    }


_QUEUE = """
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
), outgoing as (
    select outgoing.*, live.at
      from live,
           unnest(%(keys)s::text[], %(works)s::text[], %(kinds)s::text[], %(channels)s::text[],
                  %(destinations)s::text[], %(addresses)s::text[], %(proofs)s::text[], %(if_unknowns)s::text[],
                  %(mails)s::bytea[], %(mail_hashes)s::text[], %(mail_ids)s::text[])
        as outgoing (key, work_key, kind, channel, destination, address, proof, if_unknown, mail, mail_hash, mail_id)
     where not exists (select 1 from message where message.key = outgoing.key)
), kept as (
    insert into frozen (hash, bytes, frozen_at) select mail_hash, mail, at from outgoing
    on conflict (hash) do nothing
), worked as (
    insert into work (key, kind, budget, retry_at, moved_at)
    select work_key, 'message', %(budget)s, %(send_at)s, at from outgoing
), queued as (
    insert into message (key, work_key, subject, kind, channel, destination, address, proof, if_unknown, mail_hash,
                         mail_id, status, useful_until_at, created_at)
    select outgoing.key, outgoing.work_key, obligation.key, outgoing.kind, outgoing.channel, outgoing.destination,
           outgoing.address, outgoing.proof, outgoing.if_unknown, outgoing.mail_hash, outgoing.mail_id, 'pending',
           obligation.useful_until_at, outgoing.at
      from outgoing
      join obligation on obligation.key = %(subject)s
    returning work_key, created_at
), noted as (
    insert into audit (at, subject, event, token, facts)
    select created_at, work_key, 'message.pending', null, '{}' from queued
)
select (select count(*) from live) as live
"""


def queue(
    conn: Conn, subject: str, claim: Claim, *, messages: Sequence[Outgoing], send_at: datetime | None
) -> tuple[str, ...]:
    """message none -> pending: frozen, and not to be sent before `send_at`. Returns their work rows.

    A message that was queued before stays as it was frozen. Raises LeaseLost.
    """
    given = columns(subject, messages)
    got = row(
        conn,
        _QUEUE,
        work_key=claim.key,
        token=claim.token,
        subject=subject,
        budget=limits.BUDGET,
        send_at=send_at,
        **given,
    )
    if got is None or not got["live"]:
        raise explain_holder(conn, claim.key, token=claim.token)
    return tuple(str(work) for work in given["works"])
