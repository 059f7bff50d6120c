"""The worker as a part, with a stand-in for `worker.py` that does what the launcher expects of it."""

import json
from pathlib import Path

import pytest

from matins import settings
from matins.local import part, process, worker
from matins.settings import Settings

ENTRY = """
import json, os, pathlib, signal
data = pathlib.Path(os.environ["MATINS_DATA"])
(data / "environment.json").write_text(json.dumps(dict(os.environ)))
(data / "worker.ready").write_text(str(os.getpid()))
signal.signal(signal.SIGTERM, lambda *_: ((data / "said goodbye").touch(), exit(0)))
signal.pause()
"""


@pytest.fixture
def entry(tmp_path):
    """A file to start; what was started is ended afterwards."""
    path = tmp_path / "worker.py"
    path.write_text(ENTRY)
    yield path
    worker.stop(tmp_path, grace=0)


def load(data: Path, **environment: str) -> Settings:
    return settings.load({"MATINS_DATA": str(data), "MATINS_CONFIG": "/dev/null", **environment})


def pid(data: Path) -> int:
    found = process.running(part.pid_file(data, "worker"))
    assert found is not None
    return found.pid


def test_a_worker_with_the_same_settings_is_used_again_and_another_one_started_for_others(entry, tmp_path) -> None:
    assert worker.start(load(tmp_path), entry=entry) is False
    first = pid(tmp_path)
    assert worker.start(load(tmp_path), entry=entry) is True
    assert pid(tmp_path) == first
    assert worker.start(load(tmp_path, MATINS_POLL_WAIT="5"), entry=entry) is False
    assert pid(tmp_path) != first
    assert (tmp_path / "said goodbye").exists()


def test_a_ready_file_of_an_earlier_worker_is_not_believed(entry, tmp_path) -> None:
    (tmp_path / "worker.ready").write_text("1")
    worker.start(load(tmp_path), entry=entry)
    assert (tmp_path / "worker.ready").read_text() == str(pid(tmp_path))


def test_the_worker_is_handed_every_setting(entry, tmp_path) -> None:
    found = load(tmp_path, MATINS_SMTP_URL="smtp://mail.example:25", MATINS_POLL_WAIT="5")
    worker.start(found, entry=entry)
    handed = settings.load(_environment(tmp_path))
    assert handed.model_dump(exclude={"origins"}) == found.model_dump(exclude={"origins"})


def _environment(data: Path) -> dict[str, str]:
    return dict(json.loads((data / "environment.json").read_text()))


def test_changed_code_has_another_stamp(tmp_path) -> None:
    (tmp_path / "matins").mkdir()
    code = tmp_path / "matins" / "a.py"
    code.write_text("a = 1")
    before = worker.code_stamp(tmp_path)
    assert worker.code_stamp(tmp_path) == before
    code.write_text("a = 12")
    assert worker.code_stamp(tmp_path) != before
