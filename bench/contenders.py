"""Who is killed in `bench/recovery.py`: Matins reading a source, and bare Temporal in its one activity."""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
import sys
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from types import TracebackType
from typing import Protocol, Self

import psycopg
from temporalio.client import Client

from bench.bare import QUEUE, Bare, Held
from bench.ground import Ground
from matins.cli.connection import orchestrator
from matins.ledger import profile, source
from matins.local import process
from matins.rules import keys
from matins.rules import profile as profiles
from matins.rules.limits import Limits
from matins.settings import CHECKOUT
from matins.sources.address import canonical_url


class Contender(Protocol):
    """Somebody whose workers can be killed in mid-step. Steps are numbered; each is begun, seen to be begun again by
    another worker, and let go."""

    name: str
    namespace: str

    def spawn(self, number: int) -> subprocess.Popen[bytes]:
        """Start its worker of this number."""

    def is_ready(self, number: int) -> bool:
        """Whether that worker serves."""

    def begin(self, number: int) -> str:
        """Begin a step, which does not end by itself. Returns its workflow's id."""

    def begun_again(self, number: int) -> float | None:
        """When the step was begun for the second time, in seconds since the epoch; None if not yet."""

    def let_go(self, number: int) -> None:
        """Let the step end."""

    def said(self) -> str:
        """The last words of each of its workers."""

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


class MatinsWorkers:
    """`worker.py` on a database and namespace of its own; a step is the read of a source that does not answer."""

    def __init__(self, ground: Ground, name: str, limits: Limits) -> None:
        self.name, self.namespace = name, f"bench-{name}"
        self._ground, self._limits = ground, limits
        self._open = ExitStack()
        self._silent: dict[int, tuple[str, socket.socket]] = {}

    def __enter__(self) -> Self:
        dsn = self._ground.database(f"bench_{self.name}")
        shared = {
            "postgres_dsn": dsn,
            "temporal_namespace": self.namespace,
            "allow_hosts": ("127.0.0.1",),
        }
        self._settings = self._ground.running.settings.model_copy(update={**shared, **asdict(self._limits)})
        self._conn = self._open.enter_context(psycopg.connect(dsn, autocommit=True))
        nothing_owed = {"owner": "bench", "zone": "UTC", "window": "00:00-00:01"}
        profile.apply(self._conn, profiles.parse(nothing_owed, where="the bench"))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._open.close()

    def spawn(self, number: int) -> subprocess.Popen[bytes]:
        """See Contender."""
        data = self._data(number)
        data.mkdir(parents=True)
        settings = self._settings.model_copy(update={"data": data})
        return spawn([str(CHECKOUT / "worker.py")], data.with_suffix(".log"), settings.environment())

    def _data(self, number: int) -> Path:
        return self._ground.directory / self.name / str(number)

    def is_ready(self, number: int) -> bool:
        """See Contender."""
        return (self._data(number) / "worker.ready").exists()

    def begin(self, number: int) -> str:
        """See Contender."""
        listener = self._open.enter_context(socket.create_server(("127.0.0.1", 0)))
        url = canonical_url(f"http://127.0.0.1:{listener.getsockname()[1]}/feed.xml")
        self._silent[number] = (keys.source(url), listener)
        source.add(self._conn, "bench", url=url, name=f"feed {number}")
        with orchestrator(self._settings) as temporal:
            temporal.start("ingest", keys.source(url))
        return keys.ingest(keys.source(url))

    def begun_again(self, number: int) -> float | None:
        """See Contender."""
        claims = self._conn.execute(
            "select extract(epoch from claimed_at)::float8 from ingest_run where work_key = %s and token = 2",
            (keys.ingest_work(self._silent[number][0], 1),),
        ).fetchone()
        return claims[0] if claims else None

    def let_go(self, number: int) -> None:
        """See Contender."""
        self._silent[number][1].close()

    def said(self) -> str:
        """See Contender."""
        return last_words(self._ground.directory / self.name)


class BareTemporal:
    """`bench/bare.py`; a step is its one activity."""

    namespace = "default"

    def __init__(self, ground: Ground, name: str, limits: Limits) -> None:
        self.name, self._limits = name, limits
        self._address = ground.running.settings.temporal_address
        self._directory = ground.directory / name

    def __enter__(self) -> Self:
        self._directory.mkdir()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...

    def spawn(self, number: int) -> subprocess.Popen[bytes]:
        """See Contender."""
        log = self._directory / f"{number}.log"
        command = ["-m", "bench.bare", self._address, str(self._limits.beat), str(log.with_suffix(".ready"))]
        return spawn(command, log, {"PYTHONPATH": str(CHECKOUT)})

    def is_ready(self, number: int) -> bool:
        """See Contender."""
        return (self._directory / f"{number}.ready").exists()

    def _file(self, number: int) -> Path:
        return self._directory / f"step-{number}"

    def begin(self, number: int) -> str:
        """See Contender."""
        limits = self._limits
        held = Held(
            str(self._file(number)), limits.beat, limits.heartbeat_timeout, limits.first_backoff, limits.deadline
        )
        workflow_id = f"{self.name}/{number}"
        asyncio.run(self._start(workflow_id, held))
        return workflow_id

    async def _start(self, workflow_id: str, held: Held) -> None:
        client = await Client.connect(self._address, namespace=self.namespace)
        await client.start_workflow(Bare.run, held, id=workflow_id, task_queue=QUEUE)

    def begun_again(self, number: int) -> float | None:
        """See Contender."""
        lines = self._file(number).read_text(encoding="ascii").splitlines()
        return float(lines[1]) if len(lines) > 1 else None

    def let_go(self, number: int) -> None:
        """See Contender."""
        self._file(number).with_suffix(".go").touch()

    def said(self) -> str:
        """See Contender."""
        return last_words(self._directory)


def spawn(arguments: list[str], log: Path, environment: Mapping[str, str]) -> subprocess.Popen[bytes]:
    """A Python process of its own, its words in `log`."""
    with log.open("wb") as out:
        return subprocess.Popen(
            [sys.executable, *arguments],
            env={**os.environ, **environment},
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.STDOUT,
        )


def last_words(directory: Path) -> str:
    """The last line of each log in `directory`."""
    return "; ".join(f"{log.stem}: {process.last_line(log)}" for log in sorted(directory.glob("*.log")))
