"""One part of the local runtime, and how it comes to run: found healthy and used again, or started anew."""

from __future__ import annotations

import json
import signal
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from matins.local import process
from matins.local.process import Process
from matins.rules.canonical import sha256
from matins.rules.errors import Refused

_TRANSIENT = ("lock file", "address already in use", "Address already in use")
"""What a start says that a moment later succeeds: the one before it is still dying."""
_TRANSIENT_FOR = 15.0


@dataclass(frozen=True, slots=True)
class Part:
    """What to run, and how to know that it is ready.

    `is_ready` asks the part itself, over its own protocol, and answers within a few seconds.
    """

    name: str
    command: tuple[str, ...]
    is_ready: Callable[[], bool]
    environment: Mapping[str, str] = field(default_factory=dict)
    patience: float = 60.0
    """Seconds that it may take to become ready."""
    grace: float = 10.0
    """Seconds that it may take to end when asked."""
    end_with: signal.Signals = signal.SIGTERM
    version: str = ""
    """Of what the command runs, where the command does not tell."""

    def asked(self) -> str:
        """A hash of what it is started with: one that runs with another has to be started anew."""
        return sha256(json.dumps([self.command, sorted(self.environment.items()), self.version]).encode())


def pid_file(data: Path, name: str) -> Path:
    """Where the pid file of a part is."""
    return data / "run" / f"{name}.json"


def log_file(data: Path, name: str) -> Path:
    """Where the output of a part goes."""
    return data / "log" / f"{name}.log"


def ensure(part: Part, *, data: Path) -> bool:
    """Have `part` running and ready. Whether it was running already.

    One that does not answer, or was started with another command or environment, is stopped and started anew.
    Raises Refused with its last words if it cannot be started.
    """
    found = process.running(pid_file(data, part.name))
    if found is not None:
        same = found.asked == part.asked()
        if same and _becomes_ready(part, found, seconds=min(part.patience, 10.0)):
            return True
        process.stop(found, grace=part.grace, first=part.end_with)
    _start(part, data=data)
    return False


def stop(data: Path, name: str, *, grace: float = 10.0, end_with: signal.Signals = signal.SIGTERM) -> bool | None:
    """Stop a part. Whether it ended when asked; None if it was not running."""
    file = pid_file(data, name)
    found = process.running(file)
    ended = process.stop(found, grace=grace, first=end_with) if found is not None else None
    file.unlink(missing_ok=True)
    return ended


def _start(part: Part, *, data: Path) -> None:
    log = log_file(data, part.name)
    deadline = time.monotonic() + _TRANSIENT_FOR
    while True:
        words_from = log.stat().st_size if log.exists() else 0
        started = process.spawn(
            part.command,
            pid_file=pid_file(data, part.name),
            log=log,
            environment=part.environment,
            asked=part.asked(),
        )
        if _becomes_ready(part, started, seconds=part.patience):
            return
        died = not process.alive(started)
        process.stop(started, grace=part.grace, first=part.end_with)
        with log.open("rb") as words:
            words.seek(words_from)
            said = words.read().decode("utf-8", "replace")
        if not (died and any(sign in said for sign in _TRANSIENT) and time.monotonic() < deadline):
            what = "did not start" if died else f"was not ready after {part.patience:.0f} s"
            raise Refused(f"{part.name} {what}: {process.last_line(log) or 'it said nothing'}. Its log: {log}")
        time.sleep(0.3)


def _becomes_ready(part: Part, started: Process, *, seconds: float) -> bool:
    """Whether the part answers within `seconds`; given up at once when its process is gone."""
    gone = False

    def settled() -> bool:
        nonlocal gone
        gone = not process.alive(started)
        return gone or part.is_ready()

    return process.wait(settled, seconds=seconds, every=0.05) and not gone


def program(package: str, name: str) -> str:
    """The path of a program that an installed package brings. Raises Refused if it is not there."""
    try:
        files = distribution(package).files or []
    except PackageNotFoundError:
        files = []
    for file in files:
        if file.name == name and (path := Path(str(file.locate())).resolve()).is_file():
            return str(path)
    raise Refused(f"{package}: its program {name} is not installed. Run bin/setup again")
