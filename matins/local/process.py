"""One process of ours: started in a session of its own, known again by its pid file, stopped by its pid.

A pid alone says nothing: it is used again after a restart, and a dead child that nobody has waited for still
answers `kill(pid, 0)`. So the file holds boot, pid and start time, and the state is read from /proc. Nothing
is ever looked for, or stopped, by name.
"""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from matins.rules.errors import Refused

_BOOT = Path("/proc/sys/kernel/random/boot_id")

# The process writes its own pid file before it becomes the program: a killed launcher leaves no orphan.
_ENTRY = """
read -r stat < /proc/$$/stat
twentieth() { echo "${20}"; }
file=$1 rest=$2
shift 2
umask 077
cd "$(dirname "$file")/.." || exit 1
printf '{"pid": %d, "started": %d, %s' $$ "$(twentieth ${stat##*)})" "$rest" > "$file" && exec "$@"
"""


@dataclass(frozen=True, slots=True)
class Process:
    """A process as its pid file describes it. `asked` is a hash of all it was started with."""

    pid: int
    started: int
    boot: str
    command: tuple[str, ...]
    asked: str


def spawn(command: Sequence[str], *, pid_file: Path, log: Path, environment: Mapping[str, str], asked: str) -> Process:
    """Start `command` in a session of its own, its output appended to `log`, `environment` added to ours.

    It runs in the directory above that of `pid_file`.

    Returns once the pid file is written. Raises Refused if that does not happen within ten seconds.
    """
    pid_file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    log.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    record = {"boot": _boot(), "command": list(command), "asked": asked}
    argv = ["/bin/sh", "-c", _ENTRY, "sh", str(pid_file), json.dumps(record)[1:], *command]
    out = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
    try:
        actions = [
            (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
            (os.POSIX_SPAWN_DUP2, out, 1),
            (os.POSIX_SPAWN_DUP2, out, 2),
        ]
        pid = os.posix_spawn(argv[0], argv, {**os.environ, **environment}, file_actions=actions, setsid=True)
    finally:
        os.close(out)
    return _wait_for_record(pid, pid_file, log)


def _wait_for_record(pid: int, pid_file: Path, log: Path) -> Process:
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        process = read(pid_file)
        if process is not None and process.pid == pid:
            return process
        time.sleep(0.002)
    raise Refused(f"{pid_file}: cannot be written. {last_line(log)}")


def read(pid_file: Path) -> Process | None:
    """The process that `pid_file` names, alive or not; None if there is no such file or it was cut short."""
    try:
        record = json.loads(pid_file.read_text(encoding="utf-8"))
        return Process(
            int(record["pid"]),
            int(record["started"]),
            record["boot"],
            tuple(record["command"]),
            record["asked"],
        )
    except (OSError, ValueError, KeyError, TypeError):
        return None


def alive(process: Process) -> bool:
    """Whether this very process still runs: same boot, same start time, and not a zombie."""
    return process.boot == _boot() and is_alive(process.pid, process.started)


def is_alive(pid: int, started: int) -> bool:
    """Whether `pid` runs since `started`, in clock ticks after the boot; a zombie does not."""
    with suppress(ChildProcessError):
        os.waitpid(pid, os.WNOHANG)
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except (FileNotFoundError, ProcessLookupError):
        return False
    state, *rest = stat.rpartition(")")[2].split()
    return state not in "ZX" and int(rest[18]) == started


def running(pid_file: Path) -> Process | None:
    """The process that `pid_file` names, if it still runs."""
    process = read(pid_file)
    return process if process is not None and alive(process) else None


def stop(process: Process, *, grace: float, first: signal.Signals = signal.SIGTERM) -> bool:
    """Ask `process` to end, wait `grace` seconds, then kill it. Whether it ended when asked."""
    for signal_, patience in ((first, grace), (signal.SIGKILL, 10.0)):
        if not alive(process):
            return True
        with suppress(ProcessLookupError):
            os.kill(process.pid, signal_)
        if signal_ != signal.SIGKILL:
            with suppress(ProcessLookupError):
                os.kill(process.pid, signal.SIGCONT)
        if wait(lambda: not alive(process), seconds=patience):
            return signal_ != signal.SIGKILL
    return False


def wait(condition: Callable[[], bool], *, seconds: float, every: float = 0.02) -> bool:
    """Whether `condition` came true within `seconds`; it is asked at least once."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() >= deadline:
            return False
        time.sleep(every)
    return True


def last_line(log: Path) -> str:
    """The last line of a log that is not empty, at most 300 characters; "" if there is none."""
    with suppress(OSError):
        tail = log.read_bytes()[-4096:].decode("utf-8", "replace")
        return next((line.strip()[:300] for line in reversed(tail.splitlines()) if line.strip()), "")
    return ""


def _boot() -> str:
    return _BOOT.read_text(encoding="ascii").strip() if _BOOT.exists() else ""
