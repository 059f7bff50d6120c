"""Reading a feed of several pages (F-57), with a real server: what came is kept, and the cursor waits for the rest."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

import psycopg
import pytest
from temporalio.testing import ActivityEnvironment

from activities.desk import Desk
from activities.ingest import Ingest
from activities.messages import Ask
from matins.ledger import profile, source, window
from matins.rules import keys, limits
from matins.rules.profile import parse
from matins.sources.fetch import Fetcher
from tests.sources.server import Reply, Server, running

Conn = psycopg.Connection[Any]
FEED = (("Content-Type", "application/feed+json"), ("ETag", '"1"'))
BROKEN = Reply(503)


@pytest.fixture
def server() -> Iterator[Server]:
    """The feed's server."""
    with running() as one:
        yield one


@pytest.fixture
def reader(desk: Desk, server: Server) -> Ingest:
    """Reads from that server alone."""
    return Ingest(desk, Fetcher(allow_hosts=frozenset({server.authority}), total_seconds=5.0))


def _page(server: Server, names: Sequence[str], *, older: str = "") -> Reply:
    items = [{"id": name, "url": server.url(f"/{name}"), "title": name, "content_text": name} for name in names]
    feed = {"version": "https://jsonfeed.org/version/1.1", "title": "Gazette", "items": items}
    return Reply(body=json.dumps(feed | ({"next_url": server.url(older)} if older else {})).encode(), headers=FEED)


def _read(reader: Ingest, conn: Conn, key: str) -> str:
    """One read, now. Returns how it ended."""
    window.renew(conn, source.window(conn, key), budget=False)
    ActivityEnvironment().run(reader.read, Ask("ingest", key))
    return window.runs(conn, key, limit=1)[0].status


def _added(conn: Conn, server: Server) -> str:
    profile.apply(conn, parse({"owner": "ada", "zone": "Europe/London", "window": "05:00-09:00"}, where="this test"))
    source.add(conn, "ada", url=server.url("/feed"), name="gazette")
    return keys.source(server.url("/feed"))


def _kept(conn: Conn) -> set[str]:
    return {title for (title,) in conn.execute("select title from evidence").fetchall()}


def _paged(server: Server) -> None:
    """Three pages of which the last ends in what was read before."""
    server.script = {
        "/feed": _page(server, ["f", "e"], older="/2"),
        "/2": _page(server, ["d", "c"], older="/3"),
        "/3": _page(server, ["b", "a"], older="/4"),
        "/4": _page(server, ["never", "asked"]),
    }


def _asked(server: Server) -> list[str]:
    found = [request.path for request in server.requests]
    server.requests.clear()
    return found


def test_f57_a_feed_whose_second_page_fails_keeps_what_came_and_is_read_to_its_end_by_the_next_try(
    reader: Ingest, conn: Conn, server: Server
) -> None:
    key = _added(conn, server)
    server.script["/feed"] = _page(server, ["a"])
    assert _read(reader, conn, key) == "new"
    before = source.window(conn, key)
    _paged(server)
    whole, server.script["/2"] = server.script["/2"], BROKEN
    _asked(server)
    assert _read(reader, conn, key) == "partial"
    assert (source.window(conn, key), _kept(conn)) == (before, {"a", "e", "f"})
    assert window.runs(conn, key, limit=1)[0].reason.startswith("page 2: ")
    server.script["/2"] = whole
    _asked(server)
    assert _read(reader, conn, key) == "new"
    assert _asked(server) == ["/feed", "/2", "/3"], "the pages behind what was kept are still read"
    assert _kept(conn) == {"a", "b", "c", "d", "e", "f"}
    assert source.window(conn, key).cursor_version == before.cursor_version + 1
    times = conn.execute("select max(count) from (select count(*) from evidence group by event_key) as each").fetchone()
    assert times == (1,)


def test_f57_what_a_spent_window_kept_does_not_hide_the_pages_behind_it_from_the_next_window(
    reader: Ingest, conn: Conn, server: Server
) -> None:
    key = _added(conn, server)
    server.script["/feed"] = _page(server, ["a"])
    _read(reader, conn, key)
    _paged(server)
    whole, server.script["/2"] = server.script["/2"], BROKEN
    for _ in range(limits.BUDGET):
        assert _read(reader, conn, key) == "partial"
    assert [one.how for one in window.unread(conn, key)] == ["spent"]
    server.script["/2"] = whole
    assert _read(reader, conn, key) == "new"
    assert _kept(conn) == {"a", "b", "c", "d", "e", "f"}


def test_pages_behind_one_with_a_known_item_are_not_asked_for(reader: Ingest, conn: Conn, server: Server) -> None:
    key = _added(conn, server)
    server.script["/feed"] = _page(server, ["b", "a"], older="/2")
    assert _read(reader, conn, key) == "new"
    assert _asked(server) == ["/feed"], "the first read is the baseline, and no archive"
    _paged(server)
    assert _read(reader, conn, key) == "new"
    assert _asked(server) == ["/feed", "/2", "/3"]
    server.script["/feed"] = _page(server, ["g", "f"], older="/2")
    assert _read(reader, conn, key) == "new"
    assert _asked(server) == ["/feed"]
