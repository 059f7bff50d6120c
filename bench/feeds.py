"""Many sources, of which hardly any changes: what one round of reading all of them asks of their servers and of us.

One loopback process serves the feeds (`bench/feed_server.py`). They are polled by `activities.ingest.Ingest` with a
real desk and pool on a Postgres of its own, in as many threads as a worker has fetch slots, without Temporal in
between: the threads take the keys that the sweep's own query finds due. The database's clock is set forward between
the rounds, so that all are due again. The first round reads everything, before the second one a few change, then none
does.
"""

from __future__ import annotations

import asyncio
import gc
import json
import os
import subprocess
import threading
import time
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
from psycopg_pool import ConnectionPool
from temporalio.client import Client
from temporalio.testing import ActivityEnvironment

import worker
from activities.beats import Beats
from activities.desk import Desk
from activities.ingest import Ingest
from activities.messages import Ask
from bench import cpu, wal
from bench.contenders import spawn
from bench.ground import Ground, forward, wait
from bench.table import Row
from matins.ledger import profile, source
from matins.orchestrator import Orchestrator
from matins.rules import limits
from matins.rules import profile as profiles
from matins.rules.errors import Refused
from matins.rules.limits import Limits
from matins.settings import CHECKOUT
from matins.sources.fetch import Fetcher

ROUNDS = 5
"""The first reads all, before the second some change, the others find nothing."""
OWNERS = 10
THREADS = worker.SLOTS["fetch"]
_POOL = 12
"""As MATINS_POOL has it by default."""


@dataclass(frozen=True, slots=True)
class Round:
    """One read of every source."""

    requests: int
    most: int
    unchanged: int
    seconds: float
    ours: float
    """Processor seconds of this process, its threads together."""
    postgres: float
    written: wal.Written
    scanned: float
    """Rows read by scans of tables from end to end, by Postgres' statistics, which may be a second late."""
    resident: float
    """Megabytes of this process after it."""


def measure(ground: Ground) -> list[Row]:
    """ROUNDS rounds over all sources."""
    address = ground.empty("feeds")
    with serving(ground.directory / "feeds.port") as url, psycopg.connect(address, autocommit=True) as conn:
        _subscribe(conn, url, ground.sizes.feeds)
        with ingesting(address, url) as ingest:
            rounds = []
            for number in range(ROUNDS):
                if number == 1:
                    _get(url, f"change?percent={ground.sizes.changed}")
                forward(conn, seconds=number * (limits.POLL_EVERY + 60))
                rounds.append(_round(conn, url, ingest, ground.sizes.feeds))
    ground.drop("feeds")
    return _rows(rounds, ground.sizes.feeds)


def _rows(rounds: list[Round], feeds: int) -> list[Row]:
    first, changed, *quiet = rounds
    after = rounds[1:]
    return [
        Row(f"feeds: requests for one of {feeds:,} in one round, the most", [one.most for one in rounds], at_most=1),
        Row("  answered by 304, nothing changed", [one.unchanged for one in quiet]),
        Row("feeds: log written per unchanged source", _per(feeds, [one.written.bytes for one in quiet]), "B", 2048),
        Row("  whole pages first touched since a checkpoint, apart",
            _per(feeds, [one.written.pages for one in quiet]), "B"),
        Row("  rows written per unchanged source", _per(feeds, [one.written.rows for one in quiet])),
        Row("  entries put into indexes per unchanged source", _per(feeds, [one.written.entries for one in quiet])),
        Row("  commits per unchanged source", _per(feeds, [one.written.commits for one in quiet])),
        Row("feeds: rows read by scans of whole tables, per unchanged source",
            _per(feeds, [one.scanned for one in quiet]), at_most=10),
        Row("feeds: log written in the round in which some changed", [changed.written.bytes / 1e6], "MB"),
        Row("feeds: sources a second, nothing changed", [feeds / one.seconds for one in quiet], "/s"),
        Row("  all new, ten items each", [feeds / first.seconds], "/s"),
        Row("  processor time per unchanged source, the worker's",
            _per(feeds, [one.ours * 1e3 for one in quiet]), "ms"),
        Row("  processor time per unchanged source, Postgres'",
            _per(feeds, [one.postgres * 1e3 for one in quiet]), "ms"),
        Row("feeds: memory after each round from the second on", [one.resident for one in after], "MB"),
        Row("  of the last to that of the second", [after[-1].resident / after[0].resident], at_most=1.05),
    ]  # fmt: skip


