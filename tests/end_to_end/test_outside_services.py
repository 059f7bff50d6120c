"""A worker and the command line on services that run elsewhere, known by environment variables only."""

from __future__ import annotations

from email import message_from_bytes, policy

import pytest

from matins.local import runtime
from tests.end_to_end.conftest import Outside

pytestmark = pytest.mark.timeout(300)

WEB_PAGE = ("text/html; charset=utf-8", b"<!doctype html><title>Moved</title><p>We have a new site.")


def test_a_morning_on_outside_services_is_mailed_once_and_starts_no_local_part(outside: Outside) -> None:
    matins = outside.house.matins
    assert matins("profile", "apply", str(outside.own("sam"))).code == 0
    for url in outside.feeds(3):
        assert matins("source", "add", "sam", url).code == 0
    with outside.worker():
        asked = matins("run", "sam")
        assert asked.code == 0, asked
        outside.wait_ready("sam")
        assert matins("run", "sam").code == 0
        assert matins("owed").code == 0
        assert [file.name for file in outside.house.data.iterdir()] == ["worker.ready"]
    assert len(outside.mails("sam")) == 1
    assert outside.house.owed()["sam"]["missing"] == []
    assert runtime.is_down(outside.house.data)


def test_faults_in_one_owners_profile_and_a_feed_that_became_a_web_page_delay_nobody_else(outside: Outside) -> None:
    matins = outside.house.matins
    files = [outside.own("jo", useful_until="25:00"), *map(outside.own, ("kim", "lee", "sam"))]
    applied = matins("profile", "apply", *map(str, files))
    assert (applied.code, applied.out.count(" applied")) == (2, 3), applied
    assert "jo.toml" in applied.err
    moved, *others = outside.feeds(3)
    for owner, url in (("kim", moved), ("kim", others[0]), ("lee", others[0]), ("sam", others[0]), ("sam", others[1])):
        assert matins("source", "add", owner, url).code == 0
    outside.pages[moved.removeprefix(outside.base)] = WEB_PAGE
    outside.house.ledger("update profile set zone = 'Europe/Atlantis' where owner = 'lee' returning 1")
    with outside.worker():
        for owner in ("kim", "sam"):
            asked = matins("run", owner)
            assert asked.code == 0, asked
        outside.wait_ready("kim", "sam")
    owed = matins("owed")
    assert (owed.code, 'unknown zone "Europe/Atlantis"' in owed.out) == (1, True), owed
    assert [len(outside.mails(owner)) for owner in ("jo", "kim", "lee", "sam")] == [0, 1, 0, 1]
    assert "Not seen today: Harbour Gazette." in _text(outside.mails("kim")[0])
    assert "Not seen today" not in _text(outside.mails("sam")[0])


def _text(mail: bytes) -> str:
    body = message_from_bytes(mail, policy=policy.default).get_body(("plain",))
    assert body is not None
    return str(body.get_content())
