"""One entry of a feed as it was found, cleaned, before anybody decided what makes it the same entry next time."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


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
