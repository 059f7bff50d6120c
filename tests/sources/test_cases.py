"""The cases of feeds that other projects were bitten by, by their numbers."""

from __future__ import annotations

import gzip
import random
import resource
import zlib
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from matins.rules.errors import ProviderRefused
from matins.rules.evidence import Cursor, ReadOutcome
from matins.sources.fetch import Fetcher
from matins.sources.reader import read
from tests.sources.server import Reply, Server
from tests.sources.writing import answers, atom, gate, only, rss
from tests.sources.writing import items as read_items

OLD = Cursor('"old"', "Sun, 29 Nov 2026 05:00:00 GMT")
PUBLIC = "1.2.3.4"
"""Only ever judged in these tests, never connected to."""
PAGE = b"<!doctype html><html><body>Slow down</body></html>"
CYRILLIC = "<title>Порт открыт</title><link>/1</link>"


def _feed(count: int) -> Reply:
    body = rss(*(f"<title>Item {n}</title><link>/a/{n}</link>" for n in range(count)))
    return Reply(body=body, headers=(("ETag", '"new"'),))


def test_c38_items_without_a_guid_keep_their_identity_in_any_order() -> None:
    entries = [f"<title>Item {n}</title><link>https://harbour.example/{n}?utm_campaign={{}}</link>" for n in range(10)]
    shuffled = random.Random(38)
    seen: set[str] = set()
    for poll in range(20):
        shuffled.shuffle(entries)
        seen |= {item.identity for item in read_items(rss(*(entry.format(poll) for entry in entries)))}
    assert len(seen) == 10


def test_c43_a_date_in_the_future_is_read_as_written_and_moves_neither_item_nor_cursor(
    server: Server, fetcher: Fetcher
) -> None:
    dates = ("Sun, 29 Nov 2026 06:00:00 GMT", "Sun, 13 Dec 2026 06:00:00 GMT", "Mon, 30 Nov 2026 06:00:00 GMT")
    bodies = (f"<title>{n}</title><link>/{n}</link><pubDate>{date}</pubDate>" for n, date in enumerate(dates))
    server.script["/feed"] = Reply(body=rss(*bodies), headers=(("Last-Modified", dates[2]),))
    reading = read(fetcher, server.url("/feed"), cursor=OLD)
    assert [item.title for item in reading.items] == ["0", "1", "2"]
    assert reading.items[1].published_at == datetime(2026, 12, 13, 6, tzinfo=UTC)
    assert reading.cursor.last_modified == dates[2]


def test_c44_a_page_in_place_of_a_feed_moves_no_cursor_and_loses_no_identity(server: Server, fetcher: Fetcher) -> None:
    """The feed, a page that says "slow down", the feed again."""
    server.script["/feed"] = [_feed(25), Reply(body=PAGE, headers=(("ETag", '"page"'),)), _feed(25)]
    first, second, third = (read(fetcher, server.url("/feed"), cursor=OLD) for _ in range(3))
    assert (second.reached, second.outcome, second.cursor) == (False, ReadOutcome.INVALID, OLD)
    assert (second.reason, second.items) == ("not a feed: an HTML page", ())
    assert {item.identity for item in first.items} == {item.identity for item in third.items}


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (rss("<title>A</title>"), "says it is gzip, and is not"),
        (gzip.compress(gzip.compress(rss("<title>A</title>"), mtime=0), mtime=0), "the answer is compressed twice"),
    ],
)
def test_c46_a_body_that_is_not_gzipped_as_it_says_is_a_named_failure(
    server: Server, fetcher: Fetcher, body: bytes, reason: str
) -> None:
    server.script["/feed"] = Reply(body=body, headers=(("Content-Encoding", "gzip"),))
    reading = read(fetcher, server.url("/feed"), cursor=OLD)
    assert (reading.outcome, reading.reason, reading.cursor) == (ReadOutcome.INVALID, reason, OLD)


def _bomb() -> bytes:
    """100 kB that expand to 100 MB: it would go on like that without end."""
    deflate = zlib.compressobj(6, wbits=zlib.MAX_WBITS | 16)
    return b"".join(deflate.compress(bytes(1024 * 1024)) for _ in range(100)) + deflate.flush()


def test_c47_a_bomb_is_defused_at_the_cap_and_the_next_source_is_read(server: Server, fetcher: Fetcher) -> None:
    bomb = _bomb()
    server.script["/gzip"] = Reply(body=bomb, headers=(("Content-Encoding", "gzip"),))
    server.script["/nested"] = Reply(body=gzip.compress(bomb), headers=(("Content-Encoding", "gzip"),))
    server.script["/br"] = Reply(body=bomb, headers=(("Content-Encoding", "br"),))
    server.script["/feed"] = _feed(2)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    readings = [read(fetcher, server.url(path), cursor=OLD) for path in ("/gzip", "/nested", "/br", "/feed")]
    assert [reading.reason for reading in readings] == [
        "expands to more than 100 times its size", "the answer is compressed twice",
        "answered in an encoding that was not asked for", "",
    ]  # fmt: skip
    assert [len(reading.items) for reading in readings] == [0, 0, 0, 2]
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 60_000  # KiB


