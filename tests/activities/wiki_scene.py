"""A page of the wiki in the making: its event with a first summary in the ledger, and a store that misbehaves."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import psycopg
from temporalio.testing import ActivityEnvironment

from activities.desk import Desk
from activities.messages import Ask
from activities.pages import Pages
from matins.ledger import admission, evidence, ingest, obligation, page, source, summary, work
from matins.ledger.page import Telling
from matins.ledger.summary import Draft
from matins.ledger.work import Claim
from matins.providers.objects import Objects
from matins.rules import keys
from matins.rules.canonical import sha256
from matins.rules.evidence import Cursor, Item, Reading, ReadOutcome
from tests.ledger.clock import Clock
from tests.providers.faulty_s3 import BUCKET, FaultyS3

URL = "https://gazette.example/feed"
KEY = keys.source(URL)
ITEM = Item("pier", "https://gazette.example/pier", "The pier reopens", "It opens on Thursday at nine.")
PUT_TIMEOUT = 20.0


@dataclass(slots=True)
class WikiScene:
    """One story's page, wanted and not yet published, under a live claim of the morning's next step."""

    desk: Desk
    conn: psycopg.Connection[Any]
    clock: Clock
    store: FaultyS3
    morning: str
    page_id: str = ""
    event: str = ""
    texts: list[str] = field(default_factory=list)

    def make(self) -> WikiScene:
        """Read a source, freeze the evidence, complete the research, accept a first summary, and want its page."""
        source.add(self.conn, "ada", url=URL, name="gazette")
        window = source.window(self.conn, KEY)
        claim = self._claim(window.work_key)
        admitted = admission.admit(self.conn, claim, window, [ITEM], baseline=False)
        reading = Reading(True, ReadOutcome.NEW, (ITEM,), Cursor('"1"'))
        ingest.settle(self.conn, claim, window, reading, declared=len(admitted.events))
        [self.event] = admitted.events
        claim = self._claim(keys.obligation_work(self.morning))
        evidence.freeze(
            self.conn,
            self.morning,
            claim,
            owner="ada",
            content_hash=sha256(b"{}"),
            content=b"{}",
            coverage={},
            items=[(self.event, ITEM.evidence_hash, True)],
        )
        obligation.complete(self.conn, self.morning, claim, plan=2, output_hash=sha256(b"{}"))
        self.accept("first")
        with self.step() as claim:
            day = keys.parse(self.morning).local_date
            ids = page.want(self.conn, claim, "ada", day, [Telling(self.event, (self.event,), "town")])
        self.page_id = ids[0]
        return self

    def _claim(self, key: str, step: str | None = None) -> Claim:
        return work.claim(self.conn, key, holder="another", lease=10, limit=120, step=step)

    def step(self) -> _Step:
        """A claim on the step at hand, given back at the end of the block."""
        return _Step(self)

    def accept(self, text: str) -> None:
        """Another text becomes the current summary, as another worker would accept it: on a connection of its own."""
        with psycopg.connect(self.conn.info.dsn, password=self.conn.info.password, autocommit=True) as conn:
            claim = work.claim(
                conn, keys.continuation_work(self.morning), holder=text, lease=10, limit=120, step="compose"
            )
            draft = Draft(self.event, ITEM.evidence_hash, text, "quoted", f"The {text} title", f"The {text} text.")
            assert summary.accept(conn, claim, [draft]) == []
            work.release(conn, claim.key, token=claim.token)
        self.texts.append(text)

    def pages(self) -> Pages:
        """The page's activity of a worker of its own, with a store client of its own."""
        objects = Objects(self.store.endpoint, access_key="a", secret_key="b", bucket=BUCKET, timeout=5)
        return Pages(self.desk, objects, put_timeout=PUT_TIMEOUT)

    def publish(self, pages: Pages | None = None) -> None:
        """One attempt of the page's activity; raises what the attempt raises."""
        pages = pages or self.pages()
        try:
            ActivityEnvironment().run(pages.bring_up_to_date, self.page_id)
        finally:
            pages.objects.close()

    def sweep(self) -> int:
        """What one sweep does for pages: start the Page workflow of each dirty one, which runs its activity."""
        dirty = page.find_dirty(self.conn)
        for page_id in dirty:
            pages = self.pages()
            ActivityEnvironment().run(pages.publish, Ask("page", page_id))
            pages.objects.close()
        return len(dirty)

    def freeze_put(self) -> tuple[threading.Thread, threading.Event, list[BaseException]]:
        """An attempt whose first put hangs on the wire until the event is set: its thread, the event, its failure."""
        reached, released, failures = threading.Event(), threading.Event(), list[BaseException]()

        def hang(key: str) -> None:
            if not key.startswith("probe/") and not reached.is_set():
                reached.set()
                released.wait(20)

        pages = self.pages()
        assert pages.objects.honours_conditions() is self.store.conditions
        self.store.before_put = hang
        thread = threading.Thread(target=_failing, args=(lambda: self.publish(pages), failures))
        thread.start()
        assert reached.wait(10), "the put never came"
        return thread, released, failures

    def shows(self, text: str) -> bool:
        """Whether the real objects are, byte for byte, what the ledger says is published, and show `text`."""
        state, there = page.state(self.conn, self.page_id), self.store.objects()
        bodies = {form: there.get(f"ada/wiki/stories/{self.page_id}{form}", b"") for form in (".md", ".html")}
        published = {form: told["hash"] for form, told in state.objects.items()}
        assert {form: sha256(body) for form, body in bodies.items()} == published
        current = f"The {text} text.".encode()
        return not state.dirty and all(current in body.partition(b"How it changed")[0] for body in bodies.values())


@dataclass(slots=True)
class _Step:
    scene: WikiScene
    claim: Claim | None = None

    def __enter__(self) -> Claim:
        self.claim = self.scene._claim(keys.continuation_work(self.scene.morning), "compose")
        return self.claim

    def __exit__(self, *_: object) -> None:
        assert self.claim is not None
        work.release(self.scene.conn, self.claim.key, token=self.claim.token)


def _failing(act: Callable[[], None], failures: list[BaseException]) -> None:
    try:
        act()
    except Exception as failure:  # noqa: BLE001 - the test looks at what it was
        failures.append(failure)
