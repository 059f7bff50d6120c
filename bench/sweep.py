"""What a sweep reads of a ledger with a long past, in Postgres' own count of buffers: of every find of every pass.

Two ledgers with the same present, one with ten times the finished rows (`bench/past.py`). Each statement that the
passes' own functions make is run under EXPLAIN (ANALYZE, BUFFERS), and undone. Then a day's work comes, moves and
finishes without any vacuum, and each is run once more: its first run, which meets every dead row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from statistics import median
from typing import Any

import psycopg

from bench import past
from bench.ground import Ground
from bench.recording import explained, statements
from bench.table import Row
from matins.ledger import action, continuation, ending, message, obligation, page, plan, source, window

PASSES: dict[str, tuple[Callable[[Any], object], ...]] = {
    "stalled": (action.find_stalled,),
    "expiry": (ending.find_spent, window.find_spent, message.find_late),
    "advance": (obligation.find_unadvanced, continuation.find_idle),
    "messages": (message.find_idle,),
    "dispatch": (obligation.find_idle,),
    "pages": (page.find_dirty, page.collect_cards),
    "plan": (plan.plan,),
    "poll": (source.find_due,),
}
"""The finds of `matins/sweep.py`, by pass."""


@dataclass(frozen=True, slots=True)
class Looked:
    """What one pass read: buffers and milliseconds, and tables of the past that it read from end to end."""

    buffers: int
    milliseconds: float
    scanned: frozenset[str]


def measure(ground: Ground) -> list[Row]:
    """Every pass with the small past and with the large one, before and after the churn."""
    sizes = ground.sizes
    small, small_churned = _ledger(ground, sizes.small)
    large, large_churned = _ledger(ground, sizes.large)
    return [
        *_totals(large, sizes.large, "vacuumed"),
        *(Row(f"  pass {name}", [one.buffers for one in large[name]], "buffers") for name in PASSES),
        *_ratios(f"to {sizes.small:,} rows", large, small),
        *_totals(large_churned, sizes.large, f"{sizes.churn * past.BATCH:,} of each kind later, no vacuum"),
        *_ratios(f"to {sizes.small:,} rows, churned alike", large_churned, small_churned),
        *_ratios("to the same ledger, vacuumed", large_churned, large),
        Row("sweep: tables of the past read from end to end",
            [len(_scanned(large) | _scanned(large_churned))], at_most=0),
        *(Row(f"  {name}", [1]) for name in sorted(_scanned(large) | _scanned(large_churned))),
    ]  # fmt: skip


Sweep = dict[str, list[Looked]]


def _ledger(ground: Ground, finished: int) -> tuple[Sweep, Sweep]:
    """The passes over a ledger with so many finished rows, before and after the churn."""
    name = f"past_{finished}"
    with psycopg.connect(ground.empty(name), autocommit=True) as conn:
        past.fill(conn, finished=finished)
        before = _sweep(conn, runs=ground.sizes.runs)
        past.churn(conn, batches=ground.sizes.churn)
        after = _sweep(conn, runs=1)
    ground.drop(name)
    return before, after


def _sweep(conn: psycopg.Connection[Any], *, runs: int) -> Sweep:
    said = {name: [one for find in finds for one in statements(conn, find)] for name, finds in PASSES.items()}
    return {name: [_look(conn, finds) for _ in range(runs)] for name, finds in said.items()}


def _look(conn: psycopg.Connection[Any], finds: list[str]) -> Looked:
    told = [explained(conn, find) for find in finds]
    return Looked(
        sum(one["Plan"]["Shared Hit Blocks"] + one["Plan"]["Shared Read Blocks"] for one in told),
        sum(one["Execution Time"] for one in told),
        frozenset(table for one in told for table in _whole(one["Plan"])),
    )


def _whole(node: dict[str, Any]) -> Iterator[str]:
    """Tables of the past that are read from end to end in this plan."""
    if node["Node Type"] == "Seq Scan" and node["Relation Name"] in past.HISTORY and node["Actual Loops"]:
        yield node["Relation Name"]
    for below in node.get("Plans", ()):
        yield from _whole(below)


def _scanned(sweep: Sweep) -> set[str]:
    return {f"{name}: {table}" for name, looks in sweep.items() for look in looks for table in look.scanned}


def _totals(sweep: Sweep, finished: int, how: str) -> list[Row]:
    runs = list(zip(*sweep.values(), strict=True))
    return [
        Row(f"sweep: all finds at {finished:,} finished rows, {how}",
            [sum(look.buffers for look in run) for run in runs], "buffers"),
        Row("  the same", [sum(look.milliseconds for look in run) for run in runs], "ms"),
    ]  # fmt: skip


def _ratios(to: str, sweep: Sweep, other: Sweep) -> list[Row]:
    """The whole sweep's buffers beside another one's, and each pass that is far from it."""
    whole = _buffers(sweep) / _buffers(other)
    passes = {name: _buffers({name: sweep[name]}) / max(_buffers({name: other[name]}), 1) for name in sweep}
    worse = [Row(f"    pass {name}", [ratio]) for name, ratio in passes.items() if ratio > 1.1]
    return [Row(f"  buffers {to}", [whole], at_most=1.1), *worse]


def _buffers(sweep: Sweep) -> float:
    return sum(median(look.buffers for look in looks) for looks in sweep.values())
