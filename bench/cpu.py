"""Processor seconds and memory of processes, from /proc."""

from __future__ import annotations

import os
import re
from collections import defaultdict
from pathlib import Path

_TICK = os.sysconf("SC_CLK_TCK")


def family(pid: int) -> list[int]:
    """A process and all that descend from it."""
    children = defaultdict(list)
    for stat in Path("/proc").glob("[0-9]*/stat"):
        if fields := _fields(int(stat.parent.name)):
            children[int(fields[1])].append(int(stat.parent.name))
    found = [pid]
    for one in found:
        found += children[one]
    return found


def seconds(pid: int) -> float:
    """Processor seconds of a process and its descendants, those that have ended and were waited for included."""
    return sum(sum(map(int, fields[11:15])) for one in family(pid) if (fields := _fields(one))) / _TICK


def resident(pid: int) -> float:
    """Megabytes that a process has in memory."""
    found = re.search(r"^VmRSS:\s+(\d+) kB$", Path(f"/proc/{pid}/status").read_text(), re.MULTILINE)
    return int(found[1]) / 1000 if found else 0.0


def _fields(pid: int) -> list[str]:
    """What stands after the name in a process's line; nothing if it has just ended."""
    try:
        return Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()
    except OSError:
        return []
