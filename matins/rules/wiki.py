"""What a page of the wiki is made from: plain facts out of the ledger, and nothing else. Same material, same bytes.

An owner's wiki is a folder of files that can be read without Matins: `{owner}/wiki/index.html`, one page per topic
and one per story, each as Markdown and as HTML, linked relatively.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime
from enum import StrEnum


class PageKind(StrEnum):
    """What a page is about; a folder of its own for stories and topics."""

    STORY = "story"
    TOPIC = "topic"
    INDEX = "index"


FOLDERS = {PageKind.STORY: "stories/", PageKind.TOPIC: "topics/", PageKind.INDEX: ""}
FORMS = (".md", ".html")
"""The forms of a page: the endings of its files."""


def path(kind: PageKind, page_id: str) -> str:
    """Where a page is in its owner's wiki, without the ending: `stories/3f2a...`, `topics/...` or `index`."""
    return f"{FOLDERS[kind]}{page_id if kind is not PageKind.INDEX else 'index'}"


def object_key(owner: str, kind: str, page_id: str, form: str) -> str:
    """The key under which the object store keeps one form of a page."""
    return f"{owner}/wiki/{path(PageKind(kind), page_id)}{form}"


@dataclass(frozen=True, slots=True)
class Summary:
    """One accepted text on one event's evidence."""

    title: str
    text: str
    """Plain text, paragraphs separated by a blank line."""
    model: str
    accepted_at: datetime


@dataclass(frozen=True, slots=True)
class Card:
    """One piece of evidence on a page, and the first edition of this owner that told it."""

    event_key: str
    evidence_hash: str
    source_name: str
    url: str
    title: str
    published_at: datetime | None
    first_seen_at: datetime
    told_on: date


@dataclass(frozen=True, slots=True)
class Story:
    """The material of one story's page."""

    owner: str
    page_id: str
    zone: str
    topic: str
    """"" if it follows none of the owner's topics."""
    topic_id: str
    """The page of its topic."""
    current: Summary
    history: tuple[Summary, ...]
    """Earlier texts, newest first; never the current one."""
    cards: tuple[Card, ...]
    """Oldest first."""
    told: tuple[date, ...]
    """The editions that told it, newest first: `../../morning/{date}/...` is not linked, its date is named."""
    related: tuple[tuple[str, str], ...] = ()
    """Back links: (page id, title) of other stories of its topic, the most recently told first, at most ten."""


@dataclass(frozen=True, slots=True)
class Listed:
    """A story as a topic's page lists it."""

    page_id: str
    title: str
    first_told: date
    last_told: date
    pieces: int
    """Pieces of evidence on its page."""


@dataclass(frozen=True, slots=True)
class Topic:
    """The material of one topic's page."""

    owner: str
    page_id: str
    topic: str
    stories: tuple[Listed, ...]
    """The most recently told first."""


@dataclass(frozen=True, slots=True)
class ListedTopic:
    """A topic as the index lists it."""

    page_id: str
    topic: str
    stories: int
    last_told: date


@dataclass(frozen=True, slots=True)
class Index:
    """The material of the front page of an owner's wiki."""

    owner: str
    page_id: str
    topics: tuple[ListedTopic, ...]
    """The most recently told first."""


Material = Story | Topic | Index
