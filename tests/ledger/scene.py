"""What a scene is: one row in a named state, the instants at which it plays, and what readers find in it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date

from matins.ledger.source import Window
from matins.ledger.work import Claim
from matins.rules.evidence import Cursor, Item, Reading, ReadOutcome
from matins.rules.receipt import Receipt, Sighting

EVENING = "2026-08-16T20:00+00:00"
NIGHT = "2026-08-17T00:10+00:00"
"""Ten past one in London: the 17th is declared, its window opens at five."""
OPEN = "2026-08-17T04:05+00:00"
LATE = "2026-08-17T08:00:01+00:00"
"""One second past useful-until."""
DATE = "2026-08-17"
DAY = date.fromisoformat(DATE)
KEPT = b"kept"
"""Bytes that are frozen wherever an edition is: a draft or a bundle can be made of them."""
LEASE, LIMIT, QUARANTINE = 10.0, 120.0, 150.0
URL = "https://gazette.example/feed.xml"
RECEIPT = Receipt("smtp:mail.example:25", "4XyZ", {"reply": "250 2.0.0 Ok: queued as 4XyZ"})
PUT = Receipt("s3:test", "bundle@1", {"etag": "abc"})
SEEN = Sighting(found=True, mechanism="imap:mail.example:993", placement="inbox")


@dataclass(frozen=True, slots=True)
class Scene:
    """One row in the state that was asked for."""

    name: str
    key: str
    work_key: str
    claim: Claim
    """The last claim on its work, dead or alive; of token 0 if there was none."""
    window: Window | None = None


def unclaimed(work_key: str, *, kind: str, step: str | None = None) -> Claim:
    """A claim that nobody was ever given."""
    return Claim(work_key, kind, step, 0, 0, 5, 0, None)  # type: ignore[arg-type]


def item(identity: str, text: str = "Text.", *, title: str = "") -> Item:
    """One entry of a feed."""
    return Item(identity, f"https://gazette.example/{identity}", title or identity, text)


def reading(*items: Item, etag: str = '"1"') -> Reading:
    """A read that reached its source."""
    outcome = ReadOutcome.NEW if items else ReadOutcome.NONE
    return Reading(reached=True, outcome=outcome, items=items, cursor=Cursor(etag), title="Gazette")


def failure(outcome: ReadOutcome = ReadOutcome.UNREACHABLE, *, retry_after: float | None = None) -> Reading:
    """A read that did not reach its source."""
    return Reading(reached=False, outcome=outcome, reason="connection refused", retry_after=retry_after)
