"""`python -m bench` measures and prints one table; `python -m bench NAME ...` measures what is named.

All of it on real parts on this machine, started in a temporary directory, fsync on, and stopped at the end. How each
figure is counted stands in the first lines of the module of its name. `--full` takes the sizes that the goals speak
of, and measures `clone` too, which else has to be named.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from bench import clone, commits, compose, feeds, history, memory, page, parse, pgbench, plan, recovery, start, sweep
from bench.ground import Ground
from bench.sizes import FULL, Sizes, add_options, chosen
from bench.table import Row, markdown, table
from matins.settings import CHECKOUT

MEASURES: dict[str, Callable[[Ground], list[Row]]] = {
    "start": start.measure,
    "parse": parse.measure,
    "compose": compose.measure,
    "feeds": feeds.measure,
    "pgbench": pgbench.measure,
    "sweep": sweep.measure,
    "plan": plan.measure,
    "commits": commits.measure,
    "history": history.measure,
    "memory": memory.measure,
    "page": page.measure,
    "recovery": recovery.measure,
    "clone": clone.measure,
}
"""In the order in which they disturb each other least."""
QUICK = tuple(name for name in MEASURES if name != "clone")
"""What is measured if nothing is named."""
PAGE = CHECKOUT / "docs" / "performance.md"
BEGIN, END = "<!-- measured: begin -->", "<!-- measured: end -->"
_FOREIGN = ("MATINS_", "TEMPORAL_", "AWS_")

Measured = dict[str, list[Row]]


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure what was asked for, and print it. Exit 0 even where a goal is missed: the table says so."""
    parser = _parser()
    asked = parser.parse_args(arguments)
    names = list(dict.fromkeys(asked.names)) or list(MEASURES if asked.full else QUICK)
    if unknown := [name for name in names if name not in MEASURES]:
        parser.error(f"there is no measure {unknown[0]}; choose from: {', '.join(MEASURES)}")
    try:
        sizes = chosen(asked, FULL if asked.full else Sizes())
    except ValueError as wrong:
        parser.error(str(wrong))
    for name in [name for name in os.environ if name.startswith(_FOREIGN)]:
        del os.environ[name]
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    began = time.monotonic()
    measured = _measure(names, sizes)
    where = f"{os.cpu_count()} cores; measured in {time.monotonic() - began:.0f} s"
    if asked.json:
        print(json.dumps(_document(measured, sizes), indent=1))
    else:
        print(table([row for rows in measured.values() for row in rows]))
        print(f"\n{where}")
    if asked.write:
        write(PAGE, measured, sizes, where)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m bench", description="Measure how fast Matins is.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of: {', '.join(MEASURES)}; default: all but clone")
    parser.add_argument("--full", action="store_true", help="all, in the sizes that the goals speak of")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    parser.add_argument("--write", action="store_true", help="put the figures into docs/performance.md")
    add_options(parser)
    return parser


def _measure(names: Sequence[str], sizes: Sizes) -> Measured:
    measured: Measured = {}
    with Ground(sizes) as ground:
        for name in names:
            print(f"measuring {name} ...", file=sys.stderr, flush=True)
            measured[name] = MEASURES[name](ground)
    return measured


def _commands(measured: Mapping[str, object], sizes: Sizes) -> dict[str, str]:
    return {name: f"python -m bench {name}{sizes.options()}" for name in measured}


def _document(measured: Measured, sizes: Sizes) -> list[dict[str, object]]:
    commands = _commands(measured, sizes)
    return [row.document(commands[name]) for name, rows in measured.items() for row in rows]


def write(page: Path, measured: Mapping[str, Sequence[Row]], sizes: Sizes, where: str) -> None:
    """Put the figures between the marks of `page`, in place of those that stand there."""
    before, _, rest = page.read_text(encoding="utf-8").partition(BEGIN)
    after = rest.partition(END)[2]
    on = datetime.now(UTC).date().isoformat()
    figures = markdown(measured, _commands(measured, sizes))
    page.write_text(f"{before}{BEGIN}\n{on}, {where}.\n\n{figures}\n{END}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
