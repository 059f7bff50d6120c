from __future__ import annotations

import pytest

from matins.rules.errors import Refused
from matins.rules.evidence import ReadOutcome
from matins.sources.discovery import MAX_REQUESTS, discover, linked
from matins.sources.fetch import Fetcher
from tests.sources.server import Reply, Server
from tests.sources.writing import atom, rss

FEED = Reply(body=rss("<title>A</title><link>/a</link>"))
COMMENTS = Reply(body=rss("<title>Re: A</title>", head="<title>Comments</title>"))


def _page(*links: str, head: str = "") -> Reply:
    body = f"<!doctype html><html><head>{head}{''.join(links)}</head><body><p>Hello</p></body></html>"
    return Reply(body=body.encode(), headers=(("Content-Type", "text/html"),))


def _link(href: str, *, kind: str = "application/rss+xml", title: str = "News") -> str:
    return f'<link rel="alternate" type="{kind}" title="{title}" href="{href}">'


def _paths(server: Server) -> list[str]:
    return [request.path for request in server.requests]


def test_the_address_of_a_feed_is_that_feed(server: Server, fetcher: Fetcher) -> None:
    server.script["/feed"] = FEED
    found = discover(fetcher, f" {server.url('/feed')}?utm_source=x#top ")
    assert (found.url, found.reading.outcome) == (server.url("/feed"), ReadOutcome.NEW)
    assert _paths(server) == ["/feed"]


def test_a_feed_that_moved_is_found_at_its_new_address(server: Server, fetcher: Fetcher) -> None:
    server.script |= {"/old": Reply(301, headers=(("Location", "/new"),)), "/new": FEED}
    assert discover(fetcher, server.url("/old")).url == server.url("/new")


@pytest.mark.parametrize(
    "kind", ["application/rss+xml", "application/atom+xml; charset=utf-8", "application/feed+json"]
)
def test_a_page_leads_to_the_feed_that_it_links_to(server: Server, fetcher: Fetcher, kind: str) -> None:
    server.script |= {"/blog/": _page(_link("feed.xml", kind=kind)), "/blog/feed.xml": FEED}
    found = discover(fetcher, server.url("/blog/"))
    assert (found.url, found.reading.items[0].url) == (server.url("/blog/feed.xml"), server.url("/a"))
    assert _paths(server) == ["/blog/", "/blog/feed.xml"]


def test_links_are_relative_to_where_the_page_came_from(server: Server, fetcher: Fetcher) -> None:
    server.script |= {
        "/": Reply(302, headers=(("Location", "/en/"),)), "/en/": _page(_link("feed")), "/en/feed": FEED,
    }  # fmt: skip
    assert discover(fetcher, server.url("/")).url == server.url("/en/feed")


def test_the_first_link_that_is_a_feed_is_taken_and_comments_come_last(server: Server, fetcher: Fetcher) -> None:
    links = (_link("/comments/feed"), _link("/c", title="Comments on A"), _link("/broken"), _link("/second"))
    server.script |= {"/": _page(*links), "/comments/feed": COMMENTS, "/c": COMMENTS, "/broken": _page()}
    server.script["/second"] = FEED
    assert discover(fetcher, server.url("/")).url == server.url("/second")
    assert _paths(server) == ["/", "/broken", "/second"]


def test_comments_are_better_than_nothing(server: Server, fetcher: Fetcher) -> None:
    server.script |= {"/": _page(_link("/comments/feed")), "/comments/feed": COMMENTS}
    assert discover(fetcher, server.url("/")).url == server.url("/comments/feed")


def test_a_page_without_links_is_asked_at_the_usual_places(server: Server, fetcher: Fetcher) -> None:
    server.script |= {"/blog/": _page(), "/atom.xml": Reply(body=atom("<id>1</id><title>A</title>"))}
    assert discover(fetcher, server.url("/blog/")).url == server.url("/atom.xml")
    assert _paths(server) == ["/blog/", "/feed", "/rss.xml", "/atom.xml"]


def test_an_address_without_any_feed_is_refused_with_what_was_tried(server: Server, fetcher: Fetcher) -> None:
    server.script["/?key=secret"] = _page(*(_link(f"/{n}?key=secret") for n in range(9)))
    with pytest.raises(Refused) as refusal:
        discover(fetcher, server.url("/?key=secret"))
    tried = ", ".join(server.url(f"/{path}") for path in ("", "0", "1", "2", "3", "4"))
    assert str(refusal.value) == f"no feed found; tried {tried}"
    assert len(server.requests) == MAX_REQUESTS


@pytest.mark.parametrize(
    ("reply", "reason"),
    [(Reply(404), "404"), (Reply(410), "gone (410)"), (Reply(503), "503"), (Reply(reset=True), "connection reset")],
)
def test_an_address_that_cannot_be_read_is_refused_with_its_reason(
    server: Server, fetcher: Fetcher, reply: Reply, reason: str
) -> None:
    server.script["/blog"] = reply
    with pytest.raises(Refused, match=rf"/blog cannot be read: {reason}$".replace("(", r"\(").replace(")", r"\)")):
        discover(fetcher, server.url("/blog"))
    assert len(server.first_bytes) == 1


def test_a_page_leads_to_no_private_host(server: Server, internal: Server, fetcher: Fetcher) -> None:
    server.script["/"] = _page(_link(internal.url("/feed")), head=f"<base href='{internal.url('/')}'>")
    internal.script["/feed"] = FEED
    with pytest.raises(Refused, match="no feed found"):
        discover(fetcher, server.url("/"))
    assert internal.first_bytes == []


@pytest.mark.parametrize("address", ["", "file:///etc/passwd", "http://a:b@news.example/", "two words"])
def test_what_is_no_address_is_refused(fetcher: Fetcher, address: str) -> None:
    with pytest.raises(Refused, match="bad URL"):
        discover(fetcher, address)


@pytest.mark.parametrize(
    ("page", "found"),
    [
        ("<LINK REL='feed Alternate' TYPE=application/rss+xml HREF=/a>", ["/a"]),
        ("<link rel=alternate type=text/html href=/a><link rel=stylesheet type=application/rss+xml href=/b>", []),
        ("<link rel=alternate type=application/rss+xml href='/a?b=1&amp;a=2&utm_source=x#c'>", ["/a?a=2&b=1"]),
        ("<base href=/deep/er/><link rel=alternate type=application/rss+xml href=a>", ["/deep/er/a"]),
        ("<link rel=alternate type=application/rss+xml href=a><base href='/deep/'><base href='/other/'>", ["/deep/a"]),
        ("<!-- <link rel=alternate type=application/rss+xml href=/a> -->", []),
        ("<link rel=alternate type=application/rss+xml href=/a>" * 2, ["/a"]),
        ("<link rel=alternate type=application/rss+xml href='javascript:alert(1)'>", []),
        ("<link rel=alternate type=application/rss+xml><link>", []),
        ("<link rel=alternate type=application/atom+xml title='Releases' href='/acme/tool/releases.atom'/>",
         ["/acme/tool/releases.atom"]),
        ("<link rel=alternate type=application/rss+xml title='Commentary' href=/commentary><link rel=alternate "
         "type=application/rss+xml href=/all>", ["/commentary", "/all"]),
        ("<link " * 100_000 + "<!--" * 20_000, []),
        ("<link '" * 70_000, []),
    ],
)  # fmt: skip
def test_the_feeds_that_a_page_links_to(page: str, found: list[str]) -> None:
    assert linked(page, url="https://h.example/blog/") == tuple(f"https://h.example{path}" for path in found)
