"""What the database itself refuses, read from its catalog."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg import Connection

from matins.ledger import invariants
from matins.rules.effects import Repeat
from matins.rules.profile import IF_UNKNOWN, PROOFS
from matins.rules.states import STATES
from tests.ledger.tables import KEYS

SCHEMA = Path(__file__).resolve().parents[2] / "schema"
SQL = [*sorted(SCHEMA.glob("[0-9]*.sql")), SCHEMA / "invariants.sql"]
LEDGER = sorted((SCHEMA.parent / "matins" / "ledger").glob("*.py"))


def _found(conn: Connection[Any], statement: str, *parameters: object) -> list[Any]:
    return [row[0] for row in conn.execute(statement.encode(), parameters).fetchall()]


def _choices(conn: Connection[Any], constraint: str) -> set[str]:
    (text,) = _found(
        conn, "select pg_get_constraintdef(oid) from pg_constraint where conname = %s and contype = 'c'", constraint
    )
    return set(re.findall(r"'([a-z_]+)'::text", text))


@pytest.mark.parametrize(
    ("machine", "constraint"),
    [
        ("obligation", "obligation_status_is_known"),
        ("continuation", "continuation_status_is_known"),
        ("action", "action_status_is_known"),
        ("message", "message_status_is_known"),
        ("edition", "edition_status_is_known"),
        ("ingest_run", "run_status_is_known"),
        ("page_write", "page_write_status_is_known"),
    ],
)
def test_the_table_knows_exactly_the_states_of_its_machine(
    conn: Connection[Any], machine: str, constraint: str
) -> None:
    assert _choices(conn, constraint) == {str(state) for state in STATES[machine]}


def test_the_tables_know_exactly_the_choices_of_the_rules(conn: Connection[Any]) -> None:
    assert _choices(conn, "proof_is_known") == set(PROOFS)
    assert _choices(conn, "if_unknown_is_known") == set(IF_UNKNOWN)
    assert _choices(conn, "repeat_is_known") == {str(repeat) for repeat in Repeat}


def test_no_timestamp_is_without_a_zone(conn: Connection[Any]) -> None:
    zoneless = """
        select table_name || '.' || column_name
          from information_schema.columns
         where table_schema = 'public'
           and data_type in ('timestamp without time zone', 'time with time zone')
    """
    assert _found(conn, zoneless) == []


def test_the_one_clock_is_the_only_default_and_the_only_clock_in_the_sql(conn: Connection[Any]) -> None:
    defaults = """
        select table_name || '.' || column_name
          from information_schema.columns
         where table_schema = 'public'
           and table_name <> 'schema_version'
           and column_default ~ '(now\\(\\)|clock_timestamp|current_timestamp|localtime)'
           and column_default <> 'ledger_now()'
    """
    assert _found(conn, defaults) == []
    other = re.compile(r"(?<!ledger_)\bnow\(\)|clock_timestamp|current_timestamp|statement_timestamp|timezone\(", re.I)
    for file in (*SQL, *LEDGER):
        text = file.read_text(encoding="utf-8")
        allowed = 2 if file.name == "migrate.py" else 1 if file.name == "0001_ledger.sql" else 0
        assert len(other.findall(text)) == allowed, file.name


def test_the_clock_is_volatile(conn: Connection[Any]) -> None:
    assert _found(conn, "select provolatile::text from pg_proc where proname = 'ledger_now'") == ["v"]


def test_every_check_has_a_name_of_its_own(conn: Connection[Any]) -> None:
    automatic = """
        select conname
          from pg_constraint
          left join pg_class on pg_class.oid = conrelid
         where contype = 'c'
           and connamespace = 'public'::regnamespace
           and (conname ~ '_check[0-9]*$' or (relname is not null and conname ~ ('^' || relname || '_.*_check')))
    """
    assert _found(conn, automatic) == []


def test_every_view_says_what_it_shows(conn: Connection[Any]) -> None:
    silent = """
        select relname
          from pg_class
         where relkind = 'v'
           and relnamespace = 'public'::regnamespace
           and obj_description(oid) is null
    """
    assert _found(conn, silent) == []
    views = _found(conn, "select relname from pg_class where relkind = 'v' and relnamespace = 'public'::regnamespace")
    assert set(views) >= {"owed", "stuck", "held"}
    for view in views:
        conn.execute(f'select * from "{view}"'.encode())


def test_nothing_that_a_beat_changes_is_indexed(conn: Connection[Any]) -> None:
    indexes = _found(conn, "select indexdef from pg_indexes where tablename = 'work'")
    assert len(indexes) == 1
    assert not [index for index in indexes if "lease_expires_at" in index or "moved_at" in index]


def test_the_tests_compare_every_table_there_is(conn: Connection[Any]) -> None:
    tables = _found(conn, "select tablename from pg_tables where schemaname = 'public'")
    assert set(tables) == {*KEYS, "schema_version"}


@pytest.mark.parametrize(
    "statement",
    ["update audit set event = 'x'", "delete from audit", "truncate audit", "delete from audit where false"],
)
def test_the_audit_is_append_only(conn: Connection[Any], statement: str) -> None:
    conn.execute("insert into audit (at, subject, event) values (ledger_now(), 'work', 'test.noted')")
    with pytest.raises(psycopg.errors.RaiseException, match="append-only"), conn.transaction():
        conn.execute(statement.encode())
    assert _found(conn, "select event from audit") == ["test.noted"]


def test_every_query_of_the_law_has_a_name_and_is_run(conn: Connection[Any]) -> None:
    text = invariants.FILE.read_text(encoding="utf-8")
    statements = [line for line in text.splitlines() if line.endswith(";")]
    assert len(invariants.rules()) == len(set(invariants.rules())) == len(statements)
    assert invariants.broken(conn) == {}


WORK = "insert into work (key, kind, {columns}) values ('k', 'obligation', {values})"


@pytest.mark.parametrize(
    ("constraint", "columns", "values"),
    [
        ("leased_whole_or_not", "holder", "'w'"),
        ("leased_whole_or_not", "lease_expires_at", "ledger_now()"),
        ("closed_holds_no_lease", "holder, lease_expires_at, deadline_at, closed_at", "'w', '-infinity', 'now', 'now'"),
        ("closed_has_nothing_in_flight", "in_flight, closed_at", "1, ledger_now()"),
        ("attempts_in_budget", "attempts", "6"),
        ("attempts_in_budget", "attempts", "-1"),
        ("lease_ends_by_deadline", "holder, lease_expires_at, deadline_at", "'w', 'infinity', ledger_now()"),
        ("in_flight_is_a_count", "in_flight", "-1"),
    ],
)
def test_the_work_table_refuses_what_the_kernel_must_never_write(
    conn: Connection[Any], constraint: str, columns: str, values: str
) -> None:
    with pytest.raises(psycopg.errors.CheckViolation) as refused, conn.transaction():
        conn.execute(WORK.format(columns=columns, values=values).encode())
    assert refused.value.diag.constraint_name == constraint


def test_frozen_bytes_are_what_their_hash_says(conn: Connection[Any]) -> None:
    with pytest.raises(psycopg.errors.CheckViolation) as refused, conn.transaction():
        conn.execute("insert into frozen (hash, bytes) values (repeat('0', 64), 'x')")
    assert refused.value.diag.constraint_name == "bytes_match_hash"
    with pytest.raises(psycopg.errors.CheckViolation) as short, conn.transaction():
        conn.execute("insert into frozen (hash, bytes) values ('ABC', 'x')")
    assert short.value.diag.constraint_name == "sha256_is_lower_hex"
