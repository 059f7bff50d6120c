from __future__ import annotations

import gzip
import socket
import time
import zlib
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from matins.rules.errors import ProviderRefused, ProviderUnavailable
from matins.rules.evidence import Cursor
from matins.sources.fetch import Fetcher, retry_after
from tests.sources.server import Reply, Request, Server
from tests.sources.writing import answers

FEED = b"<rss version='2.0'><channel><title>Harbour</title></channel></rss>"
NOTHING = Cursor()


def _zipped(body: bytes) -> Reply:
    return Reply(body=body, headers=(("Content-Encoding", "gzip"),))


def test_a_document_comes_with_its_validators_and_its_address(server: Server, fetcher: Fetcher) -> None:
    headers = (
        ("ETag", 'W/"7"'),
        ("Last-Modified", "Mon, 30 Nov 2026 05:00:00 GMT"),
        ("Content-Type", "text/xml; charset=UTF-8"),
    )
    server.script["/feed"] = Reply(body=FEED, headers=headers)
    fetched = fetcher.get(server.url("/feed"), cursor=NOTHING)
    assert (fetched.status, fetched.body, fetched.final_url) == (200, FEED, server.url("/feed"))
    assert fetched.cursor == Cursor('W/"7"', "Mon, 30 Nov 2026 05:00:00 GMT")
    assert (fetched.content_type, fetched.charset_hint) == ("text/xml; charset=UTF-8", "utf-8")
    asked = server.requests[0].headers
    assert (asked["user-agent"], asked["accept-encoding"], asked["host"]) == ("Matins/0.1", "gzip", server.authority)
    assert "if-none-match" not in asked


def test_what_was_read_before_is_asked_for_only_if_it_changed(server: Server, fetcher: Fetcher) -> None:
    server.script["/feed"] = Reply(304)
    cursor = Cursor('"7"', "Mon, 30 Nov 2026 05:00:00 GMT")
    fetched = fetcher.get(server.url("/feed"), cursor=cursor)
    assert (fetched.status, fetched.cursor) == (304, cursor)
    asked = server.requests[0].headers
    assert (asked["if-none-match"], asked["if-modified-since"]) == ('"7"', "Mon, 30 Nov 2026 05:00:00 GMT")


def test_a_validator_is_sent_to_its_own_address_only(server: Server, fetcher: Fetcher) -> None:
    server.script["/old"] = Reply(301, headers=(("Location", "/new?ref=b&a=1"),))
    server.script["/new?ref=b&a=1"] = Reply(body=FEED, headers=(("ETag", '"8"'),))
    fetched = fetcher.get(server.url("/old"), cursor=Cursor('"7"'))
    assert ["if-none-match" in request.headers for request in server.requests] == [True, False]
    assert (fetched.final_url, fetched.cursor) == (server.url("/new?ref=b&a=1"), NOTHING)


def test_a_304_that_nobody_asked_for_is_refused(server: Server, fetcher: Fetcher) -> None:
    server.script["/feed"] = Reply(304)
    with pytest.raises(ProviderRefused, match="answered 304"):
        fetcher.get(server.url("/feed"), cursor=NOTHING)


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (403, ProviderRefused), (404, ProviderRefused), (410, ProviderRefused), (206, ProviderRefused),
        (204, ProviderRefused), (300, ProviderRefused), (408, ProviderUnavailable), (500, ProviderUnavailable),
        (503, ProviderUnavailable),
    ],
)  # fmt: skip
def test_a_status_that_is_not_ok_is_a_failure_named_by_its_number(
    server: Server, fetcher: Fetcher, status: int, kind: type[Exception]
) -> None:
    server.script["/feed?key=secret"] = Reply(status, body=FEED)
    with pytest.raises(kind) as failure:
        fetcher.get(server.url("/feed?key=secret"), cursor=NOTHING)
    assert str(failure.value) == f"127.0.0.1: {status}"


