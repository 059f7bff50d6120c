"""Processes are known by boot, pid and start time, and ended by pid only."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from matins.local import part, process
from matins.local.part import Part
from matins.rules.errors import Refused

FOREVER = ("sleep", "600")
DEAF = (
    sys.executable,
    "-c",
    "import signal; signal.signal(15, signal.SIG_IGN); print('deaf', flush=True); signal.pause()",
)


@pytest.fixture
def data(tmp_path):
    """A data directory; what was started in it is ended afterwards."""
    yield tmp_path
    for file in (tmp_path / "run").glob("*.json"):
        if running := process.running(file):
            process.stop(running, grace=0)


def make(command, *, is_ready=lambda: True, **more) -> Part:
    return Part("thing", tuple(command), is_ready, **more)


def pid_of(data: Path) -> int:
    found = process.running(part.pid_file(data, "thing"))
    assert found is not None
    return found.pid


def start_stranger() -> subprocess.Popen[bytes]:
    return subprocess.Popen(FOREVER)


def test_a_process_outlives_its_launcher_in_a_session_of_its_own(data) -> None:
    launcher = (
        "import os, sys\nfrom pathlib import Path\nfrom matins.local.part import Part, ensure\n"
        "ensure(Part('thing', ('sleep', '600'), lambda: True), data=Path(sys.argv[1]))\nos.kill(os.getpid(), 9)"
    )
    ended = subprocess.run([sys.executable, "-c", launcher, str(data)], check=False, env={"PYTHONPATH": "."})
    assert ended.returncode == -signal.SIGKILL
    pid = pid_of(data)
    assert os.getsid(pid) == pid
    assert part.ensure(make(FOREVER), data=data)
    assert pid_of(data) == pid


def test_one_that_ends_when_asked_is_not_killed(data) -> None:
    part.ensure(make(FOREVER), data=data)
    assert part.stop(data, "thing") is True
    assert part.stop(data, "thing") is None


def test_one_that_does_not_end_when_asked_is_killed(data) -> None:
    log = part.log_file(data, "thing")
    part.ensure(make(DEAF, is_ready=lambda: log.read_text() == "deaf\n"), data=data)
    assert part.stop(data, "thing", grace=0.1) is False
    assert process.running(part.pid_file(data, "thing")) is None


def test_a_pid_that_now_belongs_to_somebody_else_is_left_alone(data) -> None:
    part.ensure(make(FOREVER), data=data)
    file = part.pid_file(data, "thing")
    record = json.loads(file.read_text())
    part.stop(data, "thing")
    stranger = start_stranger()
    try:
        file.write_text(json.dumps({**record, "pid": stranger.pid}))
        assert part.stop(data, "thing") is None
        assert stranger.poll() is None
    finally:
        stranger.kill()
        stranger.wait()


def test_a_pid_file_of_another_boot_names_nobody(data) -> None:
    part.ensure(make(FOREVER), data=data)
    file = part.pid_file(data, "thing")
    known = file.read_text()
    file.write_text(json.dumps({**json.loads(known), "boot": "another"}))
    assert process.running(file) is None
    file.write_text(known)
    assert process.running(file) is not None


def test_a_zombie_counts_as_dead() -> None:
    parent = subprocess.Popen(
        [sys.executable, "-c", "import os,sys\npid=os.fork()\nif pid==0: os._exit(0)\n"
         "os.waitid(os.P_PID,pid,os.WEXITED|os.WNOWAIT)\nprint(pid,flush=True)\nsys.stdin.read()"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    )  # fmt: skip
    with parent:
        assert parent.stdout
        zombie = int(parent.stdout.readline())
        fields = Path(f"/proc/{zombie}/stat").read_text().rpartition(")")[2].split()
        assert fields[0] == "Z"
        assert not process.is_alive(zombie, int(fields[19]))
        assert process.is_alive(
            parent.pid, int(Path(f"/proc/{parent.pid}/stat").read_text().rsplit(")")[-1].split()[19])
        )


@pytest.mark.parametrize("content", ["", "{", "[]", '{"pid": 1}', '{"pid": "x", "started": 0}'])
def test_a_pid_file_cut_short_names_nobody(data, content: str) -> None:
    part.ensure(make(FOREVER), data=data)
    whole = part.pid_file(data, "thing")
    torn = data / "torn.json"
    torn.write_text(content)
    assert process.running(torn) is None
    assert process.running(whole) is not None


def test_one_that_no_longer_answers_is_started_anew(data) -> None:
    part.ensure(make(FOREVER), data=data)
    before = pid_of(data)
    os.kill(before, signal.SIGSTOP)
    assert not part.ensure(make(FOREVER, is_ready=lambda: pid_of(data) != before, patience=0.3), data=data)
    assert pid_of(data) != before


@pytest.mark.parametrize(
    "changed", [{"environment": {"LEASE": "3"}}, {"version": "2"}], ids=["its environment", "its code"]
)
def test_one_that_runs_with_what_has_changed_since_is_started_anew(data, changed) -> None:
    part.ensure(make(FOREVER), data=data)
    before = pid_of(data)
    assert not part.ensure(make(FOREVER, **changed), data=data)
    assert pid_of(data) != before


def test_one_that_cannot_start_is_refused_with_its_last_words(data) -> None:
    broken = make(("sh", "-c", "echo first; echo the disk is on fire >&2; exit 1"), is_ready=lambda: False)
    with pytest.raises(Refused, match="thing did not start: the disk is on fire"):
        part.ensure(broken, data=data)


def test_one_that_finds_the_lock_of_its_dying_forerunner_is_tried_again(data) -> None:
    trying = 'if [ -e tried ]; then exec sleep 600; fi; touch tried; echo "lock file already exists"; exit 1'
    started = make(("sh", "-c", trying), is_ready=lambda: pid_of(data) > 0 and sleeps(pid_of(data)))
    assert not part.ensure(started, data=data)
    assert (data / "tried").exists()


def sleeps(pid: int) -> bool:
    return Path(f"/proc/{pid}/cmdline").read_bytes().startswith(b"sleep\0")


def test_what_it_writes_is_for_its_owner_only(data) -> None:
    part.ensure(make(("sh", "-c", "touch made; exec sleep 600"), is_ready=(data / "made").exists), data=data)
    for file in (data / "made", part.log_file(data, "thing"), part.pid_file(data, "thing")):
        assert file.stat().st_mode & 0o077 == 0, file
