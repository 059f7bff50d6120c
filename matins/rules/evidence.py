"""What the rooms of floor 2 hand to each other: items as read, evidence as frozen, and how far the look reached."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from matins.rules.canonical import hash_of


@dataclass(frozen=True, slots=True)
class Item:
    """One entry of a feed, cleaned: plain text, an absolute link, a date that is only a hint."""

    identity: str
    """What makes it the same item at the next read: a sound guid, else the canonical link, else its content."""
    url: str
    """Absolute http(s) link, or "" if the entry has none."""
    title: str
    text: str
    """Plain text, paragraphs separated by a blank line."""
    published_at: datetime | None = None
    """What the source says, aware; never used to decide whether the item was seen."""

    @property
    def evidence_hash(self) -> str:
        """SHA-256 over what a reader could be told of it."""
        return hash_of({"url": self.url, "title": self.title, "text": self.text})


class ReadOutcome(StrEnum):
    """How one read of a source ended. Reached-and-empty, unreachable and invalid are three different things."""

    NEW = "new"
    NONE = "none"
    UNREACHABLE = "unreachable"
    INVALID = "invalid"


@dataclass(frozen=True, slots=True)
class Cursor:
    """How far a source was read: the validators of a conditional GET."""

    etag: str = ""
    last_modified: str = ""


@dataclass(frozen=True, slots=True)
class Reading:
    """What one read of a source found."""

    reached: bool
    """False: unreachable or invalid; `reason` says why and there are no items."""
    outcome: ReadOutcome
    """NEW where the document came and has items, NONE for "not modified" and for a feed with no items."""
    items: tuple[Item, ...] = ()
    cursor: Cursor = field(default_factory=Cursor)
    title: str = ""
    reason: str = ""
    """A short sentence for a person, without the feed's own text."""
    retry_after: float | None = None
    """Seconds the server asked us to wait, if it did."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """One admitted version of one event, as an owner's morning may use it."""

    event_key: str
    evidence_hash: str
    source_key: str
    source_name: str
    url: str
    title: str
    text: str
    published_at: datetime | None
    first_seen_at: datetime
    baseline: bool
    """It was there when its source was first read: old unless its own date says otherwise."""


@dataclass(frozen=True, slots=True)
class SourceLook:
    """What a morning's look at one source came to."""

    source_key: str
    name: str
    reached: bool
    items_read: int
    reason: str
    since: datetime | None
    """Since when it could not be reached, if it could not."""
