"""Admission: what a claimed read saw is declared and stored. "Seen" is by identity and content, never by date.

An item under an unknown name that is a known one renamed keeps its event; its words alone decide whether it is a new
version, so that a feed which changes all its addresses brings nothing new.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from psycopg.types.json import Jsonb

from matins.ledger.query import row, rows
from matins.ledger.source import Window
from matins.ledger.work import Claim, Conn, explain_holder
from matins.rules import keys
from matins.rules.evidence import Item
from matins.rules.identity import Known, recognise

_NAMED = """
select asked.identity, coalesce(event.key, identity_alias.event_key) as event_key
  from unnest(%(identities)s::text[]) as asked (identity)
  left join event on event.source_key = %(source_key)s and event.identity = asked.identity
  left join identity_alias on identity_alias.source_key = %(source_key)s and identity_alias.identity = asked.identity
"""
_KNOWN = """
select event.key as event_key, event.identity, evidence.url, evidence.title, evidence.body as text
  from event
  join evidence on evidence.event_key = event.key and evidence.hash = event.evidence_hash
 where event.source_key = %(source_key)s
 order by event.first_seen_at desc, event.key
 limit %(limit)s
"""
_REMEMBERED = 2000
"""Events of a source among which a renamed one is looked for, the newest first."""


def _events(conn: Conn, source_key: str, items: Sequence[Item]) -> tuple[dict[str, str], dict[str, str]]:
    """Identity -> event key for all of `items`, and for those recognised only now under a new name."""
    identities = [item.identity for item in items]
    named = {
        found["identity"]: found["event_key"]
        for found in rows(conn, _NAMED, source_key=source_key, identities=identities)
    }
    unknown = [item for item in items if named[item.identity] is None]
    renamed: dict[str, str] = {}
    if unknown:
        known = [Known(**found) for found in rows(conn, _KNOWN, source_key=source_key, limit=_REMEMBERED)]
        renamed = recognise(unknown, known, listed=frozenset(identities))
    fresh = {item.identity: keys.event(source_key, item.identity) for item in unknown}
    known_by_name = {identity: event for identity, event in named.items() if event is not None}
    return known_by_name | fresh | renamed, renamed


_ADMIT = """
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
), seen as (
    select distinct on (event_key) *
      from unnest(%(events)s::text[], %(identities)s::text[], %(hashes)s::text[], %(urls)s::text[], %(titles)s::text[],
                  %(bodies)s::text[], %(published)s::timestamptz[], %(facts)s::jsonb[])
        with ordinality as seen (event_key, identity, hash, url, title, body, published_at, facts, place)
     order by event_key, place
), judged as materialized (
    select seen.event_key, seen.identity, seen.url, seen.title, seen.body, seen.published_at, seen.facts,
           event.evidence_hash as before,
           case when (evidence.title, evidence.body, evidence.facts) = (seen.title, seen.body, seen.facts)
                then evidence.hash else seen.hash end as hash
      from seen
      left join event on event.key = seen.event_key
      left join evidence on evidence.event_key = event.key and evidence.hash = event.evidence_hash
), declared as (
    insert into declared_item (work_key, token, event_key, evidence_hash, admitted_at)
    select live.key, live.token, judged.event_key, judged.hash, live.at from live, judged
    on conflict (work_key, token, event_key) do nothing
    returning event_key
), fresh as (
    select judged.*, live.at, live.key as run_key, live.token as run_token
      from live, judged
     where not exists (select 1
                         from evidence
                        where evidence.event_key = judged.event_key and evidence.hash = judged.hash)
), stored as (
    insert into evidence (event_key, hash, url, title, body, published_at, facts, admitted_at, run_key, run_token)
    select event_key, hash, url, title, body, published_at, facts, at, run_key, run_token from fresh
    on conflict (event_key, hash) do nothing
    returning event_key, hash
), events as (
    insert into event (key, source_key, identity, evidence_hash, baseline, first_seen_at)
    select judged.event_key, %(source_key)s, judged.identity, judged.hash, %(baseline)s, live.at
      from live, judged
     where judged.before is distinct from judged.hash
    on conflict (key) do update set evidence_hash = excluded.evidence_hash
), aliased as (
    insert into identity_alias (source_key, identity, event_key, noted_at)
    select %(source_key)s, renamed.identity, renamed.event_key, live.at
      from live, unnest(%(new_names)s::text[], %(renamed)s::text[]) as renamed (identity, event_key)
    on conflict (source_key, identity) do nothing
    returning event_key
), counted as (
    update ingest_run
       set declared = coalesce(ingest_run.declared, 0) + (select count(*) from declared),
           admitted = ingest_run.admitted + (select count(*) from declared),
           fresh = ingest_run.fresh + (select count(*) from stored),
           renamed = ingest_run.renamed + (select count(*) from aliased)
      from live
     where ingest_run.work_key = live.key
       and ingest_run.token = live.token
       and ingest_run.status = 'claimed'
    returning ingest_run.admitted
), decided as (
    insert into decision (subject, kind, reason, first_seen_at, last_seen_at, count)
    select 'source/' || %(source_key)s, told.kind, told.reason, live.at, live.at, told.count
      from live,
           (select 'identities.changed', %(changed)s::text, (select count(*) from aliased)
            union all
            select 'items.updated', %(updated)s::text,
                   (select count(*) from judged join stored using (event_key) where judged.before is not null)
           ) as told (kind, reason, count)
     where told.count > 0
    on conflict (subject, kind, reason) do update
       set last_seen_at = excluded.last_seen_at, count = decision.count + excluded.count
)
select admitted,
       not exists (select 1
                     from judged
                     join evidence on evidence.event_key = judged.event_key and evidence.hash = judged.hash
                     join source on source.key = %(source_key)s and source.settled_at >= evidence.admitted_at
                  ) as all_new
  from counted
