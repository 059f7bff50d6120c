"""One life of a real worker process: started, armed with a crash point, watched until it dies or is told to end."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from matins.local import process
from matins.rules.crash import SETTING
from matins.settings import CHECKOUT


def until(condition: Callable[[], bool], *, seconds: float, why: str | Callable[[], str]) -> None:
    """Wait for `condition`; after `seconds` fail with `why`, which may be a function that tells it then."""
    if not process.wait(condition, seconds=seconds, every=0.03):
        raise AssertionError(why() if callable(why) else why)


class Life:
    """`python worker.py` in a process of its own. `crash` arms points of this life only."""

    def __init__(self, directory: Path, environment: Mapping[str, str], *, queues: Sequence[str], crash: str) -> None:
        directory.mkdir()
        self.log = directory / "worker.log"
        self._ready = directory / "worker.ready"
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("MATINS_", "AWS_"))}
        own = {"MATINS_DATA": str(directory), **({SETTING: crash} if crash else {})}
        command = [sys.executable, str(CHECKOUT / "worker.py")]
        with self.log.open("wb") as out:
            self.process = subprocess.Popen(
                [*command, *(word for queue in queues for word in ("--queue", queue))],
                env={**kept, **environment, **own},
                cwd=directory,
                stdout=out,
                stderr=subprocess.STDOUT,
            )

    def wait_ready(self) -> None:
        """Return once it serves its queues."""
        until(self._is_ready, seconds=40, why=lambda: f"this worker never became ready:\n{self.said()}")

    def _is_ready(self) -> bool:
        assert self.process.poll() is None, f"this worker ended by itself:\n{self.said()}"
        return self._ready.exists()

    def died(self) -> bool:
        """Whether its armed point was reached: it is dead by SIGKILL. Another end is a failure."""
        code = self.process.poll()
        assert code in (None, -signal.SIGKILL), f"it ended with {code}:\n{self.said()}"
        return code is not None

    def is_frozen(self) -> bool:
        """Whether its armed point was reached: it is stopped."""
        assert self.process.poll() is None, f"this worker ended:\n{self.said()}"
        state = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()[0]
        return state == "T"

    def send(self, number: signal.Signals) -> None:
        """Send it a signal."""
        self.process.send_signal(number)

    def thaw(self) -> None:
        """Let it go on after it was frozen."""
        self.send(signal.SIGCONT)

    def kill(self) -> None:
        """End it as a power cut would."""
        with suppress(ProcessLookupError):
            self.process.kill()
        self.process.wait(timeout=20)

    def end(self, *, seconds: float) -> int:
        """Ask it to end, wait for that at most `seconds`, and return its exit code."""
        self.send(signal.SIGTERM)
        return self.process.wait(timeout=seconds)

    def said(self) -> str:
        """The end of its log."""
        return self.log.read_text(errors="replace")[-6000:]
