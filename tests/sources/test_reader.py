from __future__ import annotations

import gzip
import json
from dataclasses import replace
from html import unescape

import pytest

from matins.rules.canonical import sha256
from matins.rules.evidence import Cursor, Reading, ReadOutcome, SourceKind
from matins.sources.fetch import Fetcher
from matins.sources.reader import read
from tests.sources.server import Reply, Server
from tests.sources.writing import JSON, atom, rss

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
    assert (reading.cursor, reading.reason) == (Cursor('"new"', body_hash=sha256(_feed(2).body)), "")


def test_not_modified_is_reached_and_keeps_the_cursor(server: Server, fetcher: Fetcher) -> None:
    server.script["/feed"] = Reply(304)
    assert read(fetcher, server.url("/feed"), cursor=OLD) == Reading(
        True, ReadOutcome.NONE, cursor=OLD, unmodified=True
    )


def test_not_modified_that_nobody_asked_for_is_invalid(server: Server, fetcher: Fetcher) -> None:
    server.script["/feed"] = Reply(304)
    reading = read(fetcher, server.url("/feed"), cursor=Cursor())
    assert (reading.reached, reading.outcome) == (False, ReadOutcome.INVALID)


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
        (Reply(302, headers=(("Location", "http://feeds.invalid/"),)), ReadOutcome.UNREACHABLE),
        (Reply(reset=True), ReadOutcome.UNREACHABLE),
        (Reply(body=b"<html><body><form>Log in</form></body></html>"), ReadOutcome.INVALID),
        (Reply(body=gzip.compress(b"<rss>")[:-9], headers=(("Content-Encoding", "gzip"),)), ReadOutcome.UNREACHABLE),
    ],
)
def test_f53_a_failed_read_is_never_a_zero(
    server: Server, fetcher: Fetcher, reply: Reply, outcome: ReadOutcome
) -> None:
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


# The same document again


def test_the_same_bytes_again_are_not_modified_whatever_the_server_says(server: Server, fetcher: Fetcher) -> None:
    first, second = _feed(3), _feed(3)
    server.script["/feed"] = [first, replace(second, headers=(("ETag", '"newer"'),))]
    before = read(fetcher, server.url("/feed"), cursor=OLD)
    after = read(fetcher, server.url("/feed"), cursor=before.cursor)
    assert (before.unmodified, len(before.items)) == (False, 3)
    assert (after.reached, after.outcome, after.unmodified, after.items) == (True, ReadOutcome.NONE, True, ())
    assert after.cursor == Cursor('"newer"', body_hash=before.cursor.body_hash)


def test_the_same_bytes_are_not_even_parsed(server: Server, fetcher: Fetcher) -> None:
    page = b"<html>Slow down</html>"
    server.script["/feed"] = Reply(body=page)
    assert read(fetcher, server.url("/feed"), cursor=Cursor(body_hash=sha256(page))).unmodified


def test_a_gzipped_and_a_plain_answer_are_the_same_document(server: Server, fetcher: Fetcher) -> None:
    body = _feed(2).body
    zipped = Reply(body=gzip.compress(body), headers=(("Content-Encoding", "gzip"),))
    server.script["/feed"] = [zipped, Reply(body=body)]
    first = read(fetcher, server.url("/feed"), cursor=Cursor())
    assert read(fetcher, server.url("/feed"), cursor=first.cursor).unmodified


def test_a_hash_alone_asks_for_no_comparison(server: Server, fetcher: Fetcher) -> None:
    cursor = Cursor(body_hash="0" * 64)
    server.script["/feed"] = [_feed(1), Reply(304)]
    assert read(fetcher, server.url("/feed"), cursor=cursor).outcome is ReadOutcome.NEW
    assert not {"if-none-match", "if-modified-since"} & server.requests[0].headers.keys()
    refused = read(fetcher, server.url("/feed"), cursor=cursor)
    assert (refused.outcome, refused.cursor) == (ReadOutcome.INVALID, cursor)


# Where it is


@pytest.mark.parametrize(
    ("hops", "moved"), [((301,), True), ((308, 301), True), ((302,), False), ((301, 307), False), ((302, 301), False)]
)
def test_a_feed_has_moved_if_every_redirect_on_the_way_is_for_good(
    server: Server, fetcher: Fetcher, hops: tuple[int, ...], moved: bool
) -> None:
    for number, status in enumerate(hops):
        server.script[f"/{number}"] = Reply(status, headers=(("Location", f"/{number + 1}"),))
    server.script[f"/{len(hops)}"] = _feed(1)
    reading = read(fetcher, server.url("/0"), cursor=OLD)
    assert reading.outcome is ReadOutcome.NEW
    assert reading.moved_to == (server.url(f"/{len(hops)}") if moved else "")
    assert (reading.cursor.etag, len(reading.cursor.body_hash)) == ("", 64)
    assert read(fetcher, server.url("/0"), cursor=reading.cursor).unmodified


