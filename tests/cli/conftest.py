"""The command line in this process, on a fresh database, and a morning that can be walked to any stage."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import psycopg
import pytest

from matins.cli import main
from matins.ledger import (
    action,
    admission,
    continuation,
    edition,
    evidence,
    ingest,
    message,
    obligation,
    observation,
    openings,
    profile,
    source,
    today,
    work,
)
from matins.ledger.outgoing import Outgoing
from matins.rules import keys, plans
from matins.rules.canonical import canonical, sha256
from matins.rules.evidence import Cursor, Item, Reading, ReadOutcome
from matins.rules.profile import parse
from matins.rules.receipt import Receipt, Sighting

STAGES = ("queued", "researched", "composed", "published", "accepted", "observed", "reported", "done")


@dataclass(frozen=True, slots=True)
class Ran:
    """What a command printed, and how it ended."""

    code: int
    out: str
    err: str


@pytest.fixture
def matins(
    dsn: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., Ran]:
    """Runs one command on the test's database."""
    for name, value in {"MATINS_POSTGRES_DSN": dsn, "MATINS_DATA": str(tmp_path / "data")}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("MATINS_CONFIG", "/dev/null")

    def run(*arguments: str) -> Ran:
        capsys.readouterr()
        code = main.run(list(arguments))
        said = capsys.readouterr()
        return Ran(code, said.out, said.err)

    return run


def noon() -> str:
    """A zone in which it is about noon, so that no test meets the end of a day."""
    ahead = 12 - datetime.now(UTC).hour
    return f"Etc/GMT{-ahead:+d}" if ahead else "Etc/GMT"


