"""What a page is made from. Its version is read first: whatever changes while the rest is read makes it another one,
and a write of a version that is not wanted any more is refused.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from matins.ledger.query import Row, row, rows
from matins.ledger.work import Conn
from matins.rules import keys
from matins.rules.errors import EvidenceMissing, NoSuchRow
from matins.rules.wiki import Card, Index, Listed, ListedTopic, Material, PageKind, Story, Summary, Topic

_RELATED = 10

_PAGE = """
select page.id, page.owner, page.kind, page.topic, page.event_key, page.wanted, profile.zone, event.summary_key
  from page
  join owner on owner.name = page.owner
  join profile on profile.owner = owner.name and profile.version = owner.profile_version
  left join event on event.key = page.event_key
 where page.id = %(id)s
"""
_SUMMARIES = """
select summary.key, summary.title, summary.body as text, summary.model, summary.accepted_at
  from page_member
  join summary on summary.event_key = page_member.event_key
 where page_member.page_id = %(id)s
   and summary.rejected_at is null
 order by summary.accepted_at desc, summary.key
"""
_CARDS = """
select evidence.event_key, evidence.hash as evidence_hash,
       coalesce(subscription.name, nullif(source.title, ''), source.url) as source_name, evidence.url, evidence.title,
       evidence.published_at, event.first_seen_at, min(obligation.local_date) as told_on
  from page_member
  join evidence_item on evidence_item.owner = page_member.owner and evidence_item.event_key = page_member.event_key
  join obligation on obligation.key = evidence_item.key
  join evidence on evidence.event_key = evidence_item.event_key and evidence.hash = evidence_item.evidence_hash
  join event on event.key = evidence.event_key
  join source on source.key = event.source_key
  left join subscription on subscription.source_key = source.key and subscription.owner = page_member.owner
 where page_member.page_id = %(id)s
   and evidence_item.chosen
 group by evidence.event_key, evidence.hash, subscription.name, source.title, source.url, evidence.url, evidence.title,
          evidence.published_at, event.first_seen_at
 order by told_on, event.first_seen_at, evidence.event_key, evidence.hash
"""
_STORIES = """
select page.id as page_id, page.topic, summary.title, page.first_told, page.last_told,
       (select count(*)
          from page_member
          join evidence_item on evidence_item.owner = page_member.owner
                            and evidence_item.event_key = page_member.event_key
         where page_member.page_id = page.id
           and evidence_item.chosen) as pieces
  from page
  join event on event.key = page.event_key
  join summary on summary.key = event.summary_key
 where page.owner = %(owner)s
   and page.kind = 'story'
   and (%(topic)s::text is null or page.topic = %(topic)s)
   and page.id <> %(but)s
 order by page.last_told desc, summary.title, page.id
 limit %(limit)s
"""


@dataclass(frozen=True, slots=True)
class Made:
    """The material of a page, and which version of it this is."""

    version: int
    material: Material

    @property
    def cards(self) -> list[tuple[str, str]]:
        """(event, evidence hash) of each card on it."""
        shown = self.material.cards if isinstance(self.material, Story) else ()
        return [(card.event_key, card.evidence_hash) for card in shown]


def of(conn: Conn, page_id: str) -> Made:
    """What the page should show now. Raises NoSuchRow, or EvidenceMissing for a story of which nothing was told."""
    found = row(conn, _PAGE, id=page_id)
    if found is None:
        raise NoSuchRow(key=keys.page_work(page_id))
    return Made(found["wanted"], _material(conn, found))


def _material(conn: Conn, page: Row) -> Material:
    match page["kind"]:
        case PageKind.STORY:
            return _story(conn, page)
        case PageKind.TOPIC:
            stories = tuple(_listed(one) for one in _stories(conn, page["owner"], page["topic"]))
            return Topic(page["owner"], page["id"], page["topic"], stories)
        case _:
            return Index(page["owner"], page["id"], _topics(conn, page["owner"]))


def _story(conn: Conn, page: Row) -> Story:
    cards = tuple(Card(**found) for found in rows(conn, _CARDS, id=page["id"]))
    if not cards:
        raise EvidenceMissing("no edition told it", key=keys.page_work(page["id"]))
    current, *history = _texts(conn, page, cards)
    related = rows(conn, _STORIES, owner=page["owner"], topic=page["topic"], but=page["id"], limit=_RELATED)
    return Story(
        owner=page["owner"],
        page_id=page["id"],
        zone=page["zone"],
        topic=page["topic"],
        topic_id=keys.page(page["owner"], PageKind.TOPIC, page["topic"]),
        current=current,
        history=tuple(history),
        cards=cards,
        told=tuple(sorted({card.told_on for card in cards}, reverse=True)),
        related=tuple((one["page_id"], one["title"]) for one in related),
    )


def _texts(conn: Conn, page: Row, cards: tuple[Card, ...]) -> list[Summary]:
    """The current text and then the earlier ones, newest first.

    Where the current one was taken back, the newest of the others stands in, and where there is none, a title alone.
    """
    accepted = {found.pop("key"): Summary(**found) for found in rows(conn, _SUMMARIES, id=page["id"])}
    current = accepted.pop(page["summary_key"], None)
    if current is not None:
        return [current, *accepted.values()]
    newest = cards[-1]
    return list(accepted.values()) or [Summary(newest.title, "", "", newest.first_seen_at)]


def _stories(conn: Conn, owner: str, topic: str | None) -> list[dict[str, Any]]:
    return rows(conn, _STORIES, owner=owner, topic=topic, but="", limit=None)


def _listed(found: Row) -> Listed:
    return Listed(**{name: value for name, value in found.items() if name != "topic"})


def _topics(conn: Conn, owner: str) -> tuple[ListedTopic, ...]:
    """Topics by their newest story: the stories come newest first."""
    by_topic: dict[str, list[Row]] = {}
    for story in _stories(conn, owner, None):
        by_topic.setdefault(story["topic"], []).append(story)
    return tuple(
        ListedTopic(keys.page(owner, PageKind.TOPIC, topic), topic, len(stories), stories[0]["last_told"])
        for topic, stories in by_topic.items()
    )
