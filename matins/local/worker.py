"""The worker as a part: `worker.py` of this checkout, with the settings as its environment.

It is ready when it has written its own pid to `worker.ready` in the data directory.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from matins.local import part, process
from matins.local.part import Part
from matins.rules import crash
from matins.rules.canonical import sha256
from matins.settings import CHECKOUT, Settings

NAME = "worker"
_CODE = ("worker.py", "matins", "workflows", "activities")


def start(settings: Settings, *, entry: Path = CHECKOUT / "worker.py") -> bool:
    """Start the worker, or find it running with the same settings and the same code. Whether it was running.

    Raises Refused if it cannot start.
    """
    ready = settings.data / "worker.ready"
    pid_file = part.pid_file(settings.data, NAME)

    def is_ready() -> bool:
        running = process.read(pid_file)
        return running is not None and ready.exists() and ready.read_text().strip() == str(running.pid)

    armed = {name: os.environ[name] for name in (crash.SETTING,) if name in os.environ}
    made = Part(
        NAME,
        (sys.executable, str(entry)),
        is_ready,
        environment=settings.environment() | armed,
        grace=settings.grace + 5,
        version=code_stamp(CHECKOUT),
    )
    return part.ensure(made, data=settings.data)


def stop(data: Path, *, grace: float) -> bool | None:
    """Stop it, with `grace` seconds to finish. Whether it ended when asked; None if it was not running."""
    return part.stop(data, NAME, grace=grace)


def code_stamp(checkout: Path) -> str:
    """A hash that is another one when a source file was changed: a worker with old code is started anew."""
    files = (path for name in _CODE for path in ((checkout / name), *sorted((checkout / name).rglob("*.py"))))
    stamps = [f"{path} {path.stat().st_mtime_ns} {path.stat().st_size}" for path in files if path.is_file()]
    return sha256("\n".join(stamps).encode())
