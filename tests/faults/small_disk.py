"""A Postgres on a small disk that can be filled and freed.

It runs under a process of its own, `python -m tests.faults.small_disk`, which does what its input says. Where mounts
are allowed that process has a mount namespace, and the data directory is a tmpfs that nobody else sees; elsewhere
"full" is a limit on the size of every file that the server writes: EFBIG takes the same road in Postgres as ENOSPC.
"""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Self

from matins.local import part, ports, postgres, process
from matins.settings import CHECKOUT

_MEGABYTES = 160
_UNSHARE = ("unshare", *(() if os.geteuid() == 0 else ("--user", "--map-root-user")), "--mount")
_MOUNT = 'mount -t tmpfs -o mode=700,size="$1"m tmpfs "$2" && shift 2 && exec "$@"'
_SPARSE = ("wal_init_zero=off", "wal_recycle=off", "autovacuum=off")
"""A segment of the WAL takes its space as it is written, and not when it is made."""


class SmallDisk:
    """The server, from `with` on. `mounted=False` takes the second road although the first is open."""

    def __init__(self, directory: Path, *, mounted: bool) -> None:
        directory.mkdir()
        child = (sys.executable, "-m", "tests.faults.small_disk", str(directory), "disk" if mounted else "limit")
        own = (*_UNSHARE, "sh", "-c", _MOUNT, "sh", str(_MEGABYTES), str(directory)) if mounted else ()
        self._child = subprocess.Popen(
            (*own, *child), cwd=CHECKOUT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        assert self._child.stdin is not None
        assert self._child.stdout is not None
        self._child.stdin.close()
        assert self._child.wait(timeout=40) == 0
        self._child.stdout.close()

    def start(self) -> str:
        """Start the server, which is not running; its address."""
        return self._ask("start")

    def fill(self) -> None:
        """Leave no room on the disk."""
        self._ask("fill")

    def free(self) -> None:
        """Make room again."""
        self._ask("free")

    def is_down(self) -> bool:
        """Whether the server has ended."""
        return self._ask("down") == "True"

    def _ask(self, what: str) -> str:
        assert self._child.stdin is not None
        assert self._child.stdout is not None
        self._child.stdin.write(f"{what}\n")
        self._child.stdin.flush()
        answer = self._child.stdout.readline().strip()
        assert answer, f"the small disk's own process ended at {what}"
        return answer


def may_mount(directory: Path) -> bool:
    """Whether a tmpfs can be mounted in a namespace of its own, and Postgres run there, which may need another one."""
    inner = ("unshare", "--user", "--map-user=1000", "true")
    command = (*_UNSHARE, "sh", "-c", _MOUNT, "sh", "1", str(directory), *inner)
    try:
        return subprocess.run(command, capture_output=True, check=False).returncode == 0
    except FileNotFoundError:
        return False


def _start(directory: Path) -> str:
    kept = directory / "port"
    if not kept.exists():
        kept.write_text(str(ports.search(str(directory))))
    started = postgres.start(directory, port=int(kept.read_text()), options=_SPARSE, sync=False)
    assert not started.reused
    return started.dsn


def _is_down(directory: Path) -> bool:
    return process.running(part.pid_file(directory, postgres.NAME)) is None


def _fill(directory: Path) -> None:
    with (directory / "ballast").open("wb", buffering=0) as ballast:
        for size in (1 << 20, 1 << 12):
            with suppress(OSError):
                while True:
                    ballast.write(b"\1" * size)
    assert shutil.disk_usage(directory).free < 1 << 12


def _limit(directory: Path, size: int) -> None:
    """Let the server and all its processes write no file beyond `size` bytes."""
    running = process.running(part.pid_file(directory, postgres.NAME))
    if running is None:
        return
    children = Path(f"/proc/{running.pid}/task/{running.pid}/children").read_text().split()
    for pid in (running.pid, *map(int, children)):
        _, hard = resource.prlimit(pid, resource.RLIMIT_FSIZE)
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (hard if size < 0 else size, hard))


def _main(directory: Path, road: str) -> None:
    on_disk = road == "disk"
    acts: dict[str, Callable[[], object]] = {
        "start": lambda: _start(directory),
        "down": lambda: _is_down(directory),
        "fill": (lambda: _fill(directory)) if on_disk else (lambda: _limit(directory, 8192)),
        "free": (directory / "ballast").unlink if on_disk else (lambda: _limit(directory, -1)),
    }
    try:
        for line in sys.stdin:
            print(acts[line.strip()](), flush=True)
    finally:
        postgres.stop(directory)


if __name__ == "__main__":
    _main(Path(sys.argv[1]), sys.argv[2])
