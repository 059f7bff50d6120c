"""One scene: a morning of its own database, namespace, bucket, mailbox and feed, and the workers that live and die in
it. What happened is counted at the receiving ends: mails in the Maildir and in the sink's own ledger, objects in the
bucket.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Coroutine, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self, TypeVar

import psycopg
from temporalio.api.enums.v1 import EventType
from temporalio.client import Client

from matins.ledger import profile, source
from matins.orchestrator import Orchestrator
from matins.rules import calendar, keys, plans
from matins.rules import profile as profiles
from matins.rules.limits import Limits
from matins.sources.address import canonical_url
from matins.sweep import Sweeper
from tests.crash.feeds import Feeds
from tests.crash.life import Life, until
from tests.crash.relay import Relay
from tests.providers.mailbox_process import MailboxProcess

RARELY = 86400.0
"""Seconds between two sweeps of a scene's own: none helps unseen where Temporal's retries must do."""

Answer = TypeVar("Answer")

LIMITS = Limits(
    lease=3.0,
    beat=0.9,
    heartbeat_timeout=3.6,
    first_backoff=0.4,
    deadline=7.0,
    provider_timeout=2.8,
    smtp_idle=2.5,
    quarantine=2.9,
    grace=4.0,
).check()
"""A night in small."""


def a_zone_by_day() -> str:
    """A zone in which it is day now, so that no scene runs over midnight."""
    return "UTC" if 3 <= datetime.now(UTC).hour < 20 else "Asia/Tokyo"


def _answers(conn: psycopg.Connection[Any]) -> bool:
    try:
        return conn.execute("select 1").fetchone() == (1,)
    except psycopg.OperationalError:
        conn.close()
        return False


class Scene:
    """Everything one crash test needs. Enter it, make an owner owed something, and let workers live."""

    def __init__(
        self,
        directory: Path,
        *,
        dsn: str,
        temporal: str,
        namespace: str,
        store: Mapping[str, str],
    ) -> None:
        self.dsn, self.temporal, self.namespace, self.store = dsn, temporal, namespace, dict(store)
        self.directory, self.sweep_every = directory, RARELY
        self.mailbox = MailboxProcess(directory / "mailbox", idle=LIMITS.smtp_idle)
        self.feeds = Feeds()
        self.limits = LIMITS
        self.smtp_url = ""
        self.pool = 12
        self._conn: psycopg.Connection[Any] | None = None
        self._client: Client | None = None
        self._lives: list[Life] = []
        self._relays: list[Relay] = []
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)

    def __enter__(self) -> Self:
        self.mailbox.start()
        self.smtp_url = self.mailbox.smtp_url
        self.feeds.__enter__()
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        for life in self._lives:
            life.kill()
        for relay in self._relays:
            relay.close()
        if self._conn is not None:
            self._conn.close()
        self.feeds.__exit__()
        self.mailbox.__exit__()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    @contextmanager
    def ledger(self) -> Iterator[psycopg.Connection[Any]]:
        """The connection to this scene's database, made again where it was lost."""
        if self._conn is None or not _answers(self._conn):
            self._conn = psycopg.connect(self.dsn, autocommit=True, connect_timeout=5)
        yield self._conn

    def owe(self, owner: str, *, feed: str = "pier") -> str:
        """Let `owner` be owed a morning, from one feed to one mailbox. Returns the obligation's key."""
        zone = a_zone_by_day()
        inbox = {"name": "inbox", "address": f"{owner}@example.net"}
        asked = {"owner": owner, "zone": zone, "window": "00:00-23:59", "destinations": [inbox]}
        with self.ledger() as conn:
            profile.apply(conn, profiles.parse(asked, where="this test"))
            source.add(conn, owner, url=canonical_url(self.feeds.url(feed)), name=feed)
        return keys.obligation(owner, plans.MORNING, calendar.local_date(datetime.now(UTC), zone))

    def live(self, crash: str = "", *, queues: Sequence[str] = (), temporal: str = "") -> Life:
        """Start a worker with `crash` armed; it serves every queue, or only `queues`."""
        directory = self.directory / f"life-{len(self._lives) + 1}"
        environment = self._environment() | ({"TEMPORAL_ADDRESS": temporal} if temporal else {})
        life = Life(directory, environment, queues=queues, crash=crash)
        self._lives.append(life)
        return life

    def _environment(self) -> dict[str, str]:
        config = self.directory / "matins.toml"
        config.touch()
        durations = {f"MATINS_{name.upper()}": str(getattr(self.limits, name)) for name in LIMITS.__slots__}
        return durations | {
            "MATINS_CONFIG": str(config),
            "MATINS_POSTGRES_DSN": self.dsn,
            "TEMPORAL_ADDRESS": self.temporal,
            "TEMPORAL_NAMESPACE": self.namespace,
            "AWS_ENDPOINT_URL": self.store["endpoint"],
            "AWS_ACCESS_KEY_ID": self.store["access_key"],
            "AWS_SECRET_ACCESS_KEY": self.store["secret_key"],
            "MATINS_BUCKET": self.store["bucket"],
            "MATINS_SMTP_URL": self.smtp_url,
            "MATINS_IMAP_URL": self.mailbox.imap_url,
            "MATINS_ALLOW_HOSTS": self.feeds.host,
            "MATINS_SWEEP_EVERY": str(self.sweep_every),
            "MATINS_POOL": str(self.pool),
        }

    def die_at(self, crash: str, *, queues: Sequence[str] = (), sweep: bool = False, seconds: float = 90) -> None:
        """A whole life: start a worker that has `crash` armed, and see it die there."""
        life = self.live(crash, queues=queues)
        self.wait(life.died, seconds=seconds, sweep=sweep, why=f"no worker came to {crash}")

    def freeze_at(self, point: str, *, queues: Sequence[str] = ()) -> Life:
        """Start a worker that stops dead at `point`, and return it frozen and, for now, cut off from Temporal."""
        relay = Relay(self.temporal)
        self._relays.append(relay)
        life = self.live(f"{point}:stop", queues=queues, temporal=relay.address)
        self.wait(life.is_frozen, seconds=90, why=f"no worker came to {point}")
        relay.cut()
        return life

    def finish(self, key: str, *, seconds: float = 120, sweep: bool = False) -> None:
        """Wait until the morning at `key` has ended well: everything succeeded, and its mail was seen."""
        self.wait(lambda: self.is_finished(key), seconds=seconds, sweep=sweep, why=f"{key} was never finished")

    def is_finished(self, key: str) -> bool:
        """Whether morning, brief and continuation succeeded, every message was seen, and every page is up to date."""
        with self.ledger() as conn:
            found = conn.execute(
                """
                select morning.status, brief.status, continuation.status,
                       (select coalesce(bool_and(status = 'observed'), false) from message where subject = morning.key),
                       (select coalesce(bool_and(wanted = published), true) from page where page.owner = morning.owner)
                  from obligation as morning
                  join obligation as brief on brief.follows = morning.key
                  left join continuation on continuation.key = morning.key
                 where morning.key = %s
                """,
                (key,),
            ).fetchone()
        return found == ("succeeded", "succeeded", "done", True, True)

    def wait(self, condition: Any, *, why: str, seconds: float = 30, sweep: bool = False) -> None:
        """Wait for `condition`; `sweep` runs the five-minute check every second meanwhile. Fails with the story."""
        swept = time.monotonic()

        def settled() -> bool:
            nonlocal swept
            if sweep and time.monotonic() - swept > 1:
                self.sweep()
                swept = time.monotonic()
            return bool(condition())

        until(settled, seconds=seconds, why=lambda: f"{why}\n{self.story()}")

    def sweep(self) -> dict[str, int]:
        """One five-minute check from this process, with the real orchestrator."""
        return Sweeper(self.ledger, self.orchestrator(), self.limits.quarantine).run("test")

    async def connect(self) -> Client:
        """A client of this scene's namespace."""
        if self._client is None:
            self._client = await Client.connect(self.temporal, namespace=self.namespace)
        return self._client

    def orchestrator(self) -> Orchestrator:
        """Temporal, as this process reaches it."""
        pace = {name: getattr(self.limits, name) for name in ("heartbeat_timeout", "deadline", "first_backoff")}
        return Orchestrator(self.ask(self.connect()), self._loop, pace, self.sweep_every)

    def ask(self, question: Coroutine[Any, Any, Answer]) -> Answer:
        """What Temporal's client answers."""
        return asyncio.run_coroutine_threadsafe(question, self._loop).result(30)

    def story(self) -> str:
        """What the ledger and the workers say, for the reader of a failed test."""
        with self.ledger() as conn:
            audit = conn.execute("select to_char(at, 'SS.MS'), subject, event, token, facts from audit order by id")
            work = conn.execute("select key, token, attempts, in_flight, lease_expires_at, retry_at from work")
            states = conn.execute("select work_key, status, look_at, quarantine_until, reason from message")
            told = [str(row) for found in (audit, work, states) for row in found.fetchall()]
        told.extend(self.ask(self._histories()))
        said = [f"--- life {at}\n{life.said()[-3000:]}" for at, life in enumerate(self._lives, 1)]
        return "\n".join([*told, *said])

    async def _histories(self) -> list[str]:
        client = await self.connect()
        told = []
        async for workflow in client.list_workflows():
            told.append(f"--- {workflow.id} {workflow.status}")
            history = await client.get_workflow_handle(workflow.id, run_id=workflow.run_id).fetch_history()
            for event in history.events:
                name = EventType.Name(event.event_type).removeprefix("EVENT_TYPE_")
                told.append(f"{event.event_time.ToDatetime():%M:%S.%f} {name}")
            described = await client.get_workflow_handle(workflow.id, run_id=workflow.run_id).describe()
            told.extend(str(one) for one in described.raw_description.pending_activities)
        return told
