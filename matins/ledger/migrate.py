"""The schema, brought up to date: numbered files, up only, one transaction each, under one lock."""

from __future__ import annotations

from pathlib import Path

import psycopg
from psycopg.rows import scalar_row

from matins.rules.canonical import sha256
from matins.rules.errors import Refused

FOLDER = Path(__file__).resolve().parents[2] / "schema"
_LOCK = 7_130_419
_VERSIONS = """
create table if not exists schema_version (
    version integer primary key,
    name text not null,
    checksum text not null,
    applied_at timestamptz not null default clock_timestamp()
)
"""
CLOCK = "select clock_timestamp()"
"""The body of `ledger_now()` outside tests."""


def migrate(dsn: str, folder: Path = FOLDER) -> list[str]:
    """Apply every file of `folder` that this database does not have. Returns their names.

    Two starters may race: the version row comes first in each transaction, under one lock. Raises Refused when a file
    that was applied has changed since, or when the database is ahead of this program.
    """
    applied = []
    with psycopg.connect(dsn, autocommit=True) as conn:
        for file in sorted(folder.glob("[0-9]*.sql")):
            if _apply(conn, file):
                applied.append(file.name)
        newest = conn.execute("select max(version) from schema_version").fetchone()
    known = max(int(file.name[:4]) for file in folder.glob("[0-9]*.sql"))
    if newest and newest[0] > known:
        raise Refused(f"the database has schema {newest[0]}, this program knows {known}: upgrade the program")
    return applied


def _apply(conn: psycopg.Connection, file: Path) -> bool:
    version, text = int(file.name[:4]), file.read_text(encoding="utf-8")
    checksum = sha256(text.encode())
    with conn.transaction(), conn.cursor(row_factory=scalar_row) as cursor:
        cursor.execute("select pg_advisory_xact_lock(%s)", (_LOCK,))
        cursor.execute(_VERSIONS)
        cursor.execute("select checksum from schema_version where version = %s", (version,))
        stored = cursor.fetchone()
        if stored is not None:
            if stored != checksum:
                raise Refused(f"schema/{file.name} has changed since it was applied here: add a new file instead")
            return False
        cursor.execute(
            "insert into schema_version (version, name, checksum) values (%s, %s, %s)",
            (version, file.name, checksum),
        )
        cursor.execute(text.encode())
    return True


def check_clock(conn: psycopg.Connection) -> None:
    """Raise Refused if there is no ledger, or if its `ledger_now()` is not the database's own clock."""
    found = conn.execute("select prosrc from pg_proc where proname = 'ledger_now'").fetchone()
    if not found:
        raise Refused("this database has no ledger yet; make it with: matins up")
    if found[0].strip() != CLOCK:
        raise Refused("this database's ledger_now() is not its clock: it was made for tests")
