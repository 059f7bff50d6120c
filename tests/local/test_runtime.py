"""The real parts: up from nothing, killed and healed, down. One set of them for this file."""

import json
import os
import signal
import socket
import subprocess
import sys
import threading
from pathlib import Path

import psycopg
import pytest

from matins import settings
from matins.local import objects, part, process, runtime
from matins.rules.errors import Refused
from matins.settings import CHECKOUT, Settings

PARTS = ("postgres", "temporal", "objects", "mailbox")
LAUNCHER = """
import os
from matins import settings
from matins.local import runtime
runtime.up(settings.load(), say=print, with_worker=False)
print("up", flush=True)
os.kill(os.getpid(), 9)
"""


def load(data: Path, **environment: str) -> Settings:
    return settings.load({"MATINS_DATA": str(data), "MATINS_CONFIG": "/dev/null", **environment})


def environment(data: Path) -> dict[str, str]:
    ours = {
        "MATINS_DATA": str(data),
        "MATINS_CONFIG": "/dev/null",
        "PYTHONPATH": str(CHECKOUT),
        "PYTHONUNBUFFERED": "1",
    }
    return {**os.environ, **ours}


def pids(data: Path) -> dict[str, int]:
    found = {name: process.running(part.pid_file(data, name)) for name in PARTS}
    return {name: running.pid for name, running in found.items() if running}


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """A data directory whose parts were started by two launchers at once, both killed as soon as they were done."""
    directory = tmp_path_factory.mktemp("runtime") / "data"
    launchers = [
        subprocess.Popen(
            [sys.executable, "-c", LAUNCHER], env=environment(directory), stdout=subprocess.PIPE, text=True
        )
        for _ in range(2)
    ]
    said = [launcher.communicate(timeout=60)[0] for launcher in launchers]
    (directory / "said.json").write_text(json.dumps(said))
    yield directory
    for name in ("worker", *reversed(PARTS)):
        part.stop(directory, name, grace=5, end_with=signal.SIGINT if name == "postgres" else signal.SIGTERM)


def store(found: Settings):
    secret = found.s3_secret_key.get_secret_value()
    return objects.client(found.s3_endpoint, access_key=found.s3_access_key, secret_key=secret)


def test_two_launchers_at_once_start_one_set_and_both_say_every_part(data) -> None:
    said = json.loads((data / "said.json").read_text())
    for lines in (text.splitlines() for text in said):
        assert lines[-1] == "up"
        assert [line.split()[0] for line in lines if " ready " in line] == list(PARTS)
        assert all(len(line) <= 80 for line in lines)
    assert len(pids(data)) == 4


def test_the_addresses_are_kept_in_a_file_that_only_its_owner_reads(data) -> None:
    assert (data / "runtime.json").stat().st_mode & 0o777 == 0o600
    assert load(data).temporal_ui.startswith("http://127.0.0.1:")


def test_the_parts_of_a_killed_launcher_are_used_again(data) -> None:
    before = pids(data)
    running = runtime.up(load(data), say=print, with_worker=False)
    assert pids(data) == before
    assert running.here == PARTS
    assert running.settings.postgres_dsn == load(data).postgres_dsn


def test_parts_that_were_killed_come_back_with_their_data_and_addresses(data) -> None:
    found = load(data)
    with psycopg.connect(found.postgres_dsn, autocommit=True) as conn:
        conn.execute("create table kept (n integer)")
        conn.execute("insert into kept values (7)")
    store(found).put_object(Bucket=found.bucket, Key="kept", Body=b"seven")
    before = pids(data)
    for pid in before.values():
        os.kill(pid, signal.SIGKILL)
    assert process.wait(lambda: set(runtime.fallen(data)) == set(PARTS), seconds=5)
    assert set(runtime.heal(found, say=print)) == set(PARTS)
    assert not set(pids(data).values()) & set(before.values())
    assert load(data) == found
    with psycopg.connect(found.postgres_dsn, autocommit=True) as conn:
        assert conn.execute("select n from kept").fetchone() == (7,)
    assert store(found).get_object(Bucket=found.bucket, Key="kept")["Body"].read() == b"seven"


def test_nothing_listens_to_other_machines(data) -> None:
    """Every listening socket of our processes is on the loopback address."""
    for pid in pids(data).values():
        inodes = {os.readlink(path) for path in Path(f"/proc/{pid}/fd").iterdir() if path.is_symlink()}
        for table, loopback in (("tcp", "0100007F:"), ("tcp6", "00000000000000000000000001000000:")):
            for row in Path(f"/proc/{pid}/net/{table}").read_text().splitlines()[1:]:
                fields = row.split()
                if fields[3] == "0A" and f"socket:[{fields[9]}]" in inodes:
                    assert fields[1].startswith(loopback), (pid, fields[1])


def test_up_in_the_foreground_stops_everything_in_reverse_order_when_told_to(data) -> None:
    known = [process.read(part.pid_file(data, name)) for name in PARTS]
    command = [sys.executable, "-m", "matins.cli", "up"]
    with subprocess.Popen(
        command, env=environment(data), cwd=CHECKOUT, stdout=subprocess.PIPE, text=True
    ) as foreground:
        assert foreground.stdout
        assert any("Ctrl-C" in line for line in foreground.stdout)
        foreground.send_signal(signal.SIGTERM)
        patience = threading.Timer(60, foreground.kill)  # one that does not hear ends the test, not the run
        patience.start()
        stopped = [line.split()[0] for line in foreground.stdout if " stopped " in line]
        assert foreground.wait(timeout=30) == 0
        patience.cancel()
    assert stopped == ["worker", *reversed(PARTS)]
    assert not any(process.alive(each) for each in known if each)
    assert runtime.is_down(data), "what was stopped stays down"
    assert runtime.heal(load(data), say=print) == ()
    assert not runtime.down(load(data), say=print)
    assert pids(data) == {}


def test_a_port_that_somebody_else_has_is_refused_before_anything_starts(tmp_path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        with pytest.raises(Refused, match=f"port {port} is taken: set MATINS_IMAP_PORT"):
            runtime.up(load(tmp_path, MATINS_IMAP_PORT=str(port)), say=print, with_worker=False)
    assert runtime.is_down(tmp_path)


def test_a_given_server_that_does_not_answer_is_named_and_none_is_started(tmp_path) -> None:
    dsn = f"postgresql://nobody@127.0.0.1:{free_port()}/x"
    with pytest.raises(Refused, match="MATINS_POSTGRES_DSN"):
        runtime.up(load(tmp_path, MATINS_POSTGRES_DSN=dsn), say=print, with_worker=False)
    assert runtime.is_down(tmp_path)


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


def test_a_data_directory_that_cannot_be_written_is_refused_by_name(tmp_path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(Refused, match="cannot be written to"):
        runtime.up(load(tmp_path / "file" / "data"), say=print)
