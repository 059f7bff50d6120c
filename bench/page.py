"""Publishing a page of the wiki: calls to the object store, commits, milliseconds.

`activities.pages.Pages` publishes one page after the other through a proxy that counts (`bench/counting.py`) into the
real store; commits are read from the log of a Postgres in which nobody else writes. Every page has two forms, so two
objects. First none is there yet, then each is there with an older text. Whether the store honours conditions is asked
once by each worker, before.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

import psycopg
from temporalio.testing import ActivityEnvironment

from activities.pages import Pages
from bench import wal
from bench.counting import Asked, counting
from bench.feeds import working
from bench.ground import Ground
from bench.table import Row
from bench.wiki import Wiki
from matins.ledger import page
from matins.providers.objects import Objects
from matins.rules.errors import Refused

STORIES = 20


@dataclass(frozen=True, slots=True)
class Published:
    """What each page took."""

    calls: list[float]
    commits: list[float]
    bytes: list[float]
    milliseconds: list[float]


def measure(ground: Ground) -> list[Row]:
    """STORIES pages for the first time, and once more with another text."""
    address, settings = ground.empty("page"), ground.running.settings
    with (
        counting(settings.s3_endpoint) as asked,
        working(address) as desk,
        psycopg.connect(address, autocommit=True) as conn,
    ):
        secret = settings.s3_secret_key.get_secret_value()
        objects = Objects(asked.endpoint, access_key=settings.s3_access_key, secret_key=secret, bucket=settings.bucket)
        objects.honours_conditions()
        writer = Pages(desk, objects, put_timeout=20.0)
        wiki = Wiki(conn, STORIES)
        ids = wiki.make()
        first = _publish(conn, writer, asked, ids)
        wiki.accept("second")
        again = _publish(conn, writer, asked, ids)
        objects.close()
    ground.drop("page")
    return [
        Row("page: calls to the object store, a new page", first.calls, at_most=4),
        Row("  a page with another text", again.calls, at_most=4),
        Row("  commits, another text", again.commits),
        Row("  log, another text", [one / 1024 for one in again.bytes], "KiB"),
        Row("page: a new one", first.milliseconds, "ms"),
        Row("  another text", again.milliseconds, "ms"),
    ]


def _publish(conn: psycopg.Connection, writer: Pages, asked: Asked, ids: Sequence[str]) -> Published:
    if dirty := set(ids) - set(page.dirty_of(conn, ids)):
        raise Refused(f"{len(dirty)} of {len(ids)} pages wait for nothing")
    found = Published([], [], [], [])
    for one in ids:
        asked.calls.clear()
        position = wal.begin(conn)
        began = time.perf_counter()
        ActivityEnvironment().run(writer.bring_up_to_date, one)
        found.milliseconds.append((time.perf_counter() - began) * 1e3)
        written = wal.since(conn, position)
        found.calls.append(asked.calls.total())
        found.commits.append(written.commits)
        found.bytes.append(written.bytes)
    return found
