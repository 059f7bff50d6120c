"""Numbered files, up only, once each: whoever starts, however many at once, wherever they die."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg import Connection

from matins.ledger import migrate
from matins.rules.errors import Refused
from tests.ledger.clock import Clock
from tests.ledger.waiting import watch


def _write(folder: Path, **files: str) -> Path:
    for name, text in files.items():
        (folder / f"{name.removeprefix('v')}.sql").write_text(text)
    return folder


def _tables(dsn: str) -> set[str]:
    with psycopg.connect(dsn) as conn:
        return {row[0] for row in conn.execute("select tablename from pg_tables where schemaname = 'public'")}


def _versions(dsn: str) -> list[int]:
    with psycopg.connect(dsn) as conn:
        return [row[0] for row in conn.execute("select version from schema_version order by version")]


def test_every_file_is_applied_once_and_in_order(empty_dsn: str, tmp_path: Path) -> None:
    folder = _write(tmp_path, v0001_one="create table one ()", v0002_two="alter table one add two integer")
    assert migrate.migrate(empty_dsn, folder) == ["0001_one.sql", "0002_two.sql"]
    assert migrate.migrate(empty_dsn, folder) == []
    assert _versions(empty_dsn) == [1, 2]


def test_two_starters_at_once_apply_each_file_once(empty_dsn: str, tmp_path: Path) -> None:
    folder = _write(tmp_path, v0001_one="create table one ()", v0002_two="create table two ()")
    with (
        psycopg.connect(empty_dsn, autocommit=True) as conn,
        watch(empty_dsn) as waiting,
        ThreadPoolExecutor(2) as pool,
    ):
        with conn.transaction():
            conn.execute("select pg_advisory_xact_lock(%s)", (migrate._LOCK,))
            racing = [pool.submit(migrate.migrate, empty_dsn, folder) for _ in range(2)]
            waiting(2)
        applied = [racer.result() for racer in racing]
    assert sorted([*applied[0], *applied[1]]) == ["0001_one.sql", "0002_two.sql"]
    assert _tables(empty_dsn) == {"one", "two", "schema_version"}


def test_a_file_that_has_changed_since_is_refused_by_name(empty_dsn: str, tmp_path: Path) -> None:
    folder = _write(tmp_path, v0001_one="create table one ()")
    migrate.migrate(empty_dsn, folder)
    _write(tmp_path, v0001_one="create table other ()", v0002_two="create table two ()")
    with pytest.raises(Refused, match=r"schema/0001_one\.sql has changed"):
        migrate.migrate(empty_dsn, folder)
    assert _tables(empty_dsn) == {"one", "schema_version"}


def test_a_database_that_is_ahead_of_the_program_is_refused(empty_dsn: str, tmp_path: Path) -> None:
    folder = _write(tmp_path, v0001_one="create table one ()", v0002_two="create table two ()")
    migrate.migrate(empty_dsn, folder)
    (tmp_path / "0002_two.sql").unlink()
    with pytest.raises(Refused, match="has schema 2, this program knows 1"):
        migrate.migrate(empty_dsn, folder)


def test_a_file_that_fails_in_the_middle_leaves_nothing(empty_dsn: str, tmp_path: Path) -> None:
    folder = _write(tmp_path, v0001_one="create table one (); select 1 / 0; create table never ()")
    with pytest.raises(psycopg.errors.DivisionByZero):
        migrate.migrate(empty_dsn, folder)
    assert _tables(empty_dsn) == set()
    _write(tmp_path, v0001_one="create table one ()")
    assert migrate.migrate(empty_dsn, folder) == ["0001_one.sql"]


def test_a_starter_that_dies_in_the_middle_of_a_file_leaves_nothing(empty_dsn: str, tmp_path: Path) -> None:
    folder = _write(tmp_path, v0001_one="create table one (); lock table held; create table never ()")
    with (
        psycopg.connect(empty_dsn, autocommit=True) as conn,
        watch(empty_dsn) as waiting,
        ThreadPoolExecutor(1) as pool,
    ):
        conn.execute("create table held ()")
        with conn.transaction():
            conn.execute("lock table held")
            dying = pool.submit(migrate.migrate, empty_dsn, folder)
            waiting(1)
            conn.execute(
                "select pg_terminate_backend(pid) from pg_stat_activity"
                " where datname = current_database() and wait_event_type = 'Lock'"
            )
            with pytest.raises(psycopg.OperationalError):
                dying.result()
    assert _tables(empty_dsn) == {"held"}
    assert migrate.migrate(empty_dsn, folder) == ["0001_one.sql"]


def test_the_real_files_make_a_database_whose_clock_is_its_own(migrated_dsn: str) -> None:
    assert migrate.migrate(migrated_dsn) == []
    with psycopg.connect(migrated_dsn) as conn:
        migrate.check_clock(conn)


def test_a_database_with_a_clock_for_tests_is_refused(conn: Connection[Any]) -> None:
    Clock.install(conn)
    with pytest.raises(Refused, match="was made for tests"):
        migrate.check_clock(conn)
