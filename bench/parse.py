"""One feed of a thousand items: parsed, and parsed and admitted to the ledger, all of them new or all of them known.

Parsing is `matins.sources.reader.reading_of` on the bytes as they came; admitting is what `activities/ingest.py` does
with them: claim, admit, settle, three commits, on a Postgres of its own with fsync on.
"""

from __future__ import annotations

import time
from typing import Any

import psycopg

from bench.feed_server import document
from bench.ground import Ground
from bench.table import Row
from matins.ledger import admission, ingest, profile, source, work
from matins.rules import keys
from matins.rules import profile as profiles
from matins.rules.evidence import Cursor, Reading
from matins.sources.fetch import Fetched
from matins.sources.reader import reading_of

ITEMS = 1_000
GOAL = 1_000.0
"""Items a second, at least."""


def measure(ground: Ground) -> list[Row]:
    """RUNS feeds, each read twice."""
    parsed, fresh, known = [], [], []
    with psycopg.connect(ground.empty("parse"), autocommit=True) as conn:
        profile.apply(conn, profiles.parse({"owner": "bench", "zone": "UTC"}, where="the bench"))
        for number in range(ground.sizes.runs + 1):
            url = f"https://feed-{number}.example/feed.xml"
            source.add(conn, "bench", url=url, name=f"feed {number}")
            parsed.append(_timed(lambda number=number, url=url: _read(number, 0, url)))
            fresh.append(_timed(lambda number=number, url=url: _admit(conn, number, 0, url)))
            known.append(_timed(lambda number=number, url=url: _admit(conn, number, 1, url)))
    ground.drop("parse")
    kilobytes = len(document(0, 0, items=ITEMS)) / 1000
    return [
        Row(f"parse: a feed of {ITEMS:,} items, {kilobytes:.0f} kB", parsed[1:], "items/s", at_least=GOAL),
        Row("  parsed and admitted, all new", fresh[1:], "items/s", at_least=GOAL),
        Row("  parsed and admitted, all known but one", known[1:], "items/s"),
    ]


def _timed(act: Any) -> float:
    """Items a second."""
    began = time.perf_counter()
    act()
    return ITEMS / (time.perf_counter() - began)


def _read(number: int, version: int, url: str) -> Reading:
    body = document(number, version, items=ITEMS)
    answer = Fetched(200, body, "application/rss+xml", Cursor(f'"{version}"'), url, "", None)
    return reading_of(answer, cursor=Cursor())


def _admit(conn: psycopg.Connection[Any], number: int, version: int, url: str) -> None:
    window = source.window(conn, keys.source(url))
    claim = work.claim(conn, window.work_key, holder="bench/1", lease=60, limit=120)
    reading = _read(number, version, url)
    baseline = admission.is_first_read(conn, window.source_key)
    admitted = admission.admit(conn, claim, window, reading.items, baseline=baseline)
    ingest.settle(conn, claim, window, reading, declared=len(admitted.events))