def test_a_server_that_asks_us_to_wait_is_heard(server: Server, fetcher: Fetcher) -> None:
    server.script["/feed"] = Reply(429, headers=(("Retry-After", "120"),))
    with pytest.raises(ProviderUnavailable) as failure:
        fetcher.get(server.url("/feed"), cursor=NOTHING)
    assert failure.value.retry_after == 120.0


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("0", 0.0), ("90", 90.0), ("Mon, 30 Nov 2026 05:02:00 GMT", 120.0), ("Mon, 30 Nov 2026 04:00:00 GMT", 0.0),
        ("99999999999999999999999", 86_400.0), ("soon", None), ("", None), ("-5", None), ("²", None),
    ],
)  # fmt: skip
def test_retry_after_is_seconds_or_a_date_and_never_more_than_a_day(value: str, seconds: float | None) -> None:
    assert retry_after(value, date="Mon, 30 Nov 2026 05:00:00 GMT") == seconds


# Compressed answers: F-55, C46, C47


def _in_two_members(body: bytes) -> bytes:
    return gzip.compress(body[:9], mtime=0) + gzip.compress(body[9:], mtime=0)


def _padded(body: bytes) -> bytes:
    return gzip.compress(body, mtime=0) + b"\0\0"


@pytest.mark.parametrize("squeeze", [gzip.compress, _in_two_members, _padded])
def test_a_gzipped_answer_is_read(server: Server, fetcher: Fetcher, squeeze: Callable[[bytes], bytes]) -> None:
    server.script["/feed"] = _zipped(squeeze(FEED))
    assert fetcher.get(server.url("/feed"), cursor=NOTHING).body == FEED


@pytest.mark.parametrize("wbits", [zlib.MAX_WBITS, -zlib.MAX_WBITS])
def test_a_deflated_answer_is_read_with_and_without_its_wrapping(server: Server, fetcher: Fetcher, wbits: int) -> None:
    deflate = zlib.compressobj(wbits=wbits)
    body = deflate.compress(FEED) + deflate.flush()
    server.script["/feed"] = Reply(body=body, headers=(("Content-Encoding", "deflate"),))
    assert fetcher.get(server.url("/feed"), cursor=NOTHING).body == FEED


@pytest.mark.parametrize(
    ("body", "encoding", "kind", "cause"),
    [
        (FEED, "gzip", ProviderRefused, "says it is gzip, and is not"),
        (gzip.compress(gzip.compress(FEED, mtime=0), mtime=0), "gzip", ProviderRefused, "compressed twice"),
        (gzip.compress(gzip.compress(FEED, mtime=0), mtime=0), "gzip, gzip", ProviderRefused, "not asked for"),
        (b"x", "br", ProviderRefused, "not asked for"),
        (gzip.compress(FEED, mtime=0)[:-9], "gzip", ProviderUnavailable, "cut off"),
        (gzip.compress(FEED, mtime=0)[:-1], "gzip", ProviderUnavailable, "cut off"),
        (gzip.compress(FEED, mtime=0) + b"junk", "gzip", ProviderRefused, "says it is gzip, and is not"),
    ],
    ids=["plain", "twice", "twice and said", "brotli", "half", "without its end", "with more behind it"],
)
def test_f55_an_answer_that_is_not_compressed_as_it_says_is_a_named_failure(
    server: Server, fetcher: Fetcher, body: bytes, encoding: str, kind: type[Exception], cause: str
) -> None:
    server.script["/feed"] = Reply(body=body, headers=(("Content-Encoding", encoding),))
    with pytest.raises(kind, match=cause):
        fetcher.get(server.url("/feed"), cursor=NOTHING)


@pytest.mark.parametrize("squeeze", [gzip.compress, None])
def test_no_answer_may_be_larger_than_eight_megabytes(
    server: Server, fetcher: Fetcher, squeeze: Callable[[bytes], bytes] | None
) -> None:
    big = bytes(range(256)) * (33 * 1024)  # 8.25 MB
    loose = replace(fetcher, caps=replace(fetcher.caps, ratio=100_000))
    server.script["/feed"] = _zipped(squeeze(big)) if squeeze else Reply(body=big)
    with pytest.raises(ProviderRefused, match="too large: more than 8 MB"):
        loose.get(server.url("/feed"), cursor=NOTHING)


# The network: F-53, F-55


