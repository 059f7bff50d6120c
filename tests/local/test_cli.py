"""The command line as a person meets it: sentences, exit codes, plain lines of 80 columns."""

import json
import os
import resource
import subprocess
import sys

import psycopg
import pytest
from temporalio.service import RPCError, RPCStatusCode

from matins.cli import main
from matins.rules.errors import ProfileRefused, Refused
from matins.settings import CHECKOUT


@pytest.fixture
def matins(tmp_path):
    """Runs `matins` on a data directory of its own."""

    def matins(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        ours = {"MATINS_DATA": str(tmp_path / "data"), "MATINS_CONFIG": "/dev/null", "PYTHONPATH": str(CHECKOUT)}
        return subprocess.run(
            [sys.executable, "-m", "matins.cli", *arguments],
            env={**os.environ, **ours, **environment}, capture_output=True, text=True, check=False, cwd=tmp_path,
        )  # fmt: skip

    return matins


def test_help_costs_less_than_half_a_second_of_work(matins) -> None:
    matins("--help")
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert "doctor" in matins("--help").stdout
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime < 0.5


def test_help_imports_nothing_that_only_a_command_needs() -> None:
    heavy = ("psycopg", "temporalio", "boto3", "pydantic", "aiosmtpd", "rich")
    looked = f"import sys; from matins.cli import main; print([name for name in {heavy} if name in sys.modules])"
    shown = subprocess.run([sys.executable, "-c", looked], capture_output=True, text=True, check=True, cwd=CHECKOUT)
    assert shown.stdout.strip() == "[]"


def test_an_unknown_command_is_wrong_usage(matins) -> None:
    assert matins("nonsense").returncode == 2


def test_a_refusal_is_one_sentence_on_stderr(matins) -> None:
    ended = matins("up", MATINS_LEASE="soon")
    assert ended.returncode == 1
    assert ended.stdout == ""
    assert ended.stderr.startswith("MATINS_LEASE, from the environment: ")
    assert len(ended.stderr.splitlines()) == 1


def test_down_where_nothing_runs_says_so(matins) -> None:
    ended = matins("down")
    assert (ended.returncode, ended.stdout) == (0, "Nothing was running.\n")


def test_doctor_on_an_empty_machine_says_what_is_wrong_and_what_to_do(matins) -> None:
    ended = matins("doctor")
    assert ended.returncode == 1
    assert "postgres  WRONG" in ended.stdout
    assert ended.stdout.rstrip().splitlines()[-1].endswith("matins up, unless it runs on another machine")
    assert "\x1b" not in ended.stdout


def test_doctor_for_programs_is_json_and_holds_no_secret(matins) -> None:
    ended = matins(
        "doctor",
        "--json",
        MATINS_SMTP_URL="smtp://u:hunter2@127.0.0.1:1",
        MATINS_IMAP_URL="imap://u:hunter2@127.0.0.1:1",
    )
    findings = {finding["name"]: finding for finding in json.loads(ended.stdout)}
    assert findings["smtp"]["ok"] is False
    assert "from the environment" in findings["smtp"]["remedy"]
    assert "hunter2" not in ended.stdout + ended.stderr


@pytest.mark.parametrize(
    ("error", "code", "sentence"),
    [
        (Refused("no profile for jo", key="jo"), 1, "jo: no profile for jo"),
        (ProfileRefused("no zone"), 2, "no zone"),
        (psycopg.OperationalError("no, hunter2"), 3, "Postgres does not answer. Start it:  matins up"),
        (RPCError("unavailable", RPCStatusCode.UNAVAILABLE, b""), 3, "Temporal does not answer. Start it:  matins up"),
        (RuntimeError("Failed client connect: x"), 3, "Temporal does not answer. Start it:  matins up"),
        (
            KeyboardInterrupt(),
            130,
            "Interrupted. Nothing is lost: what was begun goes on by itself; matins down stops it.",
        ),
    ],
)  # fmt: skip
def test_each_failure_becomes_one_sentence_and_one_code(monkeypatch, capsys, error, code: int, sentence: str) -> None:
    def fail() -> None:
        raise error

    app = main.typer.Typer(pretty_exceptions_enable=False)
    app.command("fail")(fail)
    app.command("other")(lambda: None)
    monkeypatch.setattr(main, "app", app)
    assert main.run(["fail"]) == code
    assert capsys.readouterr().err == f"{sentence}\n"


def test_a_fault_of_our_own_is_not_hidden(monkeypatch) -> None:
    def fail() -> None:
        raise RuntimeError("a bug")

    app = main.typer.Typer(pretty_exceptions_enable=False)
    app.command("fail")(fail)
    app.command("other")(lambda: None)
    monkeypatch.setattr(main, "app", app)
    with pytest.raises(RuntimeError, match="a bug"):
        main.run(["fail"])
