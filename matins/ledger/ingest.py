"""Ingest runs: one claimed read of one window of a source. The cursor moves once per claim token, and only when all
that was declared is stored. The claim itself is the kernel's (`work.claim` on the window's work row).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from matins.ledger.query import row, rows
from matins.ledger.source import Window
from matins.ledger.work import Claim, Conn, explain_holder, still_mine
from matins.rules import keys, limits
from matins.rules.errors import EvidenceMissing, OutputConflict
from matins.rules.evidence import Item, Reading, ReadOutcome

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
                  %(bodies)s::text[], %(published)s::timestamptz[])
        with ordinality as seen (event_key, identity, hash, url, title, body, published_at, place)
     order by event_key, place
), declared as (
    insert into declared_item (work_key, token, event_key, evidence_hash, admitted_at)
    select live.key, live.token, seen.event_key, seen.hash, live.at from live, seen
    on conflict (work_key, token, event_key) do nothing
    returning event_key
), fresh as (
    select seen.*, live.at, live.key as run_key, live.token as run_token
      from live, seen
     where not exists (select 1
                         from evidence
                        where evidence.event_key = seen.event_key and evidence.hash = seen.hash)
), stored as (
    insert into evidence (event_key, hash, url, title, body, published_at, admitted_at, run_key, run_token)
    select event_key, hash, url, title, body, published_at, at, run_key, run_token from fresh
    on conflict (event_key, hash) do nothing
    returning event_key, hash
), events as (
    insert into event (key, source_key, identity, evidence_hash, baseline, first_seen_at)
    select seen.event_key, %(source_key)s, seen.identity, seen.hash, %(baseline)s, live.at
      from live, seen
      left join event on event.key = seen.event_key
     where event.evidence_hash is distinct from seen.hash
    on conflict (key) do update set evidence_hash = excluded.evidence_hash
), counted as (
    update ingest_run
       set declared = coalesce(ingest_run.declared, 0) + (select count(*) from declared),
           admitted = ingest_run.admitted + (select count(*) from declared),
           fresh = ingest_run.fresh + (select count(*) from stored)
      from live
     where ingest_run.work_key = live.key
       and ingest_run.token = live.token
       and ingest_run.status = 'claimed'
    returning ingest_run.admitted
)
select admitted from counted
"""


def admit(conn: Conn, claim: Claim, window: Window, items: Sequence[Item], *, baseline: bool) -> int:
    """Declare and store one page of items under a live claim. Returns how many this run has admitted so far.

    An identity counts once, by its first item; the same page again changes nothing. "Seen" is by identity and content
    hash, never by date: a known identity with new content is a new version of its event. Raises LeaseLost.
    """
    got = row(
        conn,
        _ADMIT,
        work_key=claim.key,
        token=claim.token,
        source_key=window.source_key,
        baseline=baseline,
        events=[keys.event(window.source_key, item.identity) for item in items],
        identities=[item.identity for item in items],
        hashes=[item.evidence_hash for item in items],
        urls=[item.url for item in items],
        titles=[item.title for item in items],
        bodies=[item.text for item in items],
        published=[item.published_at for item in items],
    )
    if got is None:
        raise explain_holder(conn, claim.key, token=claim.token)
    return int(got["admitted"])


_EVER_SETTLED = """
select exists (
    select 1 from ingest_run where source_key = %(key)s and status in ('new', 'none')
) as yes
"""


def is_first_read(conn: Conn, source_key: str) -> bool:
    """Whether this source has never been read to the end: its items are then the baseline, not news."""
    found = row(conn, _EVER_SETTLED, key=source_key)
    return not (found and found["yes"])


