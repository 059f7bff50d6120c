"""The demo's job board is one that Matins reads, and it changes from day to day."""

from __future__ import annotations

import urllib.request
from datetime import date, time, timedelta

from matins.demo import boards, feeds
from matins.demo.server import DemoServer
from matins.rules import calendar
from matins.rules.evidence import Item, SourceKind
from matins.rules.profile import parse
from matins.sources.boards import read_board

DAY = date(2026, 11, 30)


def _roles(day: date) -> dict[str, Item]:
    title, items = read_board(boards.page(day), kind=SourceKind.GREENHOUSE, url="http://127.0.0.1:8080" + boards.PATH)
    assert title == "Tidewright"
    return {item.identity: item for item in items}


def test_every_day_one_role_opens_and_one_is_filled_and_the_same_day_gives_the_same_bytes() -> None:
    assert boards.page(DAY) == boards.page(DAY)
    for number in range(14):
        before, after = _roles(DAY + timedelta(number)), _roles(DAY + timedelta(number + 1))
        assert len(before) == len(after) == 10
        start = calendar.first_instant(DAY + timedelta(number), time(0), feeds.ZONE)
        assert all(item.published_at and item.published_at < start for item in before.values())
        opened, filled = ({item.title for item in one.values()} for one in (after, before))
        assert (len(opened - filled), len(filled - opened)) == (1, 1)


def test_each_week_a_role_is_posted_again_under_a_new_id() -> None:
    days = [_roles(DAY + timedelta(number)).items() for number in range(14)]
    remote = {"place": "Remote", "team": "Storage", "places": "Remote"}
    title = "Database Reliability Engineer"
    ids = {identity for roles in days for identity, item in roles if (item.title, item.facts) == (title, remote)}
    assert 2 <= len(ids) <= 3


def test_the_demos_openings_are_such_that_a_profile_takes_them_and_its_server_serves_the_board() -> None:
    with DemoServer(lambda: feeds.pages(DAY)) as server:
        raw = {"owner": "demo", "zone": feeds.ZONE, "openings": boards.openings(server.url)}
        asked = parse(raw, where="the demo").openings
        assert asked is not None
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(asked.boards[0].url, timeout=5) as answer:
            assert answer.read() == boards.page(DAY)
    assert set(feeds.pages(DAY)) == {*feeds.feeds(DAY), boards.PATH}
