"""Memory of the idle stack, after the ground's mornings: the proportional set size of every part and its children.

Pages that several processes share are divided among them (`smaps_rollup`), so the sum counts each page once. The
demo's feeds are not part of it.
"""

from __future__ import annotations

import re
from pathlib import Path

from bench.cpu import family
from bench.ground import Ground
from bench.table import Row
from matins.local import feeds, part, process


def measure(ground: Ground) -> list[Row]:
    """The sum over all parts, and each part."""
    assert ground.mornings
    found = {name: _megabytes(ground, name) for name in ground.running.here if name != feeds.NAME}
    parts = [Row(f"  {name}", [size], "MB") for name, size in found.items()]
    return [Row("memory of the idle stack", [sum(found.values())], "MB", 900), *parts]


def _megabytes(ground: Ground, name: str) -> float:
    running = process.read(part.pid_file(ground.running.settings.data, name))
    return sum(_proportional(pid) for pid in family(running.pid)) / 1e6 if running else 0.0


def _proportional(pid: int) -> int:
    """Bytes of a process, shared pages divided; 0 if it has just ended."""
    try:
        rollup = Path(f"/proc/{pid}/smaps_rollup").read_text()
    except OSError:
        return 0
    found = re.search(r"^Pss: +(\d+) kB$", rollup, re.MULTILINE)
    return int(found[1]) * 1024 if found else 0