"""
CHANGED = "known items came under other names: they are not new"
UPDATED = "known items came with new words: each has a new version"


@dataclass(frozen=True, slots=True)
class Admitted:
    """What a page was admitted as, and what this run has admitted so far."""

    events: frozenset[str]
    """The events of this page's items."""
    items: int
    """Of the whole run."""
    all_new: bool
    """Whether all of this page are new since the source was last read to its end: what a read that broke off admitted
    is, and the pages behind it are still to come."""


def admit(conn: Conn, claim: Claim, window: Window, items: Sequence[Item], *, baseline: bool) -> Admitted:
    """Declare and store one page of items under a live claim. Returns what this run has admitted so far.

    An identity counts once, by its first item; the same page again changes nothing. A known identity with new words is
    a new version of its event; a known item under a new name is that item, and the source has one warning. Raises
    LeaseLost.
    """
    events, renamed = _events(conn, window.source_key, items)
    got = row(
        conn,
        _ADMIT,
        work_key=claim.key,
        token=claim.token,
        source_key=window.source_key,
        baseline=baseline,
        events=[events[item.identity] for item in items],
        identities=[item.identity for item in items],
        hashes=[item.evidence_hash for item in items],
        urls=[item.url for item in items],
        titles=[item.title for item in items],
        bodies=[item.text for item in items],
        published=[item.published_at for item in items],
        facts=[Jsonb(item.facts) for item in items],
        new_names=list(renamed),
        renamed=list(renamed.values()),
        changed=CHANGED,
        updated=UPDATED,
    )
    if got is None:
        raise explain_holder(conn, claim.key, token=claim.token)
    return Admitted(frozenset(events.values()), int(got["admitted"]), bool(got["all_new"]))


_EVER_SETTLED = """
select exists (
    select 1 from ingest_run where source_key = %(key)s and status in ('new', 'none')
) as yes
"""


def is_first_read(conn: Conn, source_key: str) -> bool:
    """Whether this source has never been read to the end: its items are then the baseline, not news."""
    found = row(conn, _EVER_SETTLED, key=source_key)
    return not (found and found["yes"])