_SETTLE = """
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
), settled as (
    update ingest_run
       set status = case when ingest_run.fresh > 0 then 'new' else 'none' end,
           declared = coalesce(ingest_run.declared, 0), ended_at = live.at
      from live
     where ingest_run.work_key = live.key
       and ingest_run.token = live.token
       and ingest_run.status = 'claimed'
       and ingest_run.cursor_version = %(cursor_version)s
       and coalesce(ingest_run.declared, 0) = %(declared)s
       and ingest_run.admitted = %(declared)s
    returning ingest_run.work_key, ingest_run.token, ingest_run.source_key, ingest_run.status, ingest_run.fresh, live.at
), closed as (
    update work
       set holder = null, lease_expires_at = null, deadline_at = null, retry_at = null,
           closed_at = settled.at, moved_at = settled.at
      from settled
     where work.key = settled.work_key
), opened as (
    insert into work (key, kind, budget, moved_at)
    select %(next_window)s, 'ingest', %(budget)s, at from settled
), moved as (
    update source
       set cursor_version = source.cursor_version + 1, window_key = %(next_window)s, etag = %(etag)s,
           last_modified = %(last_modified)s, title = coalesce(nullif(%(title)s, ''), title), outcome = settled.status,
           reason = '', failing_since = null, settled_at = settled.at, tried_at = settled.at,
           items_read = case when %(modified)s then %(declared)s else source.items_read end,
           due_at = settled.at + make_interval(secs => %(poll_every)s)
      from settled
     where source.key = settled.source_key
       and source.cursor_version = %(cursor_version)s
    returning source.key
), noted as (
    insert into audit (at, subject, event, token, facts)
    select at, work_key, 'ingest_run.' || status, token,
           jsonb_build_object('declared', %(declared)s::integer, 'fresh', fresh)
      from settled
)
select status from settled join moved on moved.key = settled.source_key
"""
_RUN = "select * from ingest_run where work_key = %(work_key)s and token = %(token)s"


def settle(conn: Conn, claim: Claim, window: Window, reading: Reading) -> str:
    """ingest_run claimed -> new, none: the cursor moves with its validators, if token and version hold and all is
    admitted.

    Reads back what it settled. The same settlement again is answered alike; one of another size raises OutputConflict.
    Raises LeaseLost, or EvidenceMissing when fewer items are stored than were declared.
    """
    declared = len({item.identity for item in reading.items})
    row(
        conn,
        _SETTLE,
        work_key=claim.key,
        token=claim.token,
        cursor_version=window.cursor_version,
        declared=declared,
        next_window=keys.ingest_work(window.source_key, window.cursor_version + 1),
        budget=limits.BUDGET,
        etag=reading.cursor.etag,
        last_modified=reading.cursor.last_modified,
        title=reading.title,
        modified=reading.outcome is not ReadOutcome.NONE or (not reading.items and reading.title != ""),
        poll_every=limits.POLL_EVERY,
    )
    found = row(conn, _RUN, work_key=claim.key, token=claim.token)
    if found is not None and found["status"] in ("new", "none"):
        if found["declared"] != declared:
            raise OutputConflict(key=claim.key, stored=f"{found['declared']} items", asked=f"{declared} items")
        return str(found["status"])
    if found is not None and found["status"] == "claimed" and found["admitted"] != declared:
        still_mine(conn, claim.key, token=claim.token)
        raise EvidenceMissing(f"{found['admitted']} of {declared} items are stored", key=claim.key)
    raise explain_holder(conn, claim.key, token=claim.token)


_FAIL = """
with held as materialized (
    select *
      from work
     where key = %(work_key)s
       and token = %(token)s
       for no key update
), live as materialized (
    select *, ledger_now() as at, attempts >= budget as spent
      from held
     where lease_expires_at > ledger_now()
), ended as (
    update ingest_run
       set status = %(outcome)s, reason = %(reason)s, ended_at = live.at
      from live
     where ingest_run.work_key = live.key
       and ingest_run.token = live.token
       and ingest_run.status = 'claimed'
    returning ingest_run.work_key, ingest_run.source_key, ingest_run.token, live.spent, live.attempts, live.at
), freed as (
    update work
       set holder = null, lease_expires_at = null, deadline_at = null,
           retry_at = case when not ended.spent then ended.at + make_interval(
               secs => coalesce(%(retry_after)s, (%(spacing)s::float8[])[least(ended.attempts, 4)])) end,
           closed_at = case when ended.spent then ended.at end,
           moved_at = ended.at
      from ended
     where work.key = ended.work_key
    returning work.retry_at
), opened as (
    insert into work (key, kind, budget, moved_at)
    select %(next_window)s, 'ingest', %(budget)s, at from ended where spent
), noted_source as (
    update source
       set outcome = %(outcome)s, reason = %(reason)s, tried_at = ended.at,
           failing_since = coalesce(source.failing_since, ended.at),
           cursor_version = source.cursor_version + case when ended.spent then 1 else 0 end,
           window_key = case when ended.spent then %(next_window)s else source.window_key end,
           due_at = case when ended.spent then ended.at + make_interval(secs => %(poll_every)s)
                         else (select retry_at from freed) end
      from ended
     where source.key = ended.source_key
), noted as (
    insert into audit (at, subject, event, token, facts)
    select at, work_key, 'ingest_run.' || %(outcome)s, token,
           jsonb_build_object('reason', %(reason)s::text, 'window_spent', spent)
      from ended
)
select work_key as key, spent, extract(epoch from (select retry_at from freed) - at)::float8 as wait
  from ended
"""


