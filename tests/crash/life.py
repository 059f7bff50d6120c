"""One life of a real worker process: started, armed with a crash point, watched until it dies or is told to end."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from matins.local import process
from matins.rules.crash import SETTING


def until(condition: Callable[[], bool], *, seconds: float, why: str | Callable[[], str]) -> None:
    """Wait for `condition`; after `seconds` fail with `why`, which may be a function that tells it then."""
    if not process.wait(condition, seconds=seconds, every=0.03):
        raise AssertionError(why() if callable(why) else why)


class Life:
    """`worker.py` in a process of its own. `crash` arms points of this life only.

    It is forked from a process that has only imported what a worker imports, which takes a second of work: this is the
    second that a test of forty lives would spend forty times.
    """

    def __init__(self, directory: Path, environment: Mapping[str, str], *, queues: Sequence[str], crash: str) -> None:
        directory.mkdir()
        self.log = directory / "worker.log"
        self.log.touch()
        self._ready = directory / "worker.ready"
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("MATINS_", "AWS_"))}
        own = {"MATINS_DATA": str(directory), **({SETTING: crash} if crash else {})}
        arguments = [word for queue in queues for word in ("--queue", queue)]
        forks = multiprocessing.get_context("forkserver")
        forks.set_forkserver_preload(["worker", "botocore.session", "botocore.httpsession", "botocore.handlers"])
        self._process = forks.Process(target=_serve, args=(directory, {**kept, **environment, **own}, arguments))
        self._process.start()

    def wait_ready(self) -> None:
        """Return once it serves its queues."""
        until(self._is_ready, seconds=40, why=lambda: f"this worker never became ready:\n{self.said()}")

    def _is_ready(self) -> bool:
        assert self.code is None, f"this worker ended by itself:\n{self.said()}"
        return self._ready.exists()

    @property
    def code(self) -> int | None:
        """Its exit code, or minus the signal that killed it; None while it lives."""
        return self._process.exitcode

    def died(self) -> bool:
        """Whether its armed point was reached: it is dead by SIGKILL. Another end is a failure."""
        assert self.code in (None, -signal.SIGKILL), f"it ended with {self.code}:\n{self.said()}"
        return self.code is not None

    def is_frozen(self) -> bool:
        """Whether its armed point was reached: it is stopped."""
        assert self.code is None, f"this worker ended:\n{self.said()}"
        state = Path(f"/proc/{self._process.pid}/stat").read_text().rpartition(")")[2].split()[0]
        return state == "T"

    def send(self, number: signal.Signals) -> None:
        """Send it a signal."""
        assert self._process.pid is not None
        os.kill(self._process.pid, number)

    def thaw(self) -> None:
        """Let it go on after it was frozen."""
        self.send(signal.SIGCONT)

    def kill(self) -> None:
        """End it as a power cut would."""
        with suppress(ProcessLookupError):
            self._process.kill()
        self.wait(seconds=20)

    def wait(self, *, seconds: float) -> int:
        """Its exit code, which must come within `seconds`."""
        self._process.join(timeout=seconds)
        assert self.code is not None, f"it did not end in {seconds} s:\n{self.said()}"
        return self.code

    def end(self, *, seconds: float) -> int:
        """Ask it to end, wait for that at most `seconds`, and return its exit code."""
        self.send(signal.SIGTERM)
        return self.wait(seconds=seconds)

    def said(self) -> str:
        """The end of its log."""
        return self.log.read_text(errors="replace")[-6000:]


def _serve(directory: Path, environment: Mapping[str, str], arguments: Sequence[str]) -> None:
    """What `python worker.py` does, in `directory`, with this environment and no other, and its log as output."""
    import worker

    threading.Thread(target=_die_with_the_tests, daemon=True).start()
    os.chdir(directory)
    os.environ.clear()
    os.environ.update(environment)
    log = os.open("worker.log", os.O_WRONLY | os.O_APPEND)
    for stream in (1, 2):
        os.dup2(log, stream)
    os.close(log)
    sys.exit(worker.main(arguments))


def _die_with_the_tests() -> None:
    """A run that is interrupted leaves no worker behind."""
    tests = multiprocessing.parent_process()
    assert tests is not None
    tests.join()
    os.kill(os.getpid(), signal.SIGKILL)
