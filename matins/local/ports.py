"""Which ports the local parts listen on: what was set, else what they had last time, else free ones.

Free ones are looked for from a place that follows from the data directory, below the range from which the
system takes ports for outgoing connections: two directories rarely meet, and a port stays free overnight.
"""

from __future__ import annotations

import os
import socket
import zlib
from contextlib import suppress
from pathlib import Path

from matins.rules.errors import Refused

_FIRST, _LAST = 15000, 31900


def choose(name: str, *, wanted: int, remembered: int, ours: bool, data: Path, width: int = 1) -> int:
    """The first of `width` ports in a row for `name`; `ours`: its process runs, on the remembered one.

    Raises Refused naming the setting when a port that was asked for is somebody else's.
    """
    if ours and wanted in (0, remembered):
        return remembered
    if wanted:
        if taken := next((port for port in range(wanted, wanted + width) if not is_free(port)), 0):
            raise Refused(f"port {taken} is taken: set MATINS_{name.upper()}_PORT to another one, or to 0")
        return wanted
    if remembered and are_free(remembered, width):
        return remembered
    return search(f"{data}/{name}", width=width)


def search(seed: str, *, width: int = 1) -> int:
    """The first of `width` free ports in a row. Raises Refused if there are none."""
    span = _LAST - _FIRST
    base = zlib.crc32(seed.encode()) % span
    for step in range(0, span, width):
        first = _FIRST + (base + step) % span
        if are_free(first, width):
            return first
    raise Refused(f"no {width} free ports in a row between {_FIRST} and {_LAST}")


def are_free(first: int, width: int) -> bool:
    """Whether nobody listens on any of `width` ports from `first` on, and none is spoilt for us by another user."""
    return all(is_free(port) and not _is_spoilt(port) for port in range(first, first + width))


def _is_spoilt(port: int) -> bool:
    """Whether another user's object store left a socket file with this port's number, which we may not replace."""
    for file in Path("/tmp").glob(f"seaweedfs-*-{port}.sock"):
        with suppress(FileNotFoundError):
            if file.stat().st_uid != os.geteuid():
                return True
    return False


def is_free(port: int) -> bool:
    """Whether nobody listens on this port of 127.0.0.1, or of every address."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
            probe.listen(1)
        except OSError:
            return False
    return True
