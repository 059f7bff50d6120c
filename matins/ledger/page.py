"""Pages of the wiki: what each should show is counted by `wanted`, what was read back by `published`. A page is dirty
while they differ, or while an abandoned write may still put its bytes; the sweep lets no page stay dirty.

Every act on a page is under the lease of the page's own work row. The reads that make its content are in `material`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Any

from matins.ledger.move import DONE, Move
from matins.ledger.query import execute, row, rows
from matins.ledger.work import Claim, Conn, explain_holder
from matins.rules import keys, limits
from matins.rules.errors import NoSuchRow
from matins.rules.wiki import PageKind

PUBLISH = "publish"

_OF_EVENTS = """
select page_member.event_key, page.id, page.topic
  from page_member
  join page on page.id = page_member.page_id
 where page_member.owner = %(owner)s
   and page_member.event_key = any(%(events)s)
 order by page.created_at, page.id
"""


@dataclass(frozen=True, slots=True)
class Telling:
    """One story as an edition told it: its leading event, all its events, and the topic it follows."""

    lead: str
    members: tuple[str, ...]
    topic: str


@dataclass(frozen=True, slots=True)
class _Wanted:
    id: str
    topic: str
    telling: Telling


def _pages(conn: Conn, owner: str, tellings: Sequence[Telling]) -> list[_Wanted]:
    """The page of each story: the oldest that has one of its events, else a new one named by its leading event. Stories
    that come to be on one page are led by the first of them."""
    events = [event for telling in tellings for event in telling.members]
    known = rows(conn, _OF_EVENTS, owner=owner, events=events)
    wanted: dict[str, _Wanted] = {}
    for telling in tellings:
        new = (keys.page(owner, PageKind.STORY, telling.lead), telling.topic)
        oldest = ((found["id"], found["topic"]) for found in known if found["event_key"] in telling.members)
        page_id, topic = next(oldest, new)
        first = wanted[page_id].telling if page_id in wanted else Telling(telling.lead, (), telling.topic)
        wanted[page_id] = _Wanted(page_id, topic, replace(first, members=first.members + telling.members))
    return list(wanted.values())


_WANT = """
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
), told as materialized (
    select told.*, live.at
      from live, unnest(%(ids)s::text[], %(works)s::text[], %(topics)s::text[], %(leads)s::text[])
             as told (id, work_key, topic, event_key)
      join event on event.key = told.event_key and event.summary_key is not null
), listing as materialized (
    select listing.*, live.at
      from live, unnest(%(list_ids)s::text[], %(list_works)s::text[], %(list_kinds)s::text[], %(list_topics)s::text[])
             as listing (id, work_key, kind, topic)
), worked as (
    insert into work (key, kind, budget, moved_at)
    select work_key, 'page', %(budget)s, at from told
    union all
    select work_key, 'page', %(budget)s, at
      from listing
     where exists (select 1 from told where listing.kind = 'index' or told.topic = listing.topic)
    on conflict (key) do nothing
), stories as (
    insert into page (id, owner, kind, topic, event_key, work_key, wanted, first_told, last_told, created_at)
    select id, %(owner)s, 'story', topic, event_key, work_key, 1, %(local_date)s, %(local_date)s, at
      from told
     order by id
    on conflict (id) do update
       set wanted = page.wanted + 1, event_key = excluded.event_key, last_told = excluded.last_told
     where page.last_told < excluded.last_told
    returning id, topic, last_told
), members as (
    insert into page_member (page_id, owner, event_key, added_at)
    select member.id, %(owner)s, member.event_key, told.at
      from unnest(%(member_ids)s::text[], %(members)s::text[]) as member (id, event_key)
      join told on told.id = member.id
    on conflict do nothing
), listed as (
    insert into page (id, owner, kind, topic, work_key, wanted, created_at)
    select id, %(owner)s, kind, topic, work_key, 1, at
      from listing
     where exists (select 1 from stories where kind = 'index' or stories.topic = listing.topic)
     order by id
    on conflict (id) do update set wanted = page.wanted + 1
    returning id
), noted as (
    insert into audit (at, subject, event, token, facts)
    select live.at, 'page/' || due.id, 'page.wanted', live.token, jsonb_build_object('by', %(work_key)s::text)
      from live, (select id from stories union all select id from listed) as due
)
select (select count(*) from live) as live
"""


def want(conn: Conn, claim: Claim, owner: str, local_date: date, tellings: Sequence[Telling]) -> list[str]:
    """Have a page for every story that an edition told and that has a current summary, one for each topic, and an
    index. Returns the ids of all of them, the stories first.

    The same edition again changes nothing. Raises LeaseLost.
    """
    stories = _pages(conn, owner, tellings)
    topics = list(dict.fromkeys(story.topic for story in stories))
    lists = [(keys.page(owner, PageKind.TOPIC, topic), PageKind.TOPIC, topic) for topic in topics]
    lists.append((keys.page(owner, PageKind.INDEX, ""), PageKind.INDEX, ""))
    got = row(
        conn,
        _WANT,
        work_key=claim.key,
        token=claim.token,
        owner=owner,
        local_date=local_date,
        budget=limits.BUDGET,
        ids=[story.id for story in stories],
        works=[keys.page_work(story.id) for story in stories],
        topics=[story.topic for story in stories],
        leads=[story.telling.lead for story in stories],
        list_ids=[page_id for page_id, _, _ in lists],
        list_works=[keys.page_work(page_id) for page_id, _, _ in lists],
        list_kinds=[kind.value for _, kind, _ in lists],
        list_topics=[topic for _, _, topic in lists],
        member_ids=[story.id for story in stories for _ in story.telling.members],
        members=[event for story in stories for event in story.telling.members],
    )
    if got is None or not got["live"]:
        raise explain_holder(conn, claim.key, token=claim.token)
    return [*(story.id for story in stories), *(page_id for page_id, _, _ in lists)]


@dataclass(frozen=True, slots=True)
class State:
    """One page: what it should show, and what was last read back."""

    id: str
    owner: str
    kind: str
    wanted: int
    published: int
    objects: dict[str, Any]
    """By form: {"hash": SHA-256 that was read back, "etag": the ETag last recorded}."""
    recheck: bool
    """An abandoned write may have put other bytes meanwhile, and the time for a look has come."""

    @property
    def dirty(self) -> bool:
        """Whether something is to be done for it now."""
        return self.wanted > self.published or self.recheck


_STATE = """
select id, owner, kind, wanted, published, objects, coalesce(recheck_at <= ledger_now(), false) as recheck
  from page
 where id = %(id)s
