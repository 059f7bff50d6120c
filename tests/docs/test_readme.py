"""README: short, the picture first, and nothing in it that is not so."""

import re
import struct
import tomllib
from pathlib import Path

import psycopg
import pytest

from matins import settings
from matins.cli import crash, main
from matins.orchestrator import ATTRIBUTES
from matins.rules.limits import SPACING, Limits
from matins.rules.profile import from_document, parse
from tests.docs.pages import ROOT, page

README = page("README.md")
EXAMPLE, SETTINGS = README.blocks("toml")


def test_it_is_short_and_opens_with_an_edition_and_the_promise() -> None:
    lines = README.text.splitlines()
    assert len(lines) < 120
    assert "docs/edition-on-a-phone.png" in lines[2]
    assert "**If anything dies at 3 a.m., you still get exactly one mail at 7.**" in lines[:12]


def test_the_picture_is_a_phone_and_light() -> None:
    picture = (ROOT / "docs" / "edition-on-a-phone.png").read_bytes()
    width, height = struct.unpack(">II", picture[16:24])
    assert picture.startswith(b"\x89PNG")
    assert len(picture) < 150_000
    assert width * 844 == height * 390


def test_the_first_commands_are_make_morning_and_make_test() -> None:
    first = README.blocks("")[0].splitlines()
    assert [line.split("  ")[0] for line in first] == ["make morning", "make test"]


def test_the_example_settings_can_be_read(tmp_path: Path) -> None:
    (tmp_path / "matins.toml").write_text(SETTINGS, encoding="utf-8")
    found = settings.load({"MATINS_CONFIG": str(tmp_path / "matins.toml")}, directory=tmp_path)
    assert set(tomllib.loads(SETTINGS)) == set(found.origins)
    assert found.allow_hosts == ("feeds.home:8080",)


def test_the_example_profile_can_be_read() -> None:
    profile = parse(tomllib.loads(EXAMPLE), where="README.md")
    assert (profile.owner, profile.zone, len(profile.destinations)) == ("sam", "Europe/London", 1)
    assert list(profile.interests) == ["databases", "shipping"]


def test_the_example_profile_can_be_applied(
    dsn: str, conn: psycopg.Connection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "sam.toml"
    file.write_text(EXAMPLE, encoding="utf-8")
    monkeypatch.setenv("MATINS_POSTGRES_DSN", dsn)
    monkeypatch.setenv("MATINS_DATA", str(tmp_path))
    assert main.run(["profile", "apply", str(file)]) == 0
    found = conn.execute("select document from profile where owner = 'sam'").fetchone()
    assert found is not None
    assert from_document(found[0]) == parse(tomllib.loads(EXAMPLE), where="README.md")


def test_the_crash_is_told_in_the_words_of_the_command() -> None:
    shown = README.blocks("")[1]
    source = Path(crash.__file__).read_text(encoding="utf-8")
    for words in (
        "A demo owner of its own, ",
        "killed, before it could note the answer",
        "nobody else may send till then",
        "check      found one mail that ",
        "searched the mailbox for it: found, ",
        "send       marked as sent. Not sent again.",
        ".  Mails in the mailbox: ",
    ):
        assert words in shown
        assert words in source
    assert shown.rstrip().endswith("Mails in the mailbox: 1.")


def test_its_durations_are_the_defaults() -> None:
    seconds, minutes = SPACING[0], [f"{wait / 60:.0f}" for wait in SPACING[1:]]
    assert f"({Limits().lease:.0f} s)" in README.text
    assert f"still missing after {Limits().quarantine:.0f} s" in README.text
    assert f"tried again after {seconds:.0f} s, {minutes[0]}, {minutes[1]} and {minutes[2]} min" in README.text


def test_the_download_is_as_large_as_the_set_up_says() -> None:
    said = re.search(r"^RUN_MB=(\d+)$", (ROOT / "bin" / "setup").read_text(), re.MULTILINE)
    assert said
    assert f"({said[1]} MB," in README.text


def test_its_query_uses_search_attributes_that_are_set() -> None:
    asked = re.findall(r"(Matins[A-Z]\w+)=", README.text)
    assert asked
    assert set(asked) <= {attribute.name for attribute in ATTRIBUTES}
