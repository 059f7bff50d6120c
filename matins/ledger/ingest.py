"""Ingest runs: one claimed read of one window of a source. The cursor moves once per claim token, and only when all
that was declared is stored. The claim itself is the kernel's (`work.claim` on the window's work row).
"""

from __future__ import annotations

from dataclasses import dataclass

from matins.ledger.query import row
from matins.ledger.source import Window
from matins.ledger.work import Claim, Conn, explain_holder, still_mine
from matins.rules import keys, limits
from matins.rules.errors import EvidenceMissing, OutputConflict
from matins.rules.evidence import Reading

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
), before as materialized (
    select source.key, source.fetch_url,
           case when source.moved_to = %(moved_to)s
                 and source.moved_since <= settled.at - make_interval(secs => %(redirect_held)s)
                then %(moved_to)s else source.fetch_url end as believed
      from source
      join settled on settled.source_key = source.key
), moved as (
    update source
       set cursor_version = source.cursor_version + 1, window_key = %(next_window)s, etag = %(etag)s,
           last_modified = %(last_modified)s, body_hash = %(body_hash)s,
           title = coalesce(nullif(%(title)s, ''), title), outcome = settled.status, reason = '', failing_since = null,
           failures = 0, settled_at = settled.at, tried_at = settled.at, items_read = %(declared)s,
           listed_work = settled.work_key, listed_token = settled.token, fetch_url = before.believed,
           moved_to = %(moved_to)s,
           moved_since = case when source.moved_to = %(moved_to)s then source.moved_since
                              when %(moved_to)s::text is not null then settled.at end,
           due_at = settled.at + make_interval(secs => %(poll_every)s)
      from settled
      join before on before.key = settled.source_key
     where source.key = settled.source_key
       and source.cursor_version = %(cursor_version)s
    returning source.key
), noted as (
    insert into audit (at, subject, event, token, facts)
    select settled.at, work_key, 'ingest_run.' || status, token,
           jsonb_strip_nulls(jsonb_build_object('declared', %(declared)s::integer, 'fresh', fresh,
               'read_at_from_now_on', case when believed is distinct from fetch_url then believed end))
      from settled
      join before on before.key = settled.source_key
)
select status from settled join moved on moved.key = settled.source_key
"""
_UNMODIFIED = """
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
), before as (
    delete from ingest_run
     using live
     where ingest_run.work_key = live.key
       and ingest_run.token < live.token
       and ingest_run.status = 'none'
       and ingest_run.unmodified
    returning ingest_run.reads, coalesce(ingest_run.first_claimed_at, ingest_run.claimed_at) as since
), settled as (
    update ingest_run
       set status = 'none', declared = 0, unmodified = true, ended_at = live.at,
           reads = 1 + coalesce((select sum(reads) from before), 0), first_claimed_at = (select min(since) from before)
      from live
     where ingest_run.work_key = live.key
       and ingest_run.token = live.token
       and ingest_run.status = 'claimed'
       and ingest_run.cursor_version = %(cursor_version)s
       and ingest_run.declared is null
    returning ingest_run.work_key, ingest_run.token, ingest_run.source_key, ingest_run.reads, live.at
), freed as (
    update work
       set holder = null, lease_expires_at = null, deadline_at = null, retry_at = null, attempts = 0,
           moved_at = settled.at
      from settled
     where work.key = settled.work_key
), told as (
    update source
       set etag = %(etag)s, last_modified = %(last_modified)s, outcome = 'none', reason = '', failing_since = null,
           failures = 0, settled_at = settled.at, tried_at = settled.at, moved_to = %(moved_to)s,
           moved_since = case when source.moved_to = %(moved_to)s then source.moved_since
                              when %(moved_to)s::text is not null then settled.at end,
           fetch_url = case when source.moved_to = %(moved_to)s
                             and source.moved_since <= settled.at - make_interval(secs => %(redirect_held)s)
                            then %(moved_to)s else source.fetch_url end,
           due_at = settled.at + make_interval(secs => %(poll_every)s)
      from settled
     where source.key = settled.source_key
       and source.cursor_version = %(cursor_version)s
    returning source.key
), noted as (
    insert into audit (at, subject, event, token, facts)
    select at, work_key, 'ingest_run.none', token, jsonb_build_object('reads', reads) from settled
)
select 'none' as status from settled join told on told.key = settled.source_key
"""
_RUN = "select * from ingest_run where work_key = %(work_key)s and token = %(token)s"


def settle(conn: Conn, claim: Claim, window: Window, reading: Reading, *, declared: int = 0) -> str:
    """ingest_run claimed -> new, none: the cursor moves with its validators, if token and version hold and all
    `declared` items are admitted; a document that was not modified moves no cursor, and its window stays open.

    Reads back what it settled. The same settlement again is answered alike; one of another size raises OutputConflict.
    Raises LeaseLost, or EvidenceMissing when fewer items are stored than were declared.
    """
    row(
        conn,
        _UNMODIFIED if reading.unmodified else _SETTLE,
        work_key=claim.key,
        token=claim.token,
        cursor_version=window.cursor_version,
        declared=declared,
        next_window=keys.ingest_work(window.source_key, window.cursor_version + 1),
        budget=limits.BUDGET,
        etag=reading.cursor.etag,
        last_modified=reading.cursor.last_modified,
        body_hash=reading.cursor.body_hash,
        title=reading.title,
        moved_to=reading.moved_to or None,
        redirect_held=limits.REDIRECT_HELD,
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
    select *, ledger_now() as at
      from held
     where lease_expires_at > ledger_now()
), crowd as materialized (
    select count(*) + 1 as tried, count(*) filter (where source.outcome = 'unreachable') + 1 as lost
      from live
      join source on source.tried_at > live.at - make_interval(secs => %(network_window)s)
     where %(outcome)s = 'unreachable'
       and source.key <> %(source_key)s
), judged as materialized (
    select live.*, crowd.tried >= %(network_least)s and crowd.lost >= %(network_share)s * crowd.tried as our_network
      from live, crowd
), ended as (
    update ingest_run
       set status = %(outcome)s, reason = %(reason)s, ended_at = judged.at
      from judged
     where ingest_run.work_key = judged.key
       and ingest_run.token = judged.token
       and ingest_run.status = 'claimed'
    returning ingest_run.work_key, ingest_run.source_key, ingest_run.cursor_version, ingest_run.token,
           judged.our_network, judged.attempts, judged.at,
           not judged.our_network and (judged.attempts >= judged.budget or %(outcome)s = 'gone') as spent
), freed as (
    update work
       set holder = null, lease_expires_at = null, deadline_at = null,
           attempts = ended.attempts - case when ended.our_network then 1 else 0 end,
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
), unread as (
    insert into unread_window (work_key, source_key, cursor_version, how, reason, attempts, ended_at)
    select work_key, source_key, cursor_version, case %(outcome)s when 'gone' then 'gone' else 'spent' end, %(reason)s,
           attempts, at
      from ended
     where spent
), noted_source as (
    update source
       set outcome = %(outcome)s, reason = %(reason)s, tried_at = ended.at,
           failing_since = coalesce(source.failing_since, ended.at),
           failures = source.failures + case when ended.spent then 1 else 0 end,
           cursor_version = source.cursor_version + case when ended.spent then 1 else 0 end,
           window_key = case when ended.spent then %(next_window)s else source.window_key end,
           fetch_url = case when not ended.spent then source.fetch_url end,
           moved_to = case when not ended.spent then source.moved_to end,
           moved_since = case when not ended.spent then source.moved_since end,
           due_at = case when not ended.spent then (select retry_at from freed)
                         when %(outcome)s = 'gone' then ended.at + make_interval(secs => %(poll_ceiling)s)
                         else ended.at + make_interval(
                             secs => least(%(poll_every)s * 2 ^ least(source.failures, 20), %(poll_ceiling)s)) end
      from ended
     where source.key = ended.source_key
), decided as (
    insert into decision (subject, kind, reason, first_seen_at, last_seen_at)
    select 'network', 'our_network', %(our_network)s, at, at from ended where our_network
    on conflict (subject, kind, reason) do update
       set last_seen_at = excluded.last_seen_at, count = decision.count + 1
), noted as (
    insert into audit (at, subject, event, token, facts)
    select at, work_key, 'ingest_run.' || %(outcome)s, token,
           jsonb_build_object('reason', %(reason)s::text, 'window_spent', spent, 'our_network', our_network)
      from ended
)
select work_key as key, spent, our_network, extract(epoch from (select retry_at from freed) - at)::float8 as wait
  from ended
"""
OUR_NETWORK = "most sources cannot be reached: most likely it is this machine's network"


