"""Matins as a person has it: the command line in a process of its own, on a data directory of its own."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import psycopg

from matins import settings
from matins.ledger import standing
from matins.local import objects, process
from matins.local.maildir import read_ledger
from matins.rules.limits import Limits
from matins.rules.verdict import Morning
from matins.settings import CHECKOUT, Settings

LIMITS = Limits(
    lease=3.0,
    beat=1.0,
    heartbeat_timeout=4.0,
    first_backoff=0.5,
    deadline=30.0,
    provider_timeout=10.0,
    smtp_idle=11.0,
    quarantine=12.0,
    grace=15.0,
).check()
"""A night in small."""
_FOREIGN = ("MATINS_", "AWS_", "TEMPORAL_")


@dataclass(frozen=True, slots=True)
class Ran:
    """What a command said, and how it ended."""

    code: int
    out: str
    err: str

    def __str__(self) -> str:
        return f"exit {self.code}\n{self.out}\n{self.err}"


class House:
    """One data directory, and the commands that are run on it. `environment` is set for each of them."""

    def __init__(self, data: Path, environment: Mapping[str, str]) -> None:
        self.data = data
        kept = {name: value for name, value in os.environ.items() if not name.startswith(_FOREIGN)}
        durations = {f"MATINS_{name.upper()}": str(getattr(LIMITS, name)) for name in LIMITS.__slots__}
        own = {"MATINS_DATA": str(data), "MATINS_CONFIG": os.devnull, "PYTHONPATH": str(CHECKOUT)}
        self.environment = {**kept, **durations, **own, **environment}

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        """Start a command in a process group of its own, as a terminal does."""
        return subprocess.Popen(
            [sys.executable, "-m", "matins.cli", *arguments],
            env=self.environment,
            cwd=self.data.parent,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def matins(self, *arguments: str) -> Ran:
        """Run a command to its end."""
        with self.start(*arguments) as command:
            try:
                out, err = command.communicate(timeout=100)
            finally:
                interrupt(command, signal.SIGKILL)
        return Ran(command.returncode, out, err)

    def settings(self) -> Settings:
        """The settings as the commands read them."""
        return settings.load(self.environment, directory=self.data.parent)

    def ledger(self, statement: Any, *parameters: object) -> list[tuple[Any, ...]]:
        """What a query of the ledger returns."""
        with psycopg.connect(self.settings().postgres_dsn, autocommit=True) as conn:
            return conn.execute(statement, parameters).fetchall()

    def mornings(self) -> dict[str, Morning]:
        """The mornings of the ledger, of whatever date, by owner."""
        with psycopg.connect(self.settings().postgres_dsn, autocommit=True) as conn:
            days = conn.execute("select distinct local_date from obligation").fetchall()
            return {one.owner: one for (day,) in days for one in standing.mornings(conn, day)}

    def object(self, key: str) -> bytes:
        """What the object store has under `key`."""
        found = self.settings()
        secret = found.s3_secret_key.get_secret_value()
        s3 = objects.client(found.s3_endpoint, access_key=found.s3_access_key, secret_key=secret)
        return bytes(s3.get_object(Bucket=found.bucket, Key=key)["Body"].read())

    def owed(self) -> dict[str, Any]:
        """The mornings of today as `matins owed --json` says them, by owner."""
        ran = self.matins("owed", "--json")
        assert ran.code in (0, 1), ran
        return {one["owner"]: one for one in json.loads(ran.out)["owed"]}

    def left(self) -> list[int]:
        """Processes that still run for this data directory: it is in their command or their environment."""
        mark = str(self.data).encode()
        found = []
        for folder in Path("/proc").glob("[0-9]*"):
            with suppress(OSError):
                if any(mark in (folder / name).read_bytes() for name in ("cmdline", "environ")):
                    found.append(int(folder.name))
        return found

    def down(self) -> None:
        """Stop everything, and see that nothing runs any more."""
        assert self.matins("down").code == 0
        assert process.wait(lambda: not self.left(), seconds=20), self.left()


def interrupt(command: subprocess.Popen[str], number: signal.Signals = signal.SIGINT) -> None:
    """Send a signal to all of a command's process group, as Ctrl-C does; nothing if it has ended."""
    if command.poll() is None:
        with suppress(ProcessLookupError):
            os.killpg(command.pid, number)


def mails(mailbox: Path, owner: str) -> list[bytes]:
    """The mails to `owner` in a test mailbox; its own record of what it took must say the same number."""
    inbox = mailbox / "mailbox" / "matins"
    files = [file.read_bytes() for folder in ("new", "cur") for file in sorted((inbox / folder).iterdir())]
    to = f"{owner}@"
    found = [mail for mail in files if f"\nTo: {to}".encode() in mail]
    taken = [entry for entry in read_ledger(mailbox / "smtp.log") if any(one.startswith(to) for one in entry["to"])]
    assert len(taken) == len(found), taken
    return found


def noon_zone() -> str:
    """A zone in which it is about noon now, so that no test runs over midnight."""
    return f"Etc/GMT{datetime.now(UTC).hour - 12:+d}"
