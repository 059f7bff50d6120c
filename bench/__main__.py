"""`python -m bench` measures everything and prints one table; `python -m bench NAME ...` measures what is named.

All of it on real parts on this machine, started in a temporary directory, fsync on, and stopped at the end. How each
figure is counted stands in the first lines of the module of its name.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import time
from collections.abc import Callable

from bench import clone, commits, history, memory, recovery, start
from bench.ground import Ground
from bench.table import Row, table

MEASURES: dict[str, Callable[[Ground], list[Row]]] = {
    "start": start.measure,
    "commits": commits.measure,
    "history": history.measure,
    "memory": memory.measure,
    "recovery": recovery.measure,
    "clone": clone.measure,
}
"""In the order in which they disturb each other least."""
_FOREIGN = ("MATINS_", "TEMPORAL_", "AWS_")


def main() -> None:
    """Measure what was asked for, and print it. Exit 0 even where a goal is missed: the table says so."""
    parser = argparse.ArgumentParser(prog="python -m bench", description="Measure how fast Matins is.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of: {', '.join(MEASURES)}; default: all")
    names = list(dict.fromkeys(parser.parse_args().names)) or list(MEASURES)
    if unknown := [name for name in names if name not in MEASURES]:
        parser.error(f"there is no measure {unknown[0]}; choose from: {', '.join(MEASURES)}")
    for name in [name for name in os.environ if name.startswith(_FOREIGN)]:
        del os.environ[name]
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    rows: list[Row] = []
    began = time.monotonic()
    with Ground() as ground:
        for name in names:
            print(f"measuring {name} ...", file=sys.stderr, flush=True)
            rows += MEASURES[name](ground)
    print(table(rows))
    print(f"\n{os.cpu_count()} cores; measured in {time.monotonic() - began:.0f} s")


if __name__ == "__main__":
    main()
