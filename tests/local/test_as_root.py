"""What only root can show: collected only when the tests run as root."""

import shutil
from pathlib import Path

import pytest

from matins.local import part, ports, postgres, process
from matins.rules.errors import Refused


def test_postgres_runs_for_root_in_a_user_namespace_below_a_private_folder(tmp_path) -> None:
    data = tmp_path / "data"
    data.mkdir(mode=0o700)
    started = postgres.start(data, port=ports.search(str(data)), sync=False)
    try:
        running = process.running(part.pid_file(data, "postgres"))
        assert running is not None
        assert running.command[0] == "unshare"
        assert postgres.answers(started.dsn)
    finally:
        postgres.stop(data)


def test_root_without_user_namespaces_below_a_private_folder_is_told_why(tmp_path, monkeypatch) -> None:
    programs = tmp_path / "programs"
    programs.mkdir()
    for name in ("setpriv", "test"):
        (programs / name).symlink_to(str(shutil.which(name)))
    monkeypatch.setenv("PATH", str(programs))
    private = tmp_path / "private"
    private.mkdir(mode=0o700)
    (private / "data").mkdir()
    with pytest.raises(Refused, match="no user namespaces"):
        postgres.start(Path(private / "data"), port=1)
