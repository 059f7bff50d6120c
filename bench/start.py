"""The whole stack from nothing and from what it left, as `matins up --detach` brings it up.

Seconds are those of the whole command. Cold is an empty data directory with the machine's caches as they are; warm is
the same directory after `matins down`.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time

from bench.ground import Ground
from bench.table import Row
from matins.settings import CHECKOUT

WARM = 3


def measure(ground: Ground) -> list[Row]:
    """One cold start and WARM warm ones, in a data directory apart from the ground's parts."""
    environment = {"MATINS_DATA": str(ground.directory / "start"), "MATINS_CONFIG": "/dev/null"}
    took = []
    for _ in range(WARM + 1):
        try:
            took.append(matins(environment, "up", "--detach"))
        finally:
            matins(environment, "down")
    cold, *warm = took
    return [Row("start of the whole stack, cold", [cold], "s"), Row("start of the whole stack, warm", warm, "s", 6)]


def matins(environment: dict[str, str], *arguments: str) -> float:
    """Run one command of this checkout. Returns how many seconds it took; raises CalledProcessError if it failed."""
    began = time.monotonic()
    subprocess.run(
        [sys.executable, "-m", "matins.cli", *arguments],
        env={**os.environ, **environment},
        cwd=CHECKOUT,
        check=True,
        stdout=subprocess.DEVNULL,
    )
    return time.monotonic() - began
