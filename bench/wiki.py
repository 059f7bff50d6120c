"""A wiki to publish: one morning with frozen evidence, an accepted text for each piece of it, and a page for each."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import psycopg

from matins.ledger import admission, evidence, ingest, obligation, page, profile, source, summary, today, work
from matins.ledger.page import Telling
from matins.ledger.summary import Draft
from matins.ledger.work import Claim
from matins.rules import keys, plans
from matins.rules import profile as profiles
from matins.rules.canonical import sha256
from matins.rules.evidence import Cursor, Item, Reading, ReadOutcome

_URL = "https://gazette.example/feed"
_TEXT = "The council has looked at the plans again. The piers stay open, and the ferries keep to their hours."


@dataclass(slots=True)
class Wiki:
    """Pages of `stories` stories of one topic, wanted and not yet published; one more for the topic, and an index."""

    conn: psycopg.Connection[Any]
    stories: int
    morning: str = ""
    items: list[Item] = field(default_factory=list)
    events: list[str] = field(default_factory=list)

    def make(self) -> list[str]:
        """Everything up to the pages. Returns the ids of the stories' pages."""
        owner = {"owner": "bench", "zone": "UTC", "window": "00:00-23:59"}
        profile.apply(self.conn, profiles.parse(owner, where="the bench"))
        self.items = [
            Item(f"item-{number}", f"https://gazette.example/{number}", f"Plan {number} for the harbour", _TEXT)
            for number in range(self.stories)
        ]
        self.events = self._read()
        self.morning = today.ask(self.conn, "bench")
        self._research()
        self.accept("first")
        claim = self._step()
        tellings = [Telling(event, (event,), "town") for event in self.events]
        wanted = page.want(self.conn, claim, "bench", keys.parse(self.morning).local_date, tellings)
        work.release(self.conn, claim.key, token=claim.token)
        return wanted[: self.stories]

    def accept(self, name: str) -> None:
        """Another text becomes current on every event."""
        claim = self._step()
        drafts = [
            Draft(event, item.evidence_hash, name, "bench", f"{item.title}, {name}", f"{_TEXT} {name.capitalize()}.")
            for event, item in zip(self.events, self.items, strict=True)
        ]
        summary.accept(self.conn, claim, drafts)
        work.release(self.conn, claim.key, token=claim.token)

    def _read(self) -> list[str]:
        source.add(self.conn, "bench", url=_URL, name="gazette")
        window = source.window(self.conn, keys.source(_URL))
        claim = self._claim(window.work_key)
        admitted = admission.admit(self.conn, claim, window, self.items, baseline=False)
        reading = Reading(True, ReadOutcome.NEW, tuple(self.items), Cursor('"1"'))
        ingest.settle(self.conn, claim, window, reading, declared=len(admitted.events))
        return [keys.event(window.source_key, item.identity) for item in self.items]

    def _research(self) -> None:
        claim = self._claim(keys.obligation_work(self.morning))
        evidence.freeze(
            self.conn,
            self.morning,
            claim,
            owner="bench",
            content_hash=sha256(b"{}"),
            content=b"{}",
            coverage={},
            items=[(event, item.evidence_hash, True) for event, item in zip(self.events, self.items, strict=True)],
        )
        obligation.complete(self.conn, self.morning, claim, plan=plans.CURRENT, output_hash=sha256(b"{}"))

    def _step(self) -> Claim:
        return self._claim(keys.continuation_work(self.morning), step=plans.COMPOSE)

    def _claim(self, key: str, step: str | None = None) -> Claim:
        return work.claim(self.conn, key, holder="bench/1", lease=60, limit=120, step=step)
