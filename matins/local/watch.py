"""The watch: what `matins up --detach` leaves behind, so that a part that falls at night is started again.

A process of its own with the settings of the `up` that started it; it ends by itself when everything was stopped.
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

from matins.local import part
from matins.rules.errors import Refused
from matins.settings import CHECKOUT, CONFIG, VARIABLES, Settings

NAME = "watch"
EVERY = 1.0
AFTER_REFUSAL = 15.0


def start(settings: Settings) -> None:
    """Have one watch for this data directory, with what was set here; one with other settings is replaced.

    It reads the settings itself: what `up` found out is no setting, or local parts would look like outside ones.
    """
    named = {"MATINS_DATA": str(settings.data.resolve()), "PYTHONPATH": str(CHECKOUT)}
    if settings.config:
        named[CONFIG] = str(settings.config)
    given = sorted((name, value) for name, value in os.environ.items() if name in VARIABLES.values())
    made = part.Part(
        NAME, (sys.executable, "-m", "matins.local.watch"), lambda: True, environment=named, version=str(given)
    )
    part.ensure(made, data=settings.data)


def stop(data: Path) -> None:
    """End the watch: before anything is stopped, or it would start it again."""
    part.stop(data, NAME)


def keep(settings: Settings) -> None:
    """Start again what falls, until everything was stopped."""
    from matins.local import runtime

    while not runtime.is_down(settings.data):
        pause = EVERY
        try:
            runtime.heal(settings, say=_log)
        except Refused as error:
            _log(str(error))
            pause = AFTER_REFUSAL
        time.sleep(pause)
    part.pid_file(settings.data, NAME).unlink(missing_ok=True)


def _log(line: str) -> None:
    print(line, flush=True)


if __name__ == "__main__":
    from matins import settings as configuration

    keep(configuration.load())
