"""What `matins up --detach` leaves behind: parts that fall are started again, and a lost setting is not guessed at."""

import json
import os
import subprocess
import sys

import pytest

from matins.local import part, process, watch, worker
from matins.settings import CHECKOUT

pytestmark = pytest.mark.timeout(300)


@pytest.fixture
def matins(tmp_path):
    """Runs `matins` on a data directory of its own, which is down again afterwards."""

    def run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        ours = {"MATINS_DATA": str(tmp_path / "data"), "MATINS_CONFIG": "/dev/null", "PYTHONPATH": str(CHECKOUT)}
        return subprocess.run(
            [sys.executable, "-m", "matins.cli", *arguments],
            env={**os.environ, **ours, **environment},
            capture_output=True,
            text=True,
            check=False,
            cwd=tmp_path,
        )

    yield run
    run("down")


def test_a_worker_that_is_killed_at_night_is_started_again_and_down_leaves_nothing(matins, tmp_path) -> None:
    data = tmp_path / "data"
    assert matins("up", "--detach").returncode == 0
    before = process.running(part.pid_file(data, worker.NAME))
    watching = process.running(part.pid_file(data, watch.NAME))
    os.kill(before.pid, 9)

    def is_back() -> bool:
        now = process.running(part.pid_file(data, worker.NAME))
        ready = data / "worker.ready"
        return now is not None and now.pid != before.pid and ready.exists() and ready.read_text() == str(now.pid)

    assert process.wait(is_back, seconds=60), "the watch did not start the worker again"
    after = process.running(part.pid_file(data, worker.NAME))
    assert matins("down").returncode == 0
    assert not any(process.alive(one) for one in (watching, after))
    assert process.running(part.pid_file(data, watch.NAME)) is None


def test_a_mail_server_that_was_set_and_is_not_any_more_is_not_replaced_by_the_test_mailbox(matins, tmp_path) -> None:
    assert matins("up", "--detach", MATINS_SMTP_URL="smtp://127.0.0.1:1").returncode == 0
    lost = matins("up", "--detach")
    assert lost.returncode == 1
    assert lost.stderr.startswith("MATINS_SMTP_URL was set the last time and is not set now.")
    assert "smtp_url" not in json.loads((tmp_path / "data" / "runtime.json").read_text())["addresses"]
    assert matins("morning").returncode == 1, "no other door starts it either"
    again = matins("up", "--detach", "--local")
    assert again.returncode == 0
    assert "a test mailbox, nothing leaves this machine" in again.stdout
