"""Writes of pages: the intent to put one version's bodies, and the mark that they were read back. Both are refused when
something newer is wanted, under the lease of the page's own work row.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from psycopg.types.json import Jsonb

from matins.ledger.query import row
from matins.ledger.work import Claim, Conn, explain_holder, still_mine
from matins.rules import keys
from matins.rules.errors import Superseded

_OPEN = """
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
), current as materialized (
    select page.id, live.token, live.at
      from page
      join live on page.work_key = live.key
     where page.wanted = %(version)s
       for no key update of page
), abandoned as (
    update page_write
       set status = 'abandoned', ended_at = current.at
      from current
     where page_write.page_id = current.id
       and page_write.status = 'open'
       and (page_write.token, page_write.version) <> (current.token, %(version)s)
    returning page_write.page_id, page_write.token, page_write.version, current.token as by_token, current.at
), rechecked as (
    update page
       set recheck_at = current.at + make_interval(
               secs => case when left_open.by_the_dead then %(recheck_after)s::float8 else 0 end)
      from current,
           (select coalesce(bool_or(token < by_token), false) as by_the_dead from abandoned) as left_open
     where page.id = current.id
       and (left_open.by_the_dead or (page.wanted = page.published and page.recheck_at is null))
), opened as (
    insert into page_write (page_id, token, version, status, hashes, opened_at)
    select id, token, %(version)s, 'open', %(hashes)s, at from current
    on conflict (page_id, token, version) do nothing
    returning page_id, token, version, opened_at
), carded as (
    insert into source_card (page_id, event_key, evidence_hash, carded_at)
    select opened.page_id, card.event_key, card.evidence_hash, opened.opened_at
      from opened, unnest(%(events)s::text[], %(evidence)s::text[]) as card (event_key, evidence_hash)
    on conflict do nothing
), noted as (
    insert into audit (at, subject, event, token, facts)
    select at, %(work_key)s, 'page_write.abandoned', token, jsonb_build_object('version', version) from abandoned
    union all
    select opened_at, %(work_key)s, 'page_write.open', token, jsonb_build_object('version', version) from opened
)
select id from current
"""


def open_write(
    conn: Conn,
    claim: Claim,
    page_id: str,
    *,
    version: int,
    hashes: Mapping[str, str],
    cards: Sequence[tuple[str, str]],
    recheck_after: float,
) -> None:
    """page_write none -> open; page_write open -> abandoned: the intent to put the bodies with these hashes, while
    `version` is what the page should show; with a card for each (event, evidence hash) on it.

    What an earlier life left open is abandoned, and the page is read once more after `recheck_after` seconds, when
    nothing of it can come any more. A page that was up to date is due until the mark.

    Raises LeaseLost, or Superseded when something newer is wanted.
    """
    got = row(
        conn,
        _OPEN,
        work_key=claim.key,
        token=claim.token,
        version=version,
        hashes=Jsonb(dict(hashes)),
        events=[event for event, _ in cards],
        evidence=[evidence for _, evidence in cards],
        recheck_after=recheck_after,
    )
    if got is None:
        raise _explain(conn, claim, page_id)


def _explain(conn: Conn, claim: Claim, page_id: str) -> Exception:
    """Why a write on a page matched nothing: the lease is dead, or something newer is wanted."""
    still_mine(conn, claim.key, token=claim.token)
    return Superseded(key=keys.page_work(page_id))


_MARK = """
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
       and in_flight = 0
), current as materialized (
    select page.id, page.event_key, live.key as work_key, live.token, live.at
      from page
      join live on page.work_key = live.key
     where page.wanted = %(version)s
       for no key update of page
), closed as (
    update page_write
       set status = 'closed', ended_at = current.at
      from current
     where page_write.page_id = current.id
       and page_write.token = current.token
       and page_write.version = %(version)s
       and page_write.status = 'open'
    returning page_write.page_id
), marked as (
    update page
       set published = %(version)s, published_at = current.at, objects = %(objects)s,
           summary_key = (select event.summary_key from event where event.key = current.event_key),
           recheck_at = case when page.recheck_at > current.at then page.recheck_at end
      from current
      join closed on closed.page_id = current.id
     where page.id = current.id
    returning page.id, current.work_key, current.token, current.at
), shown as (
    insert into source_card (page_id, event_key, evidence_hash, carded_at, published_at)
    select distinct marked.id, card.event_key, card.evidence_hash, marked.at, marked.at
      from marked, unnest(%(events)s::text[], %(evidence)s::text[]) as card (event_key, evidence_hash)
    on conflict (page_id, event_key, evidence_hash) do update set published_at = excluded.published_at
     where source_card.published_at is null  -- and one that was collected meanwhile is there again
), freed as (
    update work
       set holder = null, lease_expires_at = null, deadline_at = null, retry_at = null, attempts = 0,
           moved_at = marked.at
      from marked
     where work.key = marked.work_key
), noted as (
    insert into audit (at, subject, event, token, facts)
    select at, work_key, 'page_write.closed', token, jsonb_build_object('version', %(version)s::integer) from marked
)
select id from marked
"""
_WRITE = "select status from page_write where page_id = %(id)s and token = %(token)s and version = %(version)s"


def mark(
    conn: Conn,
    claim: Claim,
    page_id: str,
    *,
    version: int,
    objects: Mapping[str, Mapping[str, str]],
    cards: Sequence[tuple[str, str]],
) -> None:
    """page_write open -> closed: published, only while `version` is what the page should show; the lease is given
    back.

    The same mark again is answered alike. Raises LeaseLost, or Superseded when something newer is wanted: then the
    write stays open, and the page dirty.
    """
    got = row(
        conn,
        _MARK,
        work_key=claim.key,
        token=claim.token,
        version=version,
        objects=Jsonb({form: dict(told) for form, told in objects.items()}),
        events=[event for event, _ in cards],
        evidence=[evidence for _, evidence in cards],
    )
    if got is None:
        found = row(conn, _WRITE, id=page_id, token=claim.token, version=version)
        if found is None or found["status"] != "closed":
            raise _explain(conn, claim, page_id)


_CONFIRM = """
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
), abandoned as (
    update page_write
       set status = 'abandoned', ended_at = live.at
      from live
      join page on page.work_key = live.key
     where page_write.page_id = page.id
       and page_write.status = 'open'
    returning page_write.token, page_write.version, live.key, live.token as by_token, live.at
), confirmed as (
    update page
       set recheck_at = case when exists (select 1 from abandoned where token < by_token)
                             then live.at + make_interval(secs => %(recheck_after)s)
                             when page.recheck_at > live.at then page.recheck_at end
      from live
     where page.work_key = live.key
    returning page.id, live.key, live.token, live.at
), freed as (
    update work
       set holder = null, lease_expires_at = null, deadline_at = null, retry_at = null, attempts = 0,
           moved_at = confirmed.at
      from confirmed
     where work.key = confirmed.key
), noted as (
    insert into audit (at, subject, event, token, facts)
    select at, key, 'page_write.abandoned', token, jsonb_build_object('version', version) from abandoned
    union all
    select at, key, 'page.confirmed', token, '{}' from confirmed
)
select id from confirmed
"""


def confirm(conn: Conn, claim: Claim, *, recheck_after: float) -> None:
    """page_write open -> abandoned: the objects were read once more and are what was published; the lease is given
    back.

    What an earlier life left open is abandoned, and the page is read once more after `recheck_after` seconds. Raises
    LeaseLost.
    """
    if row(conn, _CONFIRM, work_key=claim.key, token=claim.token, recheck_after=recheck_after) is None:
        raise explain_holder(conn, claim.key, token=claim.token)
