"""From an empty clone to a mail that was seen: `git clone` of what is committed here, then `make morning` in it.

The package cache is as it is on this machine; run it twice for a warm one. The split is by the lines as they come:
the packages until they are there, the parts until the morning begins, the morning until it is READY.
"""

from __future__ import annotations

import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

from bench.ground import Ground
from bench.table import Row
from matins.local import process
from matins.rules.errors import Refused
from matins.settings import CHECKOUT


def measure(ground: Ground) -> list[Row]:
    """The whole, and its parts."""
    folder = ground.directory / "clone"
    began = time.monotonic()
    subprocess.run(["git", "clone", "-q", "--no-hardlinks", str(CHECKOUT), str(folder)], check=True)
    marks = {"clone": time.monotonic()}
    try:
        marks |= _run(folder)
    finally:
        subprocess.run(["bin/matins", "down"], cwd=folder, check=False, stdout=subprocess.DEVNULL)
    rows = [Row("empty clone to seen mail", [marks["morning"] - began], "s", 90)]
    for name, at in marks.items():
        rows.append(Row(f"  {name}", [at - began], "s"))
        began = at
    return rows


def _run(folder: Path) -> dict[str, float]:
    """When packages, parts and morning were done."""
    marks: dict[str, float] = {}
    words = folder.with_name("clone.log")
    with (
        words.open("w") as log,
        subprocess.Popen(["make", "morning"], cwd=folder, stdout=subprocess.PIPE, stderr=log, text=True) as made,
    ):
        for line, at in _timed(made):
            if line.startswith("  packages "):
                marks["packages"] = at
            elif "'s morning, " in line:
                marks["parts"] = at
            elif line.startswith("READY "):
                marks["morning"] = at
    if made.returncode or "morning" not in marks:
        raise Refused(f"make morning ended with {made.returncode} in the clone: {process.last_line(words)}")
    return marks


def _timed(made: subprocess.Popen[str]) -> Iterator[tuple[str, float]]:
    assert made.stdout
    for line in made.stdout:
        yield line, time.monotonic()
