"""The composition root: settings become a pool, a Temporal client and adapters, and these one worker per queue.

worker.py                            serves every queue
worker.py --queue email              serves one
worker.py --queue ai --queue fetch   serves two
"""

from __future__ import annotations

import argparse
import asyncio
import logging
import os
import signal
import sys
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from datetime import timedelta
from typing import Any

from psycopg import OperationalError
from psycopg_pool import ConnectionPool, PoolTimeout
from temporalio.client import Client
from temporalio.converter import DataConverter
from temporalio.worker import Worker

from activities.beats import Beats
from activities.clerk import Clerk
from activities.delivery import Delivery
from activities.desk import Desk
from activities.failures import OwnFailuresOnly
from activities.ingest import Ingest as IngestActivities
from activities.messages import Pace
from activities.openings import Openings
from activities.pages import Pages
from activities.research import Research
from activities.steps import Steps
from activities.wiki import Wiki
from matins import settings as configuration
from matins.keeper import Keeper
from matins.ledger import migrate
from matins.orchestrator import Orchestrator
from matins.providers.imap import Mailbox
from matins.providers.objects import Objects
from matins.providers.smtp import Smtp
from matins.rules.errors import Refused
from matins.rules.limits import Limits
from matins.settings import Settings
from matins.sources.fetch import Fetcher
from matins.sweep import Sweeper
from workflows.continuation import Continuation
from workflows.delivery import Delivery as DeliveryWorkflow
from workflows.ingest import Ingest
from workflows.obligation import Obligation
from workflows.options import QUEUES
from workflows.page import Page
from workflows.sweep import Sweep

log = logging.getLogger("worker")

SLOTS = {"ledger": 8, "ai": 3, "fetch": 16, "email": 4}
"""Activities that run at once, by queue; each has a thread of its own, else some would time out unstarted."""
WORKFLOWS = (Obligation, Continuation, DeliveryWorkflow, Ingest, Page, Sweep)
CONNECT_EVERY = 1.0
AFTER_GRACE = 5.0
OBJECT_TIMEOUT = 20.0
LOOK_TIMEOUT = 15.0
"""Seconds for one look into the mailbox: less than an activity without a claim may take."""

Activities = dict[str, list[Callable[..., Any]]]


@dataclass(frozen=True, slots=True)
class Rooms:
    """Everything that activities are methods of."""

    research: Research
    steps: Steps
    openings: Openings
    wiki: Wiki
    pages: Pages
    delivery: Delivery
    ingest: IngestActivities
    clerk: Clerk


def activities_by_queue(rooms: Rooms) -> Activities:
    """What each queue serves; a test compares it with `workflows/options.py`."""
    return {
        "ledger": [
            rooms.clerk.next_move,
            rooms.clerk.sweep,
            rooms.research.polls,
            rooms.research.research,
            rooms.steps.publish,
            rooms.wiki.wiki,
            rooms.pages.publish,
        ],
        "ai": [rooms.steps.compose],
        "fetch": [rooms.ingest.read, rooms.openings.jobs],
        "email": [rooms.delivery.send, rooms.delivery.recover, rooms.delivery.look, rooms.delivery.observe],
    }


def pace(limits: Limits) -> Pace:
    """The timeouts that ride in each workflow's start."""
    return Pace(limits.heartbeat_timeout, limits.deadline, limits.first_backoff)


async def connect(settings: Settings) -> Client:
    """A client of the configured Temporal; waits until there is one."""
    converter = DataConverter(failure_converter_class=OwnFailuresOnly)
    while True:
        try:
            return await Client.connect(
                settings.temporal_address, namespace=settings.temporal_namespace, data_converter=converter
            )
        except RuntimeError:
            log.warning("Temporal does not answer yet at %s", settings.temporal_address)
            await asyncio.sleep(CONNECT_EVERY)


def build(
    settings: Settings, limits: Limits, pool: ConnectionPool[Any], beats: Beats, orchestrator: Orchestrator
) -> tuple[Activities, Sweeper]:
    """The activities with their adapters, and the sweep."""
    desk = Desk(pool, beats, limits, orchestrator)
    object_timeout = min(limits.provider_timeout, OBJECT_TIMEOUT)
    objects = Objects(
        settings.s3_endpoint,
        access_key=settings.s3_access_key,
        secret_key=settings.s3_secret_key.get_secret_value(),
        bucket=settings.bucket,
        timeout=object_timeout,
    )
    smtp = Smtp(settings.smtp_url.get_secret_value(), timeout=limits.provider_timeout)
    imap = settings.imap_url.get_secret_value()
    mailbox = Mailbox(imap, timeout=min(limits.provider_timeout, LOOK_TIMEOUT)) if imap else None
    sweeper = Sweeper(pool.connection, orchestrator, limits.quarantine)
    pages = Pages(desk, objects, put_timeout=object_timeout)
    rooms = Rooms(
        research=Research(desk, objects, poll_wait=settings.poll_wait),
        steps=Steps(desk, objects, sender=settings.mail_from),
        openings=Openings(desk, objects, sender=settings.mail_from),
        wiki=Wiki(desk, objects, pages),
        pages=pages,
        delivery=Delivery(desk, smtp, mailbox, sender=settings.mail_from),
        ingest=IngestActivities(desk, Fetcher(allow_hosts=frozenset(settings.allow_hosts))),
        clerk=Clerk(desk, sweeper),
    )
    return activities_by_queue(rooms), sweeper


