"""Whole mornings, day after day, made by the activities themselves against a real ledger, object store and web server.

Temporal is not there: what an activity would start is called by hand, in the same order, so that a day takes a second.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import psycopg
from temporalio.testing import ActivityEnvironment

from activities.desk import Desk
from activities.ingest import Ingest
from activities.messages import Ask
from activities.openings import Openings, followed
from activities.pages import Pages
from activities.research import Research
from activities.steps import Steps
from activities.wiki import Wiki
from matins.ledger import continuation, edition, openings, profile, source, today
from matins.providers.objects import Objects
from matins.rules import profile as profiles
from matins.rules.canonical import sha256
from matins.rules.wiki import object_key
from matins.sources.fetch import Fetcher
from tests.ledger.clock import Clock
from tests.sources.server import Reply, Server

DAY = 86400.0
SENDER = "Matins <matins@example.net>"
FEED = (("Content-Type", "application/feed+json"),)


@dataclass(slots=True)
class Days:
    """An owner's mornings; `server` says what the feed and the boards answer today."""

    desk: Desk
    conn: psycopg.Connection[Any]
    clock: Clock
    objects: Objects
    server: Server

    def owe(self, **asked: Any) -> None:
        """Let ada be owed a morning with one feed and whatever else is asked for."""
        inbox = {"name": "inbox", "address": "ada@example.net"}
        raw = {"owner": "ada", "zone": "Europe/London", "window": "05:00-09:00", "destinations": [inbox], **asked}
        profile.apply(self.conn, profiles.parse(raw, where="this test"))
        source.add(self.conn, "ada", url=self.server.url("/feed"), name="gazette")

    def feed(self, *entries: tuple[str, str, str]) -> None:
        """What the feed answers from now on: (id, title, text) of each entry."""
        items = [
            {"id": name, "url": f"https://gazette.example/{name}", "title": title, "content_text": text}
            for name, title, text in entries
        ]
        body = {"version": "https://jsonfeed.org/version/1.1", "title": "Gazette", "items": items}
        self.server.script["/feed"] = Reply(body=json.dumps(body).encode(), headers=FEED)

    def morning(self, *, plan: int | None = None) -> str:
        """Make today's morning, as it was declared under `plan`. Returns its key."""
        key = today.ask(self.conn, "ada")
        if plan is not None:
            self.conn.execute("update obligation set plan = %s where key = %s", (plan, key))
        wanted = profiles.from_document(profile.current(self.conn, "ada").document).openings
        openings.follow(self.conn, "ada", followed(wanted.boards) if wanted else ())
        reader = Ingest(self.desk, Fetcher(allow_hosts=frozenset({self.server.authority})))
        self._run(reader.read, "ingest", [one.key for one in source.of_owner(self.conn, "ada")])
        self._run(Research(self.desk, self.objects, poll_wait=1.0).research, "obligation", [key])
        steps = Steps(self.desk, self.objects, sender=SENDER)
        act = {
            "compose": steps.compose,
            "publish": steps.publish,
            "jobs": Openings(self.desk, self.objects, sender=SENDER).jobs,
            "wiki": Wiki(self.desk, self.objects, Pages(self.desk, self.objects, put_timeout=5.0)).wiki,
        }
        while (move := continuation.next_move(self.conn, key)).name != "done":
            self._run(act[move.name], "continuation", [key])
        return key

    def _run(self, act: Any, kind: str, keys: list[str]) -> None:
        for key in keys:
            ActivityEnvironment().run(act, Ask(kind, key))

    def night(self) -> None:
        """Let a day go by."""
        self.clock.forward(DAY)

    def draft(self, key: str) -> dict[str, Any]:
        """The edition of a morning."""
        found: dict[str, Any] = json.loads(edition.find(self.conn, key).draft)
        return found

    def report(self, key: str) -> dict[str, Any]:
        """The openings of a morning."""
        content = openings.report(self.conn, key)
        assert content is not None
        found: dict[str, Any] = json.loads(content)
        return found

    def page(self, title: str) -> str:
        """The Markdown of the story's page that shows this title, as it is in the object store."""
        found = self.conn.execute(
            """
            select page.id, page.objects from page
              join event on event.key = page.event_key
              join summary on summary.key = event.summary_key
             where summary.title = %s
            """,
            (title,),
        ).fetchall()
        [(page_id, told)] = found
        content = self.objects.get(object_key("ada", "story", page_id, ".md"))
        assert content is not None
        assert sha256(content) == told[".md"]["hash"]
        return content.decode()