def _per(feeds: int, values: list[float]) -> list[float]:
    return [value / feeds for value in values]


def _round(conn: psycopg.Connection[Any], url: str, ingest: Ingest, feeds: int) -> Round:
    due = source.find_due(conn, limit=feeds + 1)
    if len(due) != feeds:
        raise Refused(f"{len(due)} of {feeds} sources are due")
    _get(url, "counts")
    began, scanned, position = _now(conn), _scanned(conn), wal.begin(conn)
    with ThreadPoolExecutor(THREADS) as threads:
        for _ in threads.map(lambda key: ActivityEnvironment().run(ingest.read, Ask("ingest", key)), due):
            pass
    ended, written = _now(conn), wal.since(conn, position)
    gc.collect()
    wall, ours, postgres = (after - before for before, after in zip(began, ended, strict=True))
    return Round(**_get(url, "counts"), seconds=wall, ours=ours, postgres=postgres, written=written,
                 scanned=_scanned(conn) - scanned, resident=cpu.resident(os.getpid()))  # fmt: skip


def _scanned(conn: psycopg.Connection[Any]) -> float:
    conn.execute("select pg_stat_force_next_flush()")
    [(rows,)] = conn.execute("select sum(seq_tup_read)::float8 from pg_stat_user_tables").fetchall()
    return float(rows)


def _now(conn: psycopg.Connection[Any]) -> tuple[float, float, float]:
    """Seconds on the wall, of this process, and of all of this Postgres."""
    [(backend,)] = conn.execute("select pg_backend_pid()").fetchall()
    fields = Path(f"/proc/{backend}/stat").read_text().rpartition(")")[2].split()
    return time.monotonic(), time.process_time(), cpu.seconds(int(fields[1]))


def _subscribe(conn: psycopg.Connection[Any], url: str, feeds: int) -> None:
    """OWNERS owners, each with its share of the sources."""
    for number in range(OWNERS):
        nothing_owed = {"owner": f"reader-{number}", "zone": "UTC", "window": "00:00-00:01"}
        profile.apply(conn, profiles.parse(nothing_owed, where="the bench"))
    with conn.transaction():
        for number in range(feeds):
            source.add(conn, f"reader-{number % OWNERS}", url=f"{url}/{number}.xml", name=f"feed {number}")
    conn.execute("vacuum analyze")


def _get(url: str, path: str) -> dict[str, int]:
    with urllib.request.urlopen(f"{url}/{path}", timeout=20) as answer:
        told: dict[str, int] = json.load(answer)
    return told


@contextmanager
def serving(port_file: Path) -> Iterator[str]:
    """The feeds' server; its address."""
    log = port_file.with_suffix(".log")
    server: subprocess.Popen[bytes] = spawn(
        ["-m", "bench.feed_server", str(port_file)], log, {"PYTHONPATH": str(CHECKOUT)}
    )
    try:
        wait(port_file.exists, seconds=20, otherwise=lambda: "the feeds' server did not come to serve")
        yield f"http://127.0.0.1:{port_file.read_text()}"
    finally:
        server.kill()
        server.wait(20)
        port_file.unlink(missing_ok=True)


@contextmanager
def working(address: str) -> Iterator[Desk]:
    """A desk as a worker has it, its beat running, and a Temporal that nobody asks."""
    bounds = Limits()
    beats = Beats(address, every=bounds.beat, lease=bounds.lease)
    loop = asyncio.new_event_loop()
    turning = threading.Thread(target=loop.run_forever, daemon=True)
    turning.start()
    client = asyncio.run_coroutine_threadsafe(Client.connect("127.0.0.1:1", lazy=True), loop).result(10)
    pool: ConnectionPool[Any] = ConnectionPool(
        address, min_size=2, max_size=_POOL, open=False, kwargs={"autocommit": True, "prepare_threshold": None}
    )
    beats.start()
    try:
        with pool:
            yield Desk(pool, beats, bounds, Orchestrator(client, loop, {}))
    finally:
        beats.stop()
        loop.call_soon_threadsafe(loop.stop)
        turning.join()
        loop.close()


@contextmanager
def ingesting(address: str, url: str) -> Iterator[Ingest]:
    """The activity that reads sources, as a worker has it."""
    with working(address) as desk:
        yield Ingest(desk, Fetcher(allow_hosts=frozenset({url.removeprefix("http://")})))
