"""Evidence: what was admitted, and the set that is frozen for one date. An item is in one set of an owner, for ever."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from psycopg.types.json import Jsonb

from matins.ledger.query import row, rows
from matins.ledger.work import Claim, Conn, explain_holder
from matins.rules import limits
from matins.rules.evidence import Evidence, Told

_FRESH = """
select evidence.event_key, evidence.hash as evidence_hash, event.source_key, subscription.name as source_name,
       evidence.url, evidence.title, evidence.body as text, evidence.published_at, event.first_seen_at,
       event.baseline and evidence.admitted_at <= event.first_seen_at
           or evidence.admitted_at < subscription.added_at as baseline
  from obligation
  join subscription on subscription.owner = obligation.owner
  join event on event.source_key = subscription.source_key
  join evidence on evidence.event_key = event.key and evidence.hash = event.evidence_hash
 where obligation.key = %(key)s
   and subscription.purpose = 'news'
   and not exists (select 1
                     from evidence_item
                    where evidence_item.owner = obligation.owner
                      and evidence_item.event_key = evidence.event_key
                      and evidence_item.evidence_hash = evidence.hash)
 order by evidence.admitted_at desc, evidence.event_key
 limit %(limit)s
"""


def fresh(conn: Conn, obligation_key: str, *, limit: int = 5000) -> list[Evidence]:
    """What was admitted and is in no evidence set of this owner yet, newest first; never "since a time".

    What was there when the source was first read, or before this owner began to read it, is the baseline.
    """
    return [Evidence(**found) for found in rows(conn, _FRESH, key=obligation_key, limit=limit)]


_TOLD = """
with remembered as materialized (
    select earlier.key, earlier.local_date
      from obligation
      join obligation as earlier on earlier.owner = obligation.owner and earlier.product = obligation.product
      join edition_current on edition_current.key = earlier.key
     where obligation.key = %(key)s
       and earlier.local_date < obligation.local_date
     order by earlier.local_date desc
     limit %(editions)s
)
select remembered.local_date, evidence.event_key, evidence.hash as evidence_hash, event.source_key, evidence.url,
       evidence.title, evidence.body as text, evidence.published_at, event.first_seen_at
  from remembered
  join evidence_item on evidence_item.key = remembered.key and evidence_item.chosen
  join evidence on evidence.event_key = evidence_item.event_key and evidence.hash = evidence_item.evidence_hash
  join event on event.key = evidence.event_key
 order by remembered.local_date desc, evidence.event_key
"""


def told(conn: Conn, obligation_key: str, *, editions: int = limits.EDITIONS_REMEMBERED) -> list[Told]:
    """What the last published editions of the same owner and product, before this date, told: newest first."""
    return [Told(**found) for found in rows(conn, _TOLD, key=obligation_key, editions=editions)]


@dataclass(frozen=True, slots=True)
class FrozenSet:
    """The evidence set of one date: its document's bytes and their hash."""

    hash: str
    content: bytes


_STORED = """
select evidence_set.hash, frozen.bytes as content
  from evidence_set
  join frozen on frozen.hash = evidence_set.hash
 where evidence_set.key = %(key)s
"""


def frozen_set(conn: Conn, obligation_key: str) -> FrozenSet | None:
    """The evidence set frozen for this obligation, or None."""
    found = row(conn, _STORED, key=obligation_key)
    return FrozenSet(**found) if found else None


_FREEZE = """
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
), made as (
    insert into evidence_set (key, hash, coverage, frozen_at) select %(key)s, %(hash)s, %(coverage)s, at from live
    on conflict (key) do nothing
    returning key, frozen_at
), kept as (
    insert into frozen (hash, bytes, frozen_at) select %(hash)s, %(content)s, frozen_at from made
    on conflict (hash) do nothing
), taken as (
    insert into evidence_item (owner, event_key, evidence_hash, key, chosen)
    select %(owner)s, item.event_key, item.evidence_hash, made.key, item.chosen
      from made, unnest(%(events)s::text[], %(hashes)s::text[], %(chosen)s::boolean[])
             as item (event_key, evidence_hash, chosen)
), noted as (
    insert into audit (at, subject, event, token, facts)
    select frozen_at, %(work_key)s, 'evidence_set.frozen', %(token)s,
           jsonb_build_object('hash', %(hash)s::text, 'items', cardinality(%(events)s::text[]))
      from made
)
select key from made
"""


def freeze(
    conn: Conn,
    key: str,
    claim: Claim,
    *,
    owner: str,
    content_hash: str,
    content: bytes,
    coverage: dict[str, Any],
    items: Sequence[tuple[str, str, bool]],
) -> FrozenSet:
    """Freeze the evidence set of a date: (event, evidence hash, chosen) each. The first freeze wins and is returned.

    Raises LeaseLost, or psycopg's UniqueViolation when another date of this owner took one of the items meanwhile: then
    `fresh` no longer has it, and the next attempt goes without.
    """
    got = row(
        conn,
        _FREEZE,
        work_key=claim.key,
        token=claim.token,
        key=key,
        owner=owner,
        hash=content_hash,
        content=content,
        coverage=Jsonb(coverage),
        events=[event for event, _, _ in items],
        hashes=[evidence_hash for _, evidence_hash, _ in items],
        chosen=[chosen for _, _, chosen in items],
    )
    if got is not None:
        return FrozenSet(content_hash, content)
    found = frozen_set(conn, key)
    if found is None:
        raise explain_holder(conn, claim.key, token=claim.token)
    return found