def workers(client: Client, limits: Limits, served: Activities, queues: Sequence[str]) -> list[Worker]:
    """One worker per queue; executors have exactly as many threads as slots."""
    beat = timedelta(seconds=limits.beat)
    return [
        Worker(
            client,
            task_queue=queue,
            workflows=WORKFLOWS if queue == "ledger" else (),
            activities=served[queue],
            activity_executor=ThreadPoolExecutor(SLOTS[queue], thread_name_prefix=queue),
            max_concurrent_activities=SLOTS[queue],
            graceful_shutdown_timeout=timedelta(seconds=limits.grace),
            max_heartbeat_throttle_interval=beat,
            default_heartbeat_throttle_interval=beat,
            sticky_queue_schedule_to_start_timeout=timedelta(seconds=limits.lease),
        )
        for queue in queues
    ]


async def serve(settings: Settings, queues: Sequence[str]) -> None:
    """Serve `queues` until told to stop; then give back what is idle and finish what was begun."""
    limits = settings.limits()
    dsn = settings.postgres_dsn
    pool: ConnectionPool[Any] = ConnectionPool(
        dsn, min_size=2, max_size=settings.pool, open=False, kwargs={"autocommit": True, "prepare_threshold": None}
    )
    pool.open(wait=True)
    with pool.connection() as conn:
        migrate.check_clock(conn)
    client = await connect(settings)
    orchestrator = Orchestrator(client, asyncio.get_running_loop(), asdict(pace(limits)), settings.sweep_every)
    beats = Beats(dsn, every=limits.beat, lease=limits.lease)
    served, sweeper = build(settings, limits, pool, beats, orchestrator)
    keeper = Keeper(orchestrator, sweeper, pool.connection)
    await keeper.settle()
    beats.start()
    running = workers(client, limits, served, queues)
    tasks = [asyncio.create_task(one.run()) for one in running]
    keeping = asyncio.create_task(keeper.run())
    settings.data.mkdir(parents=True, exist_ok=True)
    ready = settings.data / "worker.ready"
    ready.write_text(str(os.getpid()), encoding="ascii")
    log.info("ready: %s", ", ".join(queues))
    try:
        await _told_to_stop(tasks)
        _end_after(limits.grace + AFTER_GRACE)
        stopping = [asyncio.create_task(one.shutdown()) for one in running]
        released = await asyncio.to_thread(beats.release_idle)
        log.info("stopping; given back: %s", ", ".join(released) or "nothing")
        await asyncio.gather(*stopping)
    finally:
        ready.unlink(missing_ok=True)
        keeping.cancel()
        beats.stop()
        pool.close()


async def _told_to_stop(tasks: Sequence[asyncio.Task[None]]) -> None:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    waiting = asyncio.create_task(stop.wait())
    done, _ = await asyncio.wait([waiting, *tasks], return_when=asyncio.FIRST_COMPLETED)
    for task in done:
        task.result()


def _end_after(seconds: float) -> None:
    """A process that outlives its grace ends itself: its leases are then dead, and others may go on."""
    timer = threading.Timer(seconds, os._exit, args=(1,))
    timer.daemon = True
    timer.start()


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve until told to stop. Returns 0, 2 for settings that cannot be, or 3 where Postgres does not answer."""
    parser = argparse.ArgumentParser(prog="worker.py", description="Serve Matins' queues.")
    parser.add_argument("--queue", choices=QUEUES, action="append", help="serve this queue only; may be repeated")
    chosen = parser.parse_args(arguments).queue
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s %(message)s")
    try:
        asyncio.run(serve(configuration.load(), chosen or QUEUES))
    except Refused as refused:
        print(refused, file=sys.stderr)
        return 2
    except (PoolTimeout, OperationalError):
        print("Postgres does not answer. Start it, or correct MATINS_POSTGRES_DSN", file=sys.stderr)
        return 3
    return 0


if __name__ == "__main__":
    sys.exit(main())
