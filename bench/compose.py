"""Selecting and writing, without ledger and store: pure functions on news that was made up (`bench/news.py`)."""

from __future__ import annotations

import time
from collections.abc import Callable

from bench import news
from bench.ground import Ground
from bench.table import Row
from matins.brief.audit import check
from matins.brief.bundle import bundle
from matins.brief.compose import compose
from matins.brief.select import select

STORIES = 40
ITEMS = 1_000


def measure(ground: Ground) -> list[Row]:
    """Each of the steps of an edition, by itself."""
    wanted, looks, runs = news.profile(stories=STORIES), news.looks(), ground.sizes.runs
    few, many = news.evidence(STORIES), news.evidence(ITEMS)
    chosen = select(few, looks, wanted, key=news.KEY, at=news.AT)
    draft = compose(chosen, wanted, date=news.DAY)
    told = len(draft["stories"])
    return [
        Row(f"compose: {STORIES} events, {told} stories told",
            timed(lambda: compose(chosen, wanted, date=news.DAY), runs), "ms", 50),
        Row("  select them", timed(lambda: select(few, looks, wanted, key=news.KEY, at=news.AT), runs), "ms"),
        Row("  check the copy against the evidence", timed(lambda: check(draft, chosen), runs), "ms"),
        Row("  render the bundle", timed(lambda: bundle(draft, chosen), runs), "ms"),
        Row(f"select: {ITEMS:,} events",
            timed(lambda: select(many, looks, wanted, key=news.KEY, at=news.AT), runs), "ms"),
    ]  # fmt: skip


def timed(act: Callable[[], object], runs: int) -> list[float]:
    """Milliseconds of each run, after one that does not count."""
    act()
    found = []
    for _ in range(runs):
        began = time.perf_counter()
        act()
        found.append((time.perf_counter() - began) * 1e3)
    return found
