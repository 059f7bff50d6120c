from __future__ import annotations

from dataclasses import replace

import pytest

from matins.rules.evidence import Cursor, Reading, ReadOutcome
from matins.sources.fetch import Fetcher
from matins.sources.reader import read
from tests.sources.server import Reply, Server

OLD = Cursor('"old"', "Sun, 29 Nov 2026 05:00:00 GMT")


def _feed(count: int) -> Reply:
    items = "".join(f"<item><title>Item {n}</title><link>/a/{n}</link></item>" for n in range(count))
    body = f"<rss version='2.0'><channel><title>Harbour News</title>{items}</channel></rss>"
    return Reply(body=body.encode(), headers=(("ETag", '"new"'), ("Content-Type", "application/rss+xml")))


def test_a_feed_with_items_is_news_and_brings_a_new_cursor(server: Server, fetcher: Fetcher) -> None:
    server.script["/feed"] = _feed(2)
    reading = read(fetcher, server.url("/feed"), cursor=OLD)
    assert (reading.reached, reading.outcome, reading.title) == (True, ReadOutcome.NEW, "Harbour News")
    assert [item.url for item in reading.items] == [server.url("/a/0"), server.url("/a/1")]
    assert (reading.cursor, reading.reason) == (Cursor('"new"'), "")


def test_not_modified_is_reached_and_keeps_the_cursor(server: Server, fetcher: Fetcher) -> None:
    server.script["/feed"] = Reply(304)
    assert read(fetcher, server.url("/feed"), cursor=OLD) == Reading(True, ReadOutcome.NONE, cursor=OLD)


def test_not_modified_that_nobody_asked_for_is_invalid(server: Server, fetcher: Fetcher) -> None:
    server.script["/feed"] = Reply(304)
    reading = read(fetcher, server.url("/feed"), cursor=Cursor())
    assert (reading.reached, reading.outcome) == (False, ReadOutcome.INVALID)


def test_reached_and_empty_differs_from_could_not_reach(server: Server, fetcher: Fetcher) -> None:
    """C53: five items, then none, then nobody there."""
    server.script["/feed"] = [_feed(5), _feed(0), Reply(reset=True)]
    readings = [read(fetcher, server.url("/feed"), cursor=OLD) for _ in range(3)]
    assert [len(reading.items) for reading in readings] == [5, 0, 0]
    assert [reading.reached for reading in readings] == [True, True, False]
    assert [reading.outcome for reading in readings] == [ReadOutcome.NEW, ReadOutcome.NONE, ReadOutcome.UNREACHABLE]
    assert [reading.cursor for reading in readings] == [Cursor('"new"'), Cursor('"new"'), OLD]
    assert [reading.reason for reading in readings] == ["", "", "connection reset"]


def test_a_page_in_place_of_a_feed_moves_no_cursor_and_loses_no_identity(server: Server, fetcher: Fetcher) -> None:
    """C44: the feed, a page that says "slow down", the feed again."""
    page = Reply(body=b"<!doctype html><html><body>Slow down</body></html>", headers=(("ETag", '"page"'),))
    server.script["/feed"] = [_feed(25), page, _feed(25)]
    first, second, third = (read(fetcher, server.url("/feed"), cursor=OLD) for _ in range(3))
    assert (second.reached, second.outcome, second.cursor) == (False, ReadOutcome.INVALID, OLD)
    assert (second.reason, second.items) == ("not a feed: an HTML page", ())
    assert {item.identity for item in first.items} == {item.identity for item in third.items}


@pytest.mark.parametrize(
    ("reply", "outcome"),
    [
        (Reply(body=b""), ReadOutcome.INVALID),
        (Reply(body=b"<rss", headers=(("Content-Encoding", "gzip"),)), ReadOutcome.INVALID),
        (
            Reply(raw=b"HTTP/1.1 200 OK\r\nContent-Length: 900\r\n\r\n<rss version='2.0'><channel>"),
            ReadOutcome.UNREACHABLE,
        ),
        (Reply(404), ReadOutcome.INVALID),
        (Reply(500), ReadOutcome.UNREACHABLE),
        (Reply(302, headers=(("Location", "file:///etc/passwd"),)), ReadOutcome.INVALID),
    ],
)
def test_a_failed_read_is_never_a_zero(server: Server, fetcher: Fetcher, reply: Reply, outcome: ReadOutcome) -> None:
    server.script["/feed"] = reply
    reading = read(fetcher, server.url("/feed"), cursor=OLD)
    assert (reading.reached, reading.outcome, reading.cursor, reading.items) == (False, outcome, OLD, ())
    assert 0 < len(reading.reason) < 100


def test_a_bad_address_is_a_reading_and_not_an_accident(fetcher: Fetcher) -> None:
    reading = read(fetcher, "http://reader:secret@news.example/", cursor=Cursor())
    assert (reading.outcome, reading.reason) == (ReadOutcome.INVALID, "bad URL: it has credentials in it")


def test_the_wait_that_a_server_asks_for_is_handed_on(server: Server, fetcher: Fetcher) -> None:
    server.script["/feed"] = Reply(429, headers=(("Retry-After", "60"),))
    reading = read(fetcher, server.url("/feed"), cursor=OLD)
    assert (reading.outcome, reading.reason, reading.retry_after) == (ReadOutcome.UNREACHABLE, "429", 60.0)


def test_no_word_of_a_feed_is_in_a_reason(server: Server, fetcher: Fetcher) -> None:
    for body in (
        b"<html>canary</html>",
        b'{"canary": 1}',
        b"canary",
        b"<canary/>",
        b"<rss version='2.0'><canary></rss>",
    ):
        server.script["/feed"] = Reply(
            body=body, headers=(("Content-Encoding", "canary"),) if body == b"canary" else ()
        )
        assert "canary" not in read(fetcher, server.url("/feed"), cursor=OLD).reason


def test_a_silent_source_ends_in_time_and_the_next_one_is_read(server: Server, fetcher: Fetcher) -> None:
    server.script.update({"/silent": Reply(raw=b"", hold=True), "/feed": _feed(1)})
    quick = replace(fetcher, total_seconds=0.5)
    assert read(quick, server.url("/silent"), cursor=OLD).outcome is ReadOutcome.UNREACHABLE
    assert read(fetcher, server.url("/feed"), cursor=OLD).outcome is ReadOutcome.NEW
