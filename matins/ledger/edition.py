"""Editions: the dated briefing, drafted by composing, published once its bundle was read back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from psycopg.types.json import Jsonb

from matins.ledger.continuation import confirm_completed, next_move
from matins.ledger.move import Move
from matins.ledger.outgoing import Outgoing, columns
from matins.ledger.query import row
from matins.ledger.work import Claim, Conn
from matins.rules import limits, plans
from matins.rules.errors import EvidenceMissing, OutputConflict, StepOutOfOrder


@dataclass(frozen=True, slots=True)
class Edition:
    """One revision of one edition."""

    key: str
    revision: int
    status: str
    kind: str
    title: str
    draft_hash: str
    draft: bytes
    bundle_hash: str | None
    facts: dict[str, Any]
    drafted_at: datetime


_FIND = """
select edition.key, edition.revision, edition.status, edition.kind, edition.title, edition.draft_hash,
       frozen.bytes as draft, edition.bundle_hash, edition.facts, edition.drafted_at
  from edition
  join frozen on frozen.hash = edition.draft_hash
 where edition.key = %(key)s
   and edition.revision = %(revision)s
"""


def find(conn: Conn, key: str, *, revision: int = 1) -> Edition:
    """One revision of an edition. Raises EvidenceMissing when there is none."""
    found = row(conn, _FIND, key=key, revision=revision)
    if found is None:
        raise EvidenceMissing("no edition was composed", key=key)
    return Edition(**found)


_DRAFT = """
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
           step = %(next_step)s, attempts = 0, budget_token = live.token, moved_at = live.at
      from live
     where work.key = live.key
    returning work.key, work.token, live.at
), moved as (
    update continuation
       set status = 'pending'
      from freed
     where continuation.work_key = freed.key
       and continuation.status = 'running'
    returning continuation.key, freed.token, freed.at
), drafted as (
    insert into edition (key, revision, status, kind, title, draft_hash, facts, drafted_at)
    select key, 1, 'drafted', %(kind)s, %(title)s, %(draft_hash)s, %(facts)s, at from moved
    on conflict (key, revision) do nothing
), noted as (
    insert into audit (at, subject, event, token, facts)
    select at, %(work_key)s, 'continuation.step_completed', token,
           jsonb_build_object('step', %(step)s::text, 'next', %(next_step)s::text)
      from moved
    union all
    select at, 'edition/' || key, 'edition.drafted', token,
           jsonb_build_object('kind', %(kind)s::text, 'draft_hash', %(draft_hash)s::text)
      from moved
)
select key from moved
"""


def draft(
    conn: Conn,
    key: str,
    claim: Claim,
    *,
    plan: int,
    kind: str,
    title: str,
    draft_hash: str,
    facts: dict[str, Any],
) -> Move:
    """edition none -> drafted; continuation running -> pending: with the completion of the step that composed it.

    Returns the next move. The same draft again is answered alike; another one raises OutputConflict. Raises LeaseLost,
    ActionInFlight, or StepOutOfOrder when `claim` is for another step.
    """
    _at_hand(claim, plans.COMPOSE)
    got = row(
        conn,
        _DRAFT,
        work_key=claim.key,
        token=claim.token,
        step=claim.step,
        next_step=plans.next_step(plan, plans.COMPOSE),
        kind=kind,
        title=title,
        draft_hash=draft_hash,
        facts=Jsonb(facts),
    )
    if got is None:
        confirm_completed(conn, key, claim)
    stored = find(conn, key)
    if stored.draft_hash != draft_hash:
        raise OutputConflict(key=key, stored=stored.draft_hash, asked=draft_hash)
    return next_move(conn, key)


@dataclass(frozen=True, slots=True)
class Published:
    """The next move, and the messages that now wait to be sent."""

    next: Move
    messages: tuple[str, ...]


_PUBLISH = """
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
       and exists (select 1 from edition where edition.key = %(key)s and revision = 1 and status = 'drafted')
), freed as (
    update work
       set holder = null, lease_expires_at = null, deadline_at = null, retry_at = null,
           step = %(next_step)s, attempts = 0, budget_token = live.token, moved_at = live.at
      from live
     where work.key = live.key
    returning work.key, work.token, live.at
), moved as (
    update continuation
       set status = 'pending'
      from freed
     where continuation.work_key = freed.key
       and continuation.status = 'running'
    returning continuation.key, freed.token, freed.at
), published as (
    update edition
       set status = 'published', bundle_hash = %(bundle_hash)s, published_at = moved.at
      from moved
     where edition.key = moved.key
       and edition.revision = 1
       and edition.status = 'drafted'
    returning edition.key, edition.revision, moved.token, moved.at
), pointed as (
    insert into edition_current (key, revision) select key, revision from published
    on conflict (key) do update set revision = excluded.revision
), briefed as (
    update obligation
       set status = 'succeeded', output_hash = %(bundle_hash)s, ended_at = published.at
      from published
     where obligation.follows = published.key
       and obligation.status = 'declared'
    returning obligation.key, published.token, published.at
), outgoing as (
    select *
      from unnest(%(keys)s::text[], %(works)s::text[], %(kinds)s::text[], %(channels)s::text[],
                  %(destinations)s::text[], %(addresses)s::text[], %(proofs)s::text[], %(if_unknowns)s::text[],
                  %(mails)s::bytea[], %(mail_hashes)s::text[], %(mail_ids)s::text[])
        as outgoing (key, work_key, kind, channel, destination, address, proof, if_unknown, mail, mail_hash, mail_id)
), kept as (
    insert into frozen (hash, bytes, frozen_at)
    select outgoing.mail_hash, outgoing.mail, published.at from published, outgoing
    on conflict (hash) do nothing
), worked as (
    insert into work (key, kind, budget, retry_at, moved_at)
    select outgoing.work_key, 'message', %(budget)s, %(send_at)s, published.at from published, outgoing
), queued as (
    insert into message (key, work_key, subject, kind, channel, destination, address, proof, if_unknown, mail_hash,
                         mail_id, status, useful_until_at, created_at)
    select outgoing.key, outgoing.work_key, published.key, outgoing.kind, outgoing.channel, outgoing.destination,
           outgoing.address, outgoing.proof, outgoing.if_unknown, outgoing.mail_hash, outgoing.mail_id, 'pending',
           obligation.useful_until_at, published.at
      from published
      join obligation on obligation.key = published.key
     cross join outgoing
    returning work_key, created_at
), noted as (
    insert into audit (at, subject, event, token, facts)
    select at, %(work_key)s, 'continuation.step_completed', token,
           jsonb_build_object('step', %(step)s::text, 'next', %(next_step)s::text)
      from moved
    union all
    select at, 'edition/' || key, 'edition.published', token, jsonb_build_object('bundle_hash', %(bundle_hash)s::text)
      from published
    union all
    select at, 'obligation/' || key, 'obligation.succeeded', token,
           jsonb_build_object('output_hash', %(bundle_hash)s::text)
      from briefed
    union all
    select created_at, work_key, 'message.pending', null, '{}' from queued
)
select key from published
"""


def publish(
    conn: Conn,
    key: str,
    claim: Claim,
    *,
    plan: int,
    bundle_hash: str,
    messages: Sequence[Outgoing],
    send_at: datetime | None,
) -> Published:
    """edition drafted -> published; continuation running -> pending; obligation declared -> succeeded; message
    none -> pending: the pointer moves, the `brief` has the bundle's hash as its output, and the messages are frozen,
    not to be sent before `send_at`.

    The same publication again is answered alike; another bundle raises OutputConflict. Raises LeaseLost,
    ActionInFlight, EvidenceMissing when nothing was drafted, or StepOutOfOrder when `claim` is for another step.
    """
    _at_hand(claim, plans.PUBLISH)
    given = columns(key, messages)
    got = row(
        conn,
        _PUBLISH,
        key=key,
        work_key=claim.key,
        token=claim.token,
        step=claim.step,
        next_step=plans.next_step(plan, plans.PUBLISH),
        bundle_hash=bundle_hash,
        send_at=send_at,
        budget=limits.BUDGET,
        **given,
    )
    if got is None:
        stored = find(conn, key).bundle_hash
        confirm_completed(conn, key, claim)
        if stored != bundle_hash:
            raise OutputConflict(key=key, stored=str(stored), asked=bundle_hash)
    return Published(next_move(conn, key), tuple(str(work) for work in given["works"]))


def _at_hand(claim: Claim, step: str) -> None:
    if claim.step != step:
        raise StepOutOfOrder(f"{claim.step} is at hand, {step} was asked", key=claim.key)