@dataclass(frozen=True, slots=True)
class Walk:
    """Walks an owner's morning of today through the real transitions."""

    conn: psycopg.Connection

    def own(self, owner: str, **more: object) -> None:
        """Give `owner` a profile with one destination."""
        raw = {
            "owner": owner,
            "zone": noon(),
            "window": "00:00-23:59",
            "destinations": [{"name": "inbox", "address": f"{owner}@example.net"}],
        }
        profile.apply(self.conn, parse({**raw, **more}, where="the test"))

    def to(self, owner: str, stage: str) -> str:
        """Walk to `stage` of STAGES. Returns the morning's key."""
        key = today.ask(self.conn, owner)
        acts = (self._research, self._compose, self._publish, self._accept, self._observe, self._jobs, self._wiki)
        for act in acts[: STAGES.index(stage)]:
            act(key)
        return key

    def claim(self, work_key: str, step: str | None = None) -> work.Claim:
        """A claim of ten seconds."""
        return work.claim(self.conn, work_key, holder="test", lease=10, limit=60, step=step)

    def _effect(self, claim: work.Claim, key: str, step: str, content: bytes) -> None:
        name = keys.action(key, step)
        action.start(self.conn, claim, key=name, subject=key, step=step, provider="s3:test", contents=[content])
        action.record_completed(self.conn, claim, key=name, receipt=Receipt("s3:test", f"{name}#1"))

    def _research(self, key: str) -> None:
        owner = keys.parse(key).owner
        source.add(self.conn, owner, url=f"http://127.0.0.1/{owner}", name="The Gazette")
        window = source.window(self.conn, source.of_owner(self.conn, owner)[0].key)
        reader = self.claim(window.work_key)
        items = (Item("1", "http://example.net/1", "The quay is open", "It is open."),)
        admission.admit(self.conn, reader, window, items, baseline=False)
        ingest.settle(
            self.conn, reader, window, Reading(True, ReadOutcome.NEW, items, Cursor("e"), "The Gazette"), declared=1
        )
        claim = self.claim(keys.obligation_work(key))
        content = canonical({"key": key})
        found = [(one.event_key, one.evidence_hash, True) for one in evidence.fresh(self.conn, key)]
        coverage = {"sources": 1, "reached": 1, "items": 1, "new": 1, "unseen": []}
        evidence.freeze(
            self.conn, key, claim, owner=owner, content_hash=sha256(content), content=content, coverage=coverage,
            items=found,
        )  # fmt: skip
        self._effect(claim, key, "research", content)
        obligation.complete(self.conn, key, claim, plan=plans.CURRENT, output_hash=sha256(content))

    def _compose(self, key: str) -> None:
        claim = self.claim(keys.continuation_work(key), "compose")
        content = canonical({"draft": key})
        self._effect(claim, key, "compose", content)
        facts = {"stories": 1, "minutes": 1, "links": 1, "numbers": 0, "quotations": 0}
        edition.draft(
            self.conn, key, claim, plan=plans.CURRENT, kind="quoted", title="The quay is open",
            draft_hash=sha256(content), facts=facts,
        )  # fmt: skip

    def _publish(self, key: str) -> None:
        claim = self.claim(keys.continuation_work(key), "publish")
        listing = canonical({"files": [], "key": key})
        self._effect(claim, key, "publish", listing)
        owner = keys.parse(key).owner
        mail = f"Subject: {owner}\r\n\r\nGood morning.\r\n".encode()
        there = profile.destinations(self.conn, owner, obligation.owed(self.conn, key).profile_version)
        outgoing = [
            Outgoing(
                "brief", one.channel, one.name, one.address, one.proof, one.if_unknown, mail, sha256(mail),
                f"<{owner}-{one.name}@test>",
            )
            for one in there
        ]  # fmt: skip
        edition.publish(
            self.conn, key, claim, plan=plans.CURRENT, bundle_hash=sha256(listing), messages=outgoing, send_at=None
        )

    def send(self, key: str) -> tuple[work.Claim, message.Envelope]:
        """Claim the morning's one message and start its send."""
        work_key = keys.message_work(keys.message(key, "brief", "email", "inbox"))
        envelope = message.envelope(self.conn, work_key)
        claim = self.claim(work_key)
        action.start(
            self.conn, claim, key=envelope.action, subject=key, step="send", provider="smtp:test:25",
            contents=[envelope.mail],
        )  # fmt: skip
        return claim, envelope

    def _accept(self, key: str) -> None:
        claim, envelope = self.send(key)
        message.accept(
            self.conn, claim, Receipt("smtp:test:25", envelope.mail_id, {"reply": "250 Ok: queued as 9F2C1"})
        )

    def _observe(self, key: str) -> None:
        work_key = keys.message_work(keys.message(key, "brief", "email", "inbox"))
        observation.observe(self.conn, work_key, Sighting(True, "imap:test:143", "inbox"))

    def _jobs(self, key: str) -> None:
        claim = self.claim(keys.continuation_work(key), "jobs")
        written = (keys.action(key, "jobs"), sha256(b"none"), b"none")
        continuation.complete_step(self.conn, key, claim, plan=plans.CURRENT, written=written)

    def _wiki(self, key: str, pages: Sequence[str] = ()) -> None:
        claim = self.claim(keys.continuation_work(key), "wiki")
        done = canonical({"key": key, "pages": list(pages), "still_due": list(pages)})
        written = (keys.action(key, "wiki"), sha256(done), done)
        continuation.complete_step(self.conn, key, claim, plan=plans.CURRENT, written=written)

    def report(self, key: str, **facts: object) -> None:
        """Complete the step of the openings with a report."""
        claim = self.claim(keys.continuation_work(key), "jobs")
        content = canonical({"report": key})
        self._effect(claim, key, "jobs", content)
        openings.keep(self.conn, key, claim, content_hash=sha256(content), facts=dict(facts))
        continuation.complete_step(self.conn, key, claim, plan=plans.CURRENT)

    def keep_wiki(self, key: str, *pages: str) -> None:
        """Complete the step of the wiki with these pages of topics, which are all still due."""
        for page_id in pages:
            self.conn.execute("insert into work (key, kind) values (%s, 'page')", (keys.page_work(page_id),))
            self.conn.execute(
                "insert into page (id, owner, kind, topic, work_key, wanted, created_at)"
                " values (%s, %s, 'topic', %s, %s, 1, ledger_now())",
                (page_id, keys.parse(key).owner, page_id, keys.page_work(page_id)),
            )
        self._wiki(key, pages)

    def finish(self, key: str) -> None:
        """Walk a published morning through its last two steps, whatever becomes of its mail."""
        self._jobs(key)
        self._wiki(key)


@pytest.fixture
def walk(conn: psycopg.Connection) -> Walk:
    """Walks mornings on the test's database."""
    return Walk(conn)