@pytest.mark.parametrize("content_type", ["text/xml; charset=utf-8", "text/xml", ""])
def test_c49_a_few_broken_bytes_do_not_change_the_alphabet(content_type: str) -> None:
    body = rss(CYRILLIC, "<title>B \xab</title>").replace("\xab".encode(), b"\xff")
    body = body.replace(b'"1.0"', b'"1.0" encoding="utf-8"').replace(b"<item>", b"<!-- \xff\xfe\x80 --><item>", 1)
    titles = [item.title for item in read_items(body, content_type=content_type)]
    assert titles == ["Порт открыт", "B \ufffd"]


def test_c50_an_odd_date_is_read_as_its_day_or_not_at_all() -> None:
    body = rss(
        *(f"<title>A{text}</title><pubDate>{text}</pubDate>" for text in ("2016/6/29 15:07:41", "2016/6", "29/6"))
    )
    assert [item.published_at for item in read_items(body)] == [
        datetime(2016, 6, 29, 15, 7, 41, tzinfo=UTC),
        None,
        None,
    ]


def test_c52_a_relative_link_is_resolved_by_every_base_around_it() -> None:
    body = atom("<id>1</id><title>A</title><link href='FC2'/>").replace(
        b"<entry>", b"<entry xml:base='When/2013/08/14/'>"
    )
    assert only(body, url="https://blog.example/ongoing/").url == "https://blog.example/ongoing/When/2013/08/14/FC2"
    nested = body.replace(b"<feed ", b"<feed xml:base='../blog/' ")
    assert only(nested, url="https://blog.example/ongoing/").url == "https://blog.example/blog/When/2013/08/14/FC2"
    rooted = atom("<id>1</id><title>A</title><link href='../b'/>", root="xml:base='https://cdn.example/x/y/'")
    assert only(rooted).url == "https://cdn.example/x/b"


def test_c53_reached_and_empty_differs_from_could_not_reach(server: Server, fetcher: Fetcher) -> None:
    """Five items, then none, then nobody there."""
    server.script["/feed"] = [_feed(5), _feed(0), Reply(reset=True)]
    readings = [read(fetcher, server.url("/feed"), cursor=OLD) for _ in range(3)]
    assert [len(reading.items) for reading in readings] == [5, 0, 0]
    assert [reading.reached for reading in readings] == [True, True, False]
    assert [reading.outcome for reading in readings] == [ReadOutcome.NEW, ReadOutcome.NONE, ReadOutcome.UNREACHABLE]
    assert [reading.cursor.etag for reading in readings] == ['"new"', '"new"', '"old"']
    assert [reading.unmodified for reading in readings] == [False, False, False]
    assert [reading.reason for reading in readings] == ["", "", "connection reset"]


@pytest.mark.parametrize(
    ("location", "cause"),
    [
        ("http://127.0.0.1:{port}/", "redirected to 127.0.0.1: resolves to a private address"),
        ("http://[::ffff:7f00:1]:{port}/", "redirected to ::ffff:7f00:1: resolves to a private address"),
        ("http://2130706433:{port}/", "redirected to 2130706433: resolves to a private address"),
        ("http://169.254.169.254/latest", "redirected to 169.254.169.254: resolves to a private address"),
        ("//localhost:{port}/", "redirected to localhost: resolves to a private address"),
        ("file:///etc/passwd", "redirects to a bad URL: it is not http or https"),
        ("gopher://127.0.0.1:{port}/", "redirects to a bad URL: it is not http or https"),
        ("http://a:b@127.0.0.1:{port}/", "redirects to a bad URL: it has credentials in it"),
        ("https:///a", "redirects to a bad URL: it has no host"),
        ("", "redirects without saying where"),
    ],
)
def test_c55_a_redirect_into_the_private_network_is_refused_at_its_hop(
    server: Server, internal: Server, fetcher: Fetcher, location: str, cause: str
) -> None:
    server.script["/feed"] = Reply(302, headers=(("Location", location.format(port=internal.port)),))
    with pytest.raises(ProviderRefused) as refusal:
        fetcher.get(server.url("/feed"), cursor=Cursor())
    assert refusal.value.message == cause
    assert internal.first_bytes == []


def test_c56_a_name_is_resolved_once_and_the_judged_address_is_the_one_used(server: Server, fetcher: Fetcher) -> None:
    """The first answer is the server, every later one is an address where nothing listens."""
    server.script["/feed"] = _feed(1)
    asked: list[str] = []

    def rebinding(host: str, port: int, **_: object) -> list[Any]:
        asked.append(host)
        return answers("127.0.0.1" if len(asked) == 1 else "127.0.0.9")(host, port)

    authority = f"feeds.example:{server.port}"
    named = replace(fetcher, resolver=rebinding, allow_hosts=frozenset({authority}))
    assert len(read(named, f"http://{authority}/feed", cursor=OLD).items) == 1
    assert (asked, len(server.first_bytes)) == (["feeds.example"], 1)


@pytest.mark.parametrize("found", [("127.0.0.1",), (PUBLIC, "127.0.0.1"), ("127.0.0.1", PUBLIC)])
def test_c56_a_name_with_one_private_answer_is_refused(found: tuple[str, ...]) -> None:
    with pytest.raises(ProviderRefused, match=r"feeds\.example: resolves to a private address"):
        gate(*found).judged("feeds.example", 80)