"""


def state(conn: Conn, page_id: str) -> State:
    """How far a page got. Raises NoSuchRow."""
    found = row(conn, _STATE, id=page_id)
    if found is None:
        raise NoSuchRow(key=keys.page_work(page_id))
    return State(**found)


def next_move(conn: Conn, page_id: str) -> Move:
    """What to do next for a page: `publish`, or `done`. Raises NoSuchRow."""
    return Move(page_id, PUBLISH if state(conn, page_id).dirty else DONE, keys.page_work(page_id))


_DOUBT = "update page set recheck_at = ledger_now() where id = %(id)s"


def doubt(conn: Conn, page_id: str) -> None:
    """Have the page read once more: a caller without a lease may have put bytes. A hint, under no fence."""
    execute(conn, _DOUBT, id=page_id)


_FIND_DIRTY = """
select page.id
  from page
  join work on work.key = page.work_key
 where page.dirty
   and (page.wanted > page.published or page.recheck_at <= ledger_now())
   and (work.lease_expires_at is null or work.lease_expires_at <= ledger_now())
   and (work.retry_at is null or work.retry_at <= ledger_now())
 order by page.created_at, page.id
 limit %(limit)s
"""


def find_dirty(conn: Conn, *, limit: int = 500) -> list[str]:
    """Ids of pages that nobody brings up to date, oldest first."""
    return [found["id"] for found in rows(conn, _FIND_DIRTY, limit=limit)]


_DIRTY_OF = "select id from page where id = any(%(ids)s) and wanted > published order by id"


def dirty_of(conn: Conn, ids: Sequence[str]) -> list[str]:
    """Those of `ids` that do not show yet what they should."""
    return [found["id"] for found in rows(conn, _DIRTY_OF, ids=list(ids))]


_COLLECT = """
with orphan as materialized (
    select source_card.page_id, source_card.event_key, source_card.evidence_hash
      from source_card
      join page on page.id = source_card.page_id
     where source_card.published_at is null
       and source_card.carded_at < ledger_now() - make_interval(secs => %(kept)s)
       and page.wanted = page.published
       and not exists (select 1 from page_write where page_write.page_id = page.id and page_write.status = 'open')
     order by source_card.carded_at
     limit %(limit)s
       for update of source_card skip locked
), collected as (
    delete from source_card
     using orphan
     where (source_card.page_id, source_card.event_key, source_card.evidence_hash)
         = (orphan.page_id, orphan.event_key, orphan.evidence_hash)
    returning source_card.page_id, source_card.event_key
), noted as (
    insert into audit (at, subject, event, facts)
    select ledger_now(), 'page/' || page_id, 'source_card.collected', jsonb_build_object('event', event_key)
      from collected
)
select count(*) as collected from collected
"""


def collect_cards(conn: Conn, *, kept: float = limits.CARDS_KEPT, limit: int = 500) -> int:
    """Remove cards that no published page shows and no open write will. Returns how many."""
    got = row(conn, _COLLECT, kept=kept, limit=limit)
    return int(got["collected"]) if got else 0
