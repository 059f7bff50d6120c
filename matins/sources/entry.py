"""What was found in a feed's document, cleaned, before anybody decided what makes an entry the same one next time."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

MAX_ENTRIES = 5_000
"""Entries of one document."""
MAX_MARKUP_TAGS = 200_000
"""Tags inside the texts of one document; four megabytes of ordinary text have about half of that."""


@dataclass(frozen=True, slots=True)
class Entry:
    """What the formats have in common."""

    guid: str
    """What its publisher calls it, in one line; "" if nothing."""
    url: str
    """Absolute http(s) link, or ""."""
    title: str
    """One line; "" if it has none of its own."""
    text: str
    published_at: datetime | None

    @property
    def says_nothing(self) -> bool:
        """Whether there is nothing in it that anybody could be told."""
        return not (self.url or self.title or self.text)


@dataclass(frozen=True, slots=True)
class Document:
    """A feed's document, in its own order."""

    title: str
    entries: tuple[Entry, ...]
    next_url: str = ""
    """Where it says that the next, older page is: absolute, not judged yet; or ""."""
    broken: bool = False
    """It broke off: the entries are the whole ones before that point."""