@dataclass(frozen=True, slots=True)
class Unread:
    """A read that failed: when the window may be read again, or that its budget is spent and the next one is open."""

    key: str
    spent: bool
    wait: float | None


def fail(conn: Conn, claim: Claim, window: Window, reading: Reading) -> Unread:
    """ingest_run claimed -> unreachable, invalid: the cursor stays; the window is tried again, or is spent and the
    next one opens.

    Raises LeaseLost.
    """
    got = row(
        conn,
        _FAIL,
        work_key=claim.key,
        token=claim.token,
        outcome=reading.outcome.value,
        reason=reading.reason[:200],
        retry_after=min(reading.retry_after, 3600.0) if reading.retry_after is not None else None,
        spacing=list(limits.SPACING),
        next_window=keys.ingest_work(window.source_key, window.cursor_version + 1),
        budget=limits.BUDGET,
        poll_every=limits.POLL_EVERY,
    )
    if got is None:
        raise explain_holder(conn, claim.key, token=claim.token)
    return Unread(**got)


_FIND_SPENT = """
select source.key as source_key
  from work
  join source on source.window_key = work.key
 where work.holder is not null
   and work.lease_expires_at <= ledger_now()
   and work.attempts >= work.budget
   and work.closed_at is null
   and work.kind = 'ingest'
 order by work.lease_expires_at
 limit %(limit)s
"""


def find_spent(conn: Conn, *, limit: int = 100) -> list[str]:
    """Keys of sources whose last reader died on the window's last attempt: a hint for `expire`."""
    return [found["source_key"] for found in rows(conn, _FIND_SPENT, limit=limit)]


_EXPIRE = """
with held as materialized (
    select *
      from work
     where key = %(work_key)s
       for no key update
), dead as materialized (
    select *, ledger_now() as at
      from held
     where holder is not null
       and lease_expires_at <= ledger_now()
       and attempts >= budget
), ended as (
    update ingest_run
       set status = 'failed', reason = 'its readers died', ended_at = dead.at
      from dead
     where ingest_run.work_key = dead.key
       and ingest_run.status = 'claimed'
    returning ingest_run.work_key
), closed as (
    update work
       set holder = null, lease_expires_at = null, deadline_at = null, retry_at = null,
           closed_at = dead.at, moved_at = dead.at
      from dead
     where work.key = dead.key
    returning work.key, work.token, dead.at
), opened as (
    insert into work (key, kind, budget, moved_at)
    select %(next_window)s, 'ingest', %(budget)s, at from closed
), moved as (
    update source
       set outcome = 'failed', reason = 'its readers died', tried_at = closed.at,
           failing_since = coalesce(source.failing_since, closed.at), cursor_version = source.cursor_version + 1,
           window_key = %(next_window)s, due_at = closed.at + make_interval(secs => %(poll_every)s)
      from closed
     where source.window_key = closed.key
), noted as (
    insert into audit (at, subject, event, token, facts)
    select at, key, 'ingest_run.failed', token, '{"reason": "its readers died", "window_spent": true}' from closed
)
select key from closed
"""


def expire(conn: Conn, window: Window) -> bool:
    """ingest_run claimed -> failed: the window's last claimant is gone; it is terminal, and the next one opens.

    Returns whether it moved.
    """
    got = row(
        conn,
        _EXPIRE,
        work_key=window.work_key,
        next_window=keys.ingest_work(window.source_key, window.cursor_version + 1),
        budget=limits.BUDGET,
        poll_every=limits.POLL_EVERY,
    )
    return got is not None
