"""The demo reads as nine stories, and its server answers as a real one does."""

from __future__ import annotations

import json
import tomllib
import urllib.error
import urllib.request
from datetime import UTC, date, datetime, time
from xml.etree import ElementTree

import pytest

from matins.demo import feeds
from matins.demo.server import DemoServer
from matins.demo.stories import NEWS
from matins.rules import calendar, profile

DAY = date(2026, 11, 30)


def test_the_profile_is_one_that_matins_takes() -> None:
    owner = profile.parse(tomllib.loads(feeds.PROFILE), where="the demo")
    assert (owner.owner, owner.zone, owner.long, owner.short) == ("demo", "Europe/London", 5, 4)
    assert owner.destinations[0].address == "demo@localhost.localdomain"


def test_there_are_nine_sources_of_which_one_cannot_be_reached() -> None:
    listed = feeds.sources("http://127.0.0.1:8080/")
    assert len(listed) == 9
    assert listed[-1] == ("harbour-news", "http://127.0.0.1:1/harbour-news.xml")
    assert {url.partition("8080")[2] for _, url in listed[:-1]} == set(feeds.feeds(DAY))


def test_every_feed_parses_and_no_date_is_in_the_future_of_the_day() -> None:
    start = calendar.first_instant(DAY, time(0), feeds.ZONE)
    dates = []
    for kind, body in feeds.feeds(DAY).values():
        if "json" in kind:
            stamps = [item["date_published"] for item in json.loads(body)["items"]]
        else:
            stamps = [node.text for node in ElementTree.fromstring(body).iter("{http://www.w3.org/2005/Atom}published")]
        dates += [datetime.fromisoformat(stamp.replace("Z", "+00:00")) for stamp in stamps]
    assert len(dates) > 12
    assert max(dates) < start


@pytest.mark.parametrize("told", NEWS, ids=lambda told: told.slug)
def test_every_story_has_80_to_160_words_a_number_and_a_quotation(told: object) -> None:
    text = told.text  # type: ignore[attr-defined]
    assert 80 <= len(text.split()) <= 160
    assert any(map(str.isdigit, text))
    assert text.count('"') >= 2 or "lodestone-9-3" in told.slug  # type: ignore[attr-defined]


def test_the_same_day_gives_the_same_bytes_and_weekdays_follow_the_day() -> None:
    assert feeds.feeds(DAY) == feeds.feeds(DAY)
    assert b"container ships on Thursday" in feeds.feeds(DAY)["/harbour-gazette.xml"][1]
    assert b"container ships on Friday" in feeds.feeds(date(2026, 12, 1))["/harbour-gazette.xml"][1]
    assert not any(b"{" in body for kind, body in feeds.feeds(DAY).values() if "json" not in kind)


def _get(url: str, **headers: str) -> tuple[int, bytes, str]:
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    request = urllib.request.Request(url, headers={name.replace("_", "-"): value for name, value in headers.items()})
    try:
        with opener.open(request, timeout=5) as answer:
            return answer.status, answer.read(), answer.headers["ETag"]
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read(), error.headers.get("ETag", "")


def test_the_server_gives_a_feed_once_and_then_says_not_modified() -> None:
    day = [DAY]
    with DemoServer(lambda: feeds.feeds(day[0])) as server:
        url = f"{server.url}/harbour-gazette.xml"
        status, body, etag = _get(url)
        assert (status, body) == (200, feeds.feeds(DAY)["/harbour-gazette.xml"][1])
        assert _get(url, If_None_Match=etag) == (304, b"", etag)
        day[0] = date(2026, 12, 1)
        assert _get(url, If_None_Match=etag)[0] == 200
        assert _get(f"{server.url}/nothing")[0] == 404
    with pytest.raises(urllib.error.URLError):
        _get(url)


def test_the_server_takes_the_port_it_is_given_and_gives_it_back() -> None:
    with DemoServer(dict) as first:
        port = first.port
    with DemoServer(dict, port=port) as second:
        assert second.url == f"http://127.0.0.1:{port}"


def test_no_story_is_newer_than_the_evening_before_in_utc_either() -> None:
    assert datetime(2026, 11, 29, 23, 59, tzinfo=UTC) > calendar.first_instant(DAY, time(0), feeds.ZONE) - min(
        told.age for told in NEWS
    )
