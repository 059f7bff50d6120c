"""Memory of the idle stack, after the ground's mornings: the proportional set size of every part and its children.

Pages that several processes share are divided among them (`smaps_rollup`), so the sum counts each page once. The
demo's feeds are not part of it.
"""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path

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
    return sum(_proportional(pid) for pid in _family(running.pid)) / 1e6 if running else 0.0


def _family(pid: int) -> list[int]:
    """A process and all that descend from it."""
    children = defaultdict(list)
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text(errors="replace").rpartition(")")[2].split()
        except OSError:  # it has just ended
            continue
        children[int(fields[1])].append(int(stat.parent.name))
    family = [pid]
    for one in family:
        family += children[one]
    return family


def _proportional(pid: int) -> int:
    """Bytes of a process, shared pages divided; 0 if it has just ended."""
    try:
        rollup = Path(f"/proc/{pid}/smaps_rollup").read_text()
    except OSError:
        return 0
    found = re.search(r"^Pss: +(\d+) kB$", rollup, re.MULTILINE)
    return int(found[1]) * 1024 if found else 0
