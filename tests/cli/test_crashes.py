"""`matins morning --crash`: what it offers is what a worker can die at, and the help names all of it."""

from typer.testing import CliRunner

from matins.cli.crash import CRASHES
from matins.cli.main import app
from matins.rules import crash


def test_every_crash_on_offer_is_a_named_point() -> None:
    assert {one.point.partition("@")[0] for one in CRASHES.values()} <= set(crash.POINTS)


def test_the_help_names_every_crash_and_a_wrong_one_is_told_the_right_ones() -> None:
    said = CliRunner().invoke(app, ["morning", "--crash", "lunch"])
    assert said.exit_code == 2
    told = " ".join(said.output.replace("│", " ").split())
    assert f"choose from: {', '.join(CRASHES)}" in told
    helped = CliRunner().invoke(app, ["morning", "--help"]).output
    assert all(name in helped for name in CRASHES)
