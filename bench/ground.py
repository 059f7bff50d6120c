"""What the measures stand on: all local parts in a directory of their own, fsync on, started at the first need."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import psycopg
from psycopg import sql

from bench.sizes import Sizes
from matins import settings
from matins.cli.connection import ledger, orchestrator
from matins.cli.morning import arrange_demo
from matins.ledger import continuation, standing, today
from matins.ledger.migrate import migrate
from matins.local import ports, postgres, process, runtime
from matins.local.runtime import Runtime
from matins.rules import keys
from matins.rules.errors import Refused
from matins.rules.verdict import Morning, State, state

MORNINGS = 5
"""Mornings that the counts are made over, one after the other, each of its own owner with the demo's nine sources."""


@dataclass(frozen=True, slots=True)
class Observed:
    """A morning that a worker made, and what stretch of the write-ahead log it lies in."""

    morning: Morning
    log_from: str
    log_to: str

    def works(self) -> list[str]:
        """Its work keys, which are also its workflows' ids: research, continuation, messages."""
        key = self.morning.key
        messages = [message.work_key for message in self.morning.messages]
        return [keys.obligation_work(key), keys.continuation_work(key), *messages]


class Ground:
    """The parts, and the mornings made on them. Enter it; what was started is stopped and removed on the way out."""

    def __init__(self, sizes: Sizes) -> None:
        self.sizes = sizes
        self.directory = Path(tempfile.mkdtemp(prefix="matins-bench-"))
        self._begun = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._begun:
            runtime.down(self._settings(), say=quiet)
        postgres.stop(self._apart)
        shutil.rmtree(self.directory, ignore_errors=True)

    def _settings(self) -> settings.Settings:
        return settings.load({"MATINS_DATA": str(self.directory / "data"), "MATINS_CONFIG": "/dev/null"})

    @cached_property
    def running(self) -> Runtime:
        """The parts, ready, with the demo's feeds."""
        self._begun = True
        return runtime.up(self._settings(), say=quiet, with_feeds=True)

    @contextmanager
    def ledger(self) -> Iterator[psycopg.Connection[Any]]:
        """A connection to the ledger of these parts."""
        with ledger(self.running.settings) as conn:
            yield conn

    @cached_property
    def mornings(self) -> list[Observed]:
        """MORNINGS mornings, made by the worker. The first of all is left out: it reads every source anew."""
        return [self._morning(f"bench-{number}") for number in range(MORNINGS + 1)][1:]

    def _morning(self, owner: str) -> Observed:
        with self.ledger() as conn, orchestrator(self.running.settings) as temporal:
            arrange_demo(conn, self.running, owner)
            begin = log_position(conn)
            key = today.ask(conn, owner)
            temporal.start("obligation", key)
            day = today.today(conn, owner)

            def is_ready() -> bool:
                if state(standing.mornings(conn, day, owner=owner)[0]) is not State.READY:
                    return False
                return continuation.next_move(conn, key).done

            wait(is_ready, seconds=60, otherwise=lambda: f"{owner}'s morning did not become ready, its wiki made")
            return Observed(standing.mornings(conn, day, owner=owner)[0], begin, log_position(conn))

    @property
    def _apart(self) -> Path:
        return self.directory / "apart"

    @cached_property
    def postgres(self) -> str:
        """The address of a Postgres in which nobody but the measure at hand writes, its database `postgres`."""
        self._apart.mkdir()
        started = postgres.start(self._apart, port=ports.search(f"{self._apart}/postgres"))
        return _address(started.dsn, "postgres")

    def empty(self, name: str, *, like: str = "") -> str:
        """The address of a new database in that Postgres: with every migration, or a copy of the one called `like`."""
        with psycopg.connect(self.postgres, autocommit=True) as conn:
            statement = sql.SQL("create database {}").format(sql.Identifier(name))
            conn.execute(statement + (sql.SQL(" template {}").format(sql.Identifier(like)) if like else sql.SQL("")))
        if not like:
            migrate(_address(self.postgres, name))
        return _address(self.postgres, name)

    def drop(self, name: str) -> None:
        """Remove a database of that Postgres, and whoever is connected to it."""
        with psycopg.connect(self.postgres, autocommit=True) as conn:
            conn.execute(sql.SQL("drop database if exists {} with (force)").format(sql.Identifier(name)))

    def database(self, name: str) -> str:
        """The address of a new database in these parts' Postgres, with every migration."""
        address = self.running.settings.postgres_dsn
        with self.ledger() as conn:
            conn.execute(sql.SQL("create database {}").format(sql.Identifier(name)))
        made = _address(address, name)
        migrate(made)
        return made


def _address(of: str, database: str) -> str:
    return f"{of.rpartition('/')[0]}/{database}"


def forward(conn: psycopg.Connection[Any], *, seconds: float) -> None:
    """Let this database's clock be ahead of the machine's by so many seconds."""
    body = f"select clock_timestamp() + make_interval(secs => {float(seconds)})"
    conn.execute(
        sql.SQL(
            "create or replace function ledger_now() returns timestamptz language sql volatile parallel safe as {}"
        ).format(sql.Literal(body))
    )


def log_position(conn: psycopg.Connection[Any]) -> str:
    """Where the write-ahead log ends now."""
    [(position,)] = conn.execute("select pg_current_wal_insert_lsn()::text").fetchall()
    return str(position)


def wait(holds: Callable[[], bool], *, seconds: float, otherwise: Callable[[], str]) -> None:
    """Wait until `holds`. Raises Refused with what `otherwise` says after so many seconds."""
    if not process.wait(holds, seconds=seconds, every=0.01):
        raise Refused(otherwise())


def quiet(line: str) -> None:
    """Says nothing: what is measured is in the table."""
