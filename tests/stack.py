"""One Postgres, one Temporal and one object store for a whole run of the tests, shared by all its processes.

The controller makes a directory and names it in the environment; whoever needs a part first starts it there, under
a file lock; the controller stops what was started, by pid, and removes the directory. A run whose controller was
killed is cleared away by the next one.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg

from matins.ledger.migrate import migrate
from matins.local import objects, part, ports, postgres, process, temporal

VARIABLE = "TEST_STACK"
TEMPLATE = "template_ledger"
_PREFIX = "matins-tests-"
_QUICK = (
    "fsync=off",
    "full_page_writes=off",
    "synchronous_commit=off",
    "max_connections=300",
    "shared_buffers=128MB",
)


def make() -> Path:
    """A directory for this run, named in the environment. What dead runs left is cleared away first."""
    for left in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        if _is_abandoned(left):
            clear(left)
    directory = Path(tempfile.mkdtemp(prefix=_PREFIX))
    (directory / "controller").write_text(json.dumps(_me()))
    os.environ[VARIABLE] = str(directory)
    return directory


def clear(directory: Path) -> None:
    """Stop every part that runs in `directory`, and remove it. Only Postgres leaves something if it is killed."""
    postgres.stop(directory)
    for name in (temporal.NAME, objects.NAME):
        part.stop(directory, name, grace=0)
    objects.clear_sockets()
    shutil.rmtree(directory, ignore_errors=True)


def start_postgres() -> str:
    """The address of the run's Postgres, its database `postgres`; a template there has every migration."""
    return str(_shared("postgres", _start_postgres))


def start_temporal() -> str:
    """host:port of the run's Temporal."""
    return str(_shared("temporal", _start_temporal))


def start_objects() -> dict[str, str]:
    """Endpoint, keys and bucket of the run's object store."""
    return dict(_shared("objects", _start_objects))


def address_of(admin: str, database: str) -> str:
    """The address of another database of the same Postgres."""
    return f"{admin.rpartition('/')[0]}/{database}"


def _start_postgres(directory: Path) -> str:
    port = ports.search(f"{directory}/postgres")
    started = postgres.start(directory, port=port, options=_QUICK, sync=False)
    admin = address_of(started.dsn, "postgres")
    with psycopg.connect(admin, autocommit=True) as conn:
        conn.execute(f"create database {TEMPLATE}")
    migrate(address_of(admin, TEMPLATE))
    return admin


def _start_temporal(directory: Path) -> str:
    return temporal.start(directory, port=ports.search(f"{directory}/temporal")).address


def _start_objects(directory: Path) -> dict[str, str]:
    port = ports.search(f"{directory}/objects", width=objects.WIDTH)
    store = objects.start(directory, port=port, bucket="tests")
    return {"endpoint": store.endpoint, "access_key": store.access_key, "secret_key": store.secret_key}


def _shared(name: str, start: Callable[[Path], Any]) -> Any:
    """What `start` returned to the first process of this run that asked."""
    directory = Path(os.environ[VARIABLE])
    kept = directory / f"{name}.address"
    with _alone(directory / f"{name}.lock"):
        if not kept.exists():
            address = json.dumps(start(directory))
            kept.with_suffix(".new").write_text(address)
            kept.with_suffix(".new").rename(kept)
    return json.loads(kept.read_text())


@contextmanager
def _alone(path: Path) -> Iterator[None]:
    with path.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _me() -> list[int]:
    stat = Path("/proc/self/stat").read_text().rpartition(")")[2].split()
    return [os.getpid(), int(stat[19])]


def _is_abandoned(directory: Path) -> bool:
    """Whether the controller that made `directory` has died; not if that cannot be told."""
    try:
        if directory.stat().st_uid != os.geteuid():
            return False
        pid, started = json.loads((directory / "controller").read_text())
    except (OSError, ValueError):
        return False
    return not process.is_alive(pid, started)
