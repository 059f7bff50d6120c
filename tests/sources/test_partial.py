"""Feeds that broke off: what came whole is kept, and the cursor stays."""

from __future__ import annotations

import gzip

import pytest

from matins.rules.errors import ProviderRefused
from matins.rules.evidence import Cursor, Reading, ReadOutcome, SourceKind
from matins.sources.feed import read_feed
from matins.sources.fetch import Fetcher
from matins.sources.reader import read
from tests.sources.server import Reply, Server
from tests.sources.writing import JSON, URL, atom, rss

OLD = Cursor('"old"', body_hash="0" * 64)
ENTRIES = [f"<title>Item {n}</title><link>/a/{n}</link>" for n in range(3)]
RSS = rss(*(f"{entry}<guid>g-{n}</guid>" for n, entry in enumerate(ENTRIES)))
ATOM = atom(*(f"<id>g-{n}</id><title>Item {n}</title>" for n in range(3)))
ITEMS = ",".join(f'{{"id":"g-{n}","title":"Item [{n}]"}}' for n in range(3)).encode()
FEED = JSON + b'"title":"Harbour",  "items" : [' + ITEMS + b'],"authors":[]}'
RDF = (
    b'<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/"><channel/>'
    + b"".join(b'<item rdf:about="g-%d"><title>Item %d</title></item>' % (n, n) for n in range(3))
    + b"</rdf:RDF>"
)


@pytest.mark.parametrize("body", [RSS, ATOM, FEED, RDF], ids=["rss", "atom", "json", "rdf"])
def test_wherever_a_feed_breaks_off_it_gives_a_beginning_of_its_items_or_is_refused(body: bytes) -> None:
    whole = read_feed(body, content_type="", url=URL)
    assert ([item.identity for item in whole.items], whole.broken) == (["g-0", "g-1", "g-2"], False)
    counts = []
    for end in range(1, len(body)):
        try:
            feed = read_feed(body[:end], content_type="", url=URL)
        except ProviderRefused:
            counts.append(0)
            continue
        assert feed.broken
        assert feed.items == whole.items[: len(feed.items)]
        counts.append(len(feed.items))
    assert counts == sorted(counts)
    assert set(counts) == {0, 1, 2, 3}


@pytest.mark.parametrize(
    ("after", "count"),
    [
        (b"<item><title>B</title><a", 1),
        (b"<item><title>B</title><![CDATA[", 1),
        (b"<item><title>B</title><!-- ", 1),
        (b"<item><description>&lt;p", 1),
        (b"<item><title>B</title></item", 1),
        (b"<item><title>B</title></item>", 2),
        (b"<item><title>B</title></item></channel>", 2),
        (b"\x00\xff\xfe<\x01junk <item", 1),
    ],
)
def test_a_feed_that_breaks_off_after_an_entry_keeps_it(after: bytes, count: int) -> None:
    older = "<atom:link xmlns:atom='http://www.w3.org/2005/Atom' rel='next' href='?page=2'/>"
    body = rss("<title>A</title>", head=older).partition(b"</channel>")[0] + after
    feed = read_feed(body, content_type="", url=URL)
    assert (len(feed.items), feed.broken, feed.next_url) == (count, True, "")


def _whole(server: Server, fetcher: Fetcher) -> Reading:
    server.script["/whole"] = Reply(body=RSS)
    return read(fetcher, server.url("/whole"), cursor=OLD)


HALF = RSS[: RSS.index(b"Item 2")]


@pytest.mark.parametrize(
    "reply",
    [
        Reply(body=HALF, headers=(("ETag", '"half"'),)),
        Reply(raw=b"HTTP/1.1 200 OK\r\nContent-Length: 9000\r\n\r\n" + HALF),
        Reply(raw=b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%b\r\n" % (len(HALF), HALF)),
        Reply(body=gzip.compress(HALF, mtime=0)[:-5], headers=(("Content-Encoding", "gzip"),)),
        Reply(
            raw=b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 9000\r\n\r\n"
            + gzip.compress(HALF, mtime=0)
        ),
    ],
    ids=["its own end", "the connection", "its chunks", "gzip", "gzip and the connection"],
)
def test_the_whole_entries_of_a_body_that_broke_off_are_kept_and_the_cursor_stays(
    server: Server, fetcher: Fetcher, reply: Reply
) -> None:
    server.script["/feed"] = reply
    reading = read(fetcher, server.url("/feed"), cursor=OLD)
    assert (reading.reached, reading.outcome, reading.cursor) == (True, ReadOutcome.PARTIAL, OLD)
    assert (reading.reason, reading.title) == ("broke off after 2 entries", "Harbour News")
    assert reading.items == _whole(server, fetcher).items[:2]


@pytest.mark.parametrize(
    ("reply", "outcome"),
    [
        (Reply(body=RSS[: RSS.index(b"Item 0")]), ReadOutcome.INVALID),
        (Reply(raw=b"HTTP/1.1 200 OK\r\nContent-Length: 900\r\n\r\n" + RSS[:80]), ReadOutcome.UNREACHABLE),
        (Reply(body=gzip.compress(RSS)[:30], headers=(("Content-Encoding", "gzip"),)), ReadOutcome.UNREACHABLE),
        (Reply(raw=b"HTTP/1.1 200 OK\r\nContent-Length: 900\r\n\r\n<html>"), ReadOutcome.UNREACHABLE),
    ],
)
def test_a_body_that_broke_off_before_its_first_entry_is_a_failure(
    server: Server, fetcher: Fetcher, reply: Reply, outcome: ReadOutcome
) -> None:
    server.script["/feed"] = reply
    reading = read(fetcher, server.url("/feed"), cursor=OLD)
    assert (reading.reached, reading.outcome, reading.cursor, reading.items) == (False, outcome, OLD, ())


def test_what_is_cut_by_a_cap_or_by_the_time_is_no_beginning(server: Server, fetcher: Fetcher) -> None:
    from dataclasses import replace

    server.script["/slow"] = Reply(raw=b"HTTP/1.1 200 OK\r\nContent-Length: 9000\r\n\r\n" + HALF, hold=True)
    slow = read(replace(fetcher, total_seconds=0.3), server.url("/slow"), cursor=OLD)
    assert (slow.outcome, slow.items) == (ReadOutcome.UNREACHABLE, ())
    server.script["/big"] = Reply(body=HALF + b" " * 9_000)
    capped = replace(fetcher, caps=replace(fetcher.caps, max_bytes=5_000))
    big = read(capped, server.url("/big"), cursor=OLD)
    assert (big.outcome, big.items) == (ReadOutcome.INVALID, ())


def test_a_part_of_a_board_says_nothing(server: Server, fetcher: Fetcher) -> None:
    body = b'{"jobs":[{"id":1,"title":"Engineer","absolute_url":"https://h.example/1"}],"meta":{"total":1}}'
    server.script["/board"] = Reply(raw=b"HTTP/1.1 200 OK\r\nContent-Length: 9000\r\n\r\n" + body)
    reading = read(fetcher, server.url("/board"), cursor=OLD, kind=SourceKind.GREENHOUSE)
    assert (reading.reached, reading.outcome) == (False, ReadOutcome.UNREACHABLE)