def test_f55_a_slow_drip_ends_with_the_time_of_the_whole_fetch(server: Server, fetcher: Fetcher) -> None:
    server.script["/feed"] = Reply(body=FEED * 9, drip=0.05)
    began = time.monotonic()
    with pytest.raises(ProviderUnavailable, match=r"no whole answer in 0\.6 s"):
        replace(fetcher, total_seconds=0.6).get(server.url("/feed"), cursor=NOTHING)
    assert time.monotonic() - began < 3


@pytest.mark.parametrize("raw", [b"", b"HTTP/1.1 200 OK\r\nX-Slow: "])
def test_a_server_that_says_nothing_more_ends_with_the_time_of_the_whole_fetch(
    server: Server, fetcher: Fetcher, raw: bytes
) -> None:
    server.script["/feed"] = Reply(raw=raw, hold=True)
    with pytest.raises(ProviderUnavailable, match="no whole answer"):
        replace(fetcher, total_seconds=0.4).get(server.url("/feed"), cursor=NOTHING)


@pytest.mark.parametrize(
    ("reply", "cause"),
    [
        (Reply(reset=True), "connection reset"),
        (Reply(raw=b""), "its answer broke off or is no HTTP"),
        (Reply(raw=b"SSH-2.0-OpenSSH_9\r\n\r\n"), "its answer broke off or is no HTTP"),
        (Reply(raw=b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n<rss>"), "its answer broke off or is no HTTP"),
        (Reply(raw=b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n<rss>\r\n"), "its answer broke off"),
        (Reply(raw=b"HTTP/1.1 200 OK\r\nX: " + b"a" * 200_000), "its answer broke off or is no HTTP"),
    ],
)
def test_a_broken_connection_is_unavailable_by_name(server: Server, fetcher: Fetcher, reply: Reply, cause: str) -> None:
    server.script["/feed"] = reply
    with pytest.raises(ProviderUnavailable, match=cause):
        fetcher.get(server.url("/feed"), cursor=NOTHING)


def test_a_port_where_nobody_listens_refuses_the_connection(fetcher: Fetcher) -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        authority = f"127.0.0.1:{closed.getsockname()[1]}"
    with pytest.raises(ProviderUnavailable) as failure:
        replace(fetcher, allow_hosts=frozenset({authority})).get(f"http://{authority}/", cursor=NOTHING)
    assert (failure.value.message, failure.value.key) == ("connection refused", "127.0.0.1")


def test_a_name_that_nobody_knows_cannot_be_resolved(fetcher: Fetcher) -> None:
    def unknown(*_: object, **__: object) -> list[Any]:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    with pytest.raises(ProviderUnavailable, match=r"news\.example: its name cannot be resolved"):
        replace(fetcher, resolver=unknown).get("http://news.example/", cursor=NOTHING)


def test_tls_is_spoken_to_the_name_and_its_failure_is_named(server: Server, fetcher: Fetcher) -> None:
    named = replace(fetcher, allow_hosts=frozenset({"feeds.example"}), resolver=answers("127.0.0.1"), total_seconds=2.0)
    with pytest.raises(ProviderUnavailable, match=r"feeds\.example: "):
        named.get(server.url("/", host="feeds.example", scheme="https"), cursor=NOTHING)
    assert b"feeds.example" in server.first_bytes[0]  # the server name in the hello
    assert server.requests == []


# Redirects


def test_five_redirects_are_followed_and_six_are_not(server: Server, fetcher: Fetcher) -> None:
    def down(request: Request) -> Reply:
        left = int(request.path.removeprefix("/"))
        return Reply(307, headers=(("Location", f"/{left - 1}"),)) if left else Reply(body=FEED)

    server.script.update({f"/{left}": down for left in range(7)})
    assert fetcher.get(server.url("/5"), cursor=NOTHING).final_url == server.url("/0")
    with pytest.raises(ProviderRefused, match="redirects more than 5 times"):
        fetcher.get(server.url("/6"), cursor=NOTHING)
    assert len(server.requests) == 6 + 6


def test_a_failure_behind_a_redirect_names_the_hop(server: Server, fetcher: Fetcher) -> None:
    server.script["/feed"] = Reply(302, headers=(("Location", "/gone?token=secret"),))
    with pytest.raises(ProviderRefused) as refusal:
        fetcher.get(server.url("/feed"), cursor=NOTHING)
    assert refusal.value.message == "redirected to 127.0.0.1: 404"
