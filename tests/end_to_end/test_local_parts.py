"""The command line from nothing: every part is started, a morning is made once, whatever interrupts it."""

from __future__ import annotations

import json
import random
import subprocess
import time
from contextlib import suppress
from pathlib import Path

import pytest

from matins.rules.canonical import sha256
from tests.end_to_end.house import House, interrupt, mails

pytestmark = pytest.mark.timeout(300)

OPENINGS = ("openings.html", "openings.json", "openings.md")
AGAIN_WITHIN = 15.0
"""Seconds that a second run of the same morning may take."""


@pytest.fixture
def mailbox(house: House) -> Path:
    """Where the house's own test mailbox keeps what it took."""
    return house.data / "mailbox"


def test_a_morning_is_run_once_by_hand_and_a_worker_killed_after_its_send_sends_no_second_mail(house, mailbox) -> None:
    first = house.matins("morning")
    assert first.code == 0, first
    assert "\nREADY " in first.out
    [mail] = mails(mailbox, "demo")
    _assert_exported(house, "demo", mail)
    _assert_made_once(house, mailbox, "demo", _again(house))
    _assert_killed_and_recovered(house, mailbox)


def test_a_morning_interrupted_at_a_random_moment_and_run_again_sends_one_mail(house, mailbox) -> None:
    lines, seconds = random.randrange(14), random.random()
    moment = f"interrupted {seconds:.3f} s after line {lines}"
    with house.start("morning") as command:
        assert command.stdout
        for _ in range(lines):
            command.stdout.readline()
        with suppress(subprocess.TimeoutExpired):
            command.wait(timeout=seconds)
        interrupt(command)
        said = command.communicate(timeout=60)
    again = house.matins("morning")
    assert again.code == 0, f"{moment}\n{said}\n{again}"
    assert len(mails(mailbox, "demo")) == 1, moment
    assert _editions(house, "demo") == 1, moment
    assert house.owed()["demo"]["missing"] == [], moment


def _again(house: House) -> str:
    began = time.monotonic()
    second = house.matins("morning")
    took = time.monotonic() - began
    assert second.code == 0, second
    assert "Nothing was run again." in second.out
    assert took < AGAIN_WITHIN
    return second.out


def _assert_made_once(house: House, mailbox: Path, owner: str, said: str) -> None:
    assert "worker     ready  as before" in said
    assert len(mails(mailbox, owner)) == 1
    assert _editions(house, owner) == 1
    owed = house.owed()[owner]
    assert (owed["state"], owed["missing"], owed["token"]) == ("READY", [], 1)
    assert [step["attempts"] for step in owed["steps"]] == [1, 1, 1, 1, 1]
    assert [message["status"] for message in owed["messages"]] == ["observed"]


def _assert_exported(house: House, owner: str, mail: bytes) -> None:
    """The files written for the reader are those of the bundle in the object store, and the mail as it came."""
    owed = house.owed()[owner]
    [publish] = [step for step in owed["steps"] if step["step"] == "publish"]
    manifest = publish["reference"].partition("#")[0]
    listed = json.loads(house.object(manifest))["files"]
    folder = house.data / "editions" / owner / owed["local_date"]
    written = {file.name: sha256(file.read_bytes()) for file in folder.iterdir()}
    beside = manifest.rpartition("/")[0]
    openings = {name: house.object(f"{beside}/{name}") for name in OPENINGS}
    stored = {one["name"]: house.object(f"{beside}/{one['name']}") for one in listed}
    assert {name: sha256(body) for name, body in stored.items()} == {one["name"]: one["sha256"] for one in listed}
    assert written == {name: sha256(body) for name, body in {**stored, **openings, "mail.eml": mail}.items()}
    assert (house.data / "wiki" / owner / "index.html").read_bytes() == house.object(f"{owner}/wiki/index.html")


def _assert_killed_and_recovered(house: House, mailbox: Path) -> None:
    crashed = house.matins("morning", "--crash", "send")
    assert crashed.code == 0, crashed
    told = ("the server said", "killed, before it could note the answer", "Not sent again.", "Mails in the mailbox: 1.")
    assert all(part in crashed.out for part in told), crashed
    assert len(mails(mailbox, "crash-1")) == 1
    assert _editions(house, "crash-1") == 1
    assert len(mails(mailbox, "demo")) == 1


def _editions(house: House, owner: str) -> int:
    [(count,)] = house.ledger("select count(*) from edition where key like %s", f"{owner}/%")
    return int(count)
