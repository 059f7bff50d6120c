"""What the rooms of floor 2 hand to each other: items as read, evidence as frozen, and how far the look reached."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date, datetime
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
    facts: dict[str, str] = field(default_factory=dict)
    """What the source says in fields of its own, by name: a role's place and team. Empty for a feed's entry."""

    @property
    def evidence_hash(self) -> str:
        """SHA-256 over what a reader could be told of it."""
        told: dict[str, object] = {"url": self.url, "title": self.title, "text": self.text}
        return hash_of(told | {"facts": self.facts} if self.facts else told)


class ReadOutcome(StrEnum):
    """How one read of a source ended. Reached-and-empty, unreachable and invalid are three different things."""

    NEW = "new"
    NONE = "none"
    UNREACHABLE = "unreachable"
    """No answer, or one that may be another one next time."""
    INVALID = "invalid"
    """An answer that is not what this source should be."""
    PARTIAL = "partial"
    """Some of it came: its items are kept, and the cursor stays where it was."""
    GONE = "gone"
    """It says itself that it is gone for good (410). It is still asked, rarely."""


class SourceKind(StrEnum):
    """What stands at a source's address."""

    FEED = "feed"
    GREENHOUSE = "greenhouse"
    LEVER = "lever"
    ASHBY = "ashby"

    @property
    def is_board(self) -> bool:
        """Whether it lists open roles. What is no longer listed there is gone, which a feed does not say."""
        return self is not SourceKind.FEED


@dataclass(frozen=True, slots=True)
class Cursor:
    """How far a source was read: the validators of a conditional GET, and the document that came."""

    etag: str = ""
    last_modified: str = ""
    body_hash: str = ""
    """SHA-256 of the body that was read to its end; the same body again is "not modified", whatever the server says."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What one read of a source found."""

    reached: bool
    """False: unreachable, invalid or gone; `reason` says why and there are no items."""
    outcome: ReadOutcome
    """NEW where the document came and has items, NONE for "not modified" and for a feed with no items, PARTIAL where
    it broke off after some items (`reason` says where).
    """
    items: tuple[Item, ...] = ()
    cursor: Cursor = field(default_factory=Cursor)
    title: str = ""
    reason: str = ""
    """A short sentence for a person, without the feed's own text."""
    retry_after: float | None = None
    """Seconds the server asked us to wait, if it did."""
    unmodified: bool = False
    """The document is the one that was read before: it was not parsed, and says nothing about what is listed."""
    moved_to: str = ""
    """Where it came from, if every redirect on the way was permanent (301, 308); else ""."""
    next_url: str = ""
    """The next, older page of the same feed (RFC 5005 section 3), or ""."""


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
class Told:
    """One piece of evidence that an earlier edition of the same owner told."""

    local_date: date
    """Of that edition."""
    event_key: str
    evidence_hash: str
    source_key: str
    url: str
    title: str
    text: str
    published_at: datetime | None
    first_seen_at: datetime


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
    partial: bool = False
    """It was reached, and broke off: `reason` says where."""