def test_the_new_address_is_canonical(server: Server, fetcher: Fetcher) -> None:
    server.script["/old"] = Reply(301, headers=(("Location", "/new?utm_source=x&b=1&a=2"),))
    server.script["/new?utm_source=x&b=1&a=2"] = _feed(1)
    assert read(fetcher, server.url("/old"), cursor=OLD).moved_to == server.url("/new?a=2&b=1")


def test_a_feed_that_says_it_is_gone_is_gone_and_a_missing_one_is_not(server: Server, fetcher: Fetcher) -> None:
    gone, moved = Reply(410), Reply(301, headers=(("Location", "/gone"),))
    server.script |= {"/gone": gone, "/moved": moved, "/away": replace(moved, status=302), "/lost": Reply(404)}
    found = {path: read(fetcher, server.url(path), cursor=OLD) for path in server.script}
    assert {path: (reading.outcome, reading.reason) for path, reading in found.items()} == {
        "/gone": (ReadOutcome.GONE, "gone (410)"),
        "/moved": (ReadOutcome.GONE, "gone (410)"),
        "/away": (ReadOutcome.INVALID, "redirected to 127.0.0.1: 410"),
        "/lost": (ReadOutcome.INVALID, "404"),
    }
    assert all((reading.reached, reading.cursor, reading.items) == (False, OLD, ()) for reading in found.values())


# Older pages


@pytest.mark.parametrize(
    ("href", "path"),
    [
        ("?page=2", "/feed?page=2"),
        ("/older?b=1&amp;a=2&amp;utm_source=x", "/older?a=2&b=1"),
        ("/feed", ""),
        ("/feed#top", ""),
        ("https://other.example/feed?page=2", ""),
        ("http://127.0.0.1:9/feed?page=2", ""),
        ("file:///etc/passwd", ""),
        ("javascript:alert(1)", ""),
        ("", ""),
    ],
)
def test_a_feed_says_where_its_older_page_is(server: Server, fetcher: Fetcher, href: str, path: str) -> None:
    link = f"<link rel='next' href='{href}'/>"
    entry = "<id>1</id><title>A</title><link rel='next' href='/not-this'/>"
    server.script["/feed"] = [
        Reply(body=atom(entry, head=link)),
        Reply(
            body=rss(
                "<title>A</title>",
                head=f"<x:link xmlns:x='http://www.w3.org/2005/Atom' {link.removeprefix('<link ')}<title>H</title>",
            )
        ),
        Reply(body=JSON + f'"next_url":"{unescape(href)}","items":[{{"id":"1","title":"A"}}]}}'.encode()),
    ]
    for _ in range(3):
        reading = read(fetcher, server.url("/feed"), cursor=OLD)
        assert (reading.outcome, reading.next_url) == (ReadOutcome.NEW, server.url(path) if path else "")


def test_f57_a_page_that_fails_takes_nothing_from_the_others(server: Server, fetcher: Fetcher) -> None:
    """Page 2 of 3 fails once: what was read of page 1 is the same next time, and no cursor has moved for page 2."""
    for number in (1, 2, 3):
        older = f"<link rel='next' href='/{number + 1}'/>" if number < 3 else ""
        server.script[f"/{number}"] = Reply(body=atom(f"<id>{number}</id><title>Item {number}</title>", head=older))
    second = server.script["/2"]
    server.script["/2"] = [Reply(503), second]  # type: ignore[list-item]
    first = read(fetcher, server.url("/1"), cursor=OLD)
    failed = read(fetcher, first.next_url, cursor=OLD)
    assert (failed.outcome, failed.cursor, failed.items, failed.next_url) == (ReadOutcome.UNREACHABLE, OLD, (), "")
    pages = [read(fetcher, server.url("/1"), cursor=OLD)]
    while pages[-1].next_url:
        pages.append(read(fetcher, pages[-1].next_url, cursor=Cursor()))
    assert pages[0] == first
    assert [item.identity for page in pages for item in page.items] == ["1", "2", "3"]


# Boards


def test_a_board_is_read_with_its_next_page(server: Server, fetcher: Fetcher) -> None:
    roles = [{"id": f"r{n}", "text": f"Role {n}", "hostedUrl": f"https://jobs.example/{n}"} for n in range(100)]
    server.script["/v0/postings/acme?mode=json"] = Reply(body=json.dumps(roles).encode())
    reading = read(fetcher, server.url("/v0/postings/acme?mode=json"), cursor=OLD, kind=SourceKind.LEVER)
    assert (reading.outcome, len(reading.items), reading.reason) == (ReadOutcome.NEW, 100, "")
    assert reading.next_url.startswith(server.url("/v0/postings/acme?"))
    assert "skip=100" in reading.next_url


def test_a_login_page_is_no_empty_board(server: Server, fetcher: Fetcher) -> None:
    server.script["/board"] = Reply(body=b"<html>Log in</html>")
    for kind in (SourceKind.GREENHOUSE, SourceKind.LEVER, SourceKind.ASHBY):
        reading = read(fetcher, server.url("/board"), cursor=OLD, kind=kind)
        assert (reading.outcome, reading.cursor) == (ReadOutcome.INVALID, OLD)