@dataclass(frozen=True, slots=True)
class Unread:
    """A read that failed: when the window may be read again, or that its budget is spent and the next one is open."""

    key: str
    spent: bool
    our_network: bool
    """Most sources failed at once: no attempt was charged."""
    wait: float | None


def fail(conn: Conn, claim: Claim, window: Window, reading: Reading) -> Unread:
    """ingest_run claimed -> unreachable, invalid, partial, gone: the cursor stays; the window is tried again, or is
    spent and the next one opens, to be read the more rarely the more windows were spent.

    What a partial read admitted stays. While nearly all sources are unreachable no attempt is charged: it is our
    network. A source read at the target of a redirect is read at its own address again once a window is spent there.
    Raises LeaseLost.
    """
    got = row(
        conn,
        _FAIL,
        work_key=claim.key,
        token=claim.token,
        source_key=window.source_key,
        outcome=reading.outcome.value,
        reason=reading.reason[:200],
        retry_after=min(reading.retry_after, 3600.0) if reading.retry_after is not None else None,
        spacing=list(limits.SPACING),
        next_window=keys.ingest_work(window.source_key, window.cursor_version + 1),
        budget=limits.BUDGET,
        poll_every=limits.POLL_EVERY,
        poll_ceiling=limits.POLL_CEILING,
        network_window=limits.NETWORK_WINDOW,
        network_least=limits.NETWORK_LEAST,
        network_share=limits.NETWORK_SHARE,
        our_network=OUR_NETWORK,
    )
    if got is None:
        raise explain_holder(conn, claim.key, token=claim.token)
    return Unread(**got)
