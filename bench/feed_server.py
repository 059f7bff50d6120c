"""Feeds to read: `python -m bench.feed_server FILE` serves any number of them, and writes its port into FILE.

`/N.xml` is a feed of ten items with an ETag, `304` for who has it. `/change?percent=P` gives that share of the feeds
another first item, `/counts` tells what was asked for since it was last asked.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

ITEMS = 10
_WORDS = (
    "The council has looked at the plans for the harbour again and will decide in the first week of the next month. "
    "Two of the three piers stay open while the third one is made good, and the ferries keep to their hours. "
)


@dataclass(slots=True)
class Served:
    """The feeds' versions, and who asked for what."""

    changes: int = 0
    percent: float = 0.0
    requests: Counter[str] = field(default_factory=Counter)
    unchanged: int = 0

    def version(self, number: int) -> int:
        """How often this feed has changed."""
        return self.changes if number % 10_000 < self.percent * 100 else 0

    def counts(self) -> dict[str, int]:
        """What was asked for since the last look: all requests, the most of one feed, answers of 304."""
        told = {
            "requests": self.requests.total(),
            "most": max(self.requests.values(), default=0),
            "unchanged": self.unchanged,
        }
        self.requests.clear()
        self.unchanged = 0
        return told


def document(number: int, version: int, *, items: int = ITEMS) -> bytes:
    """The feed of this number, as RSS; its first item tells the version."""
    entries = "".join(_entry(number, place, version if place == 0 else 0) for place in range(items))
    head = f"<title>Feed {number}</title><link>https://feed-{number}.example/</link><description>Words</description>"
    return f'<?xml version="1.0"?><rss version="2.0"><channel>{head}{entries}</channel></rss>'.encode()


def _entry(number: int, place: int, version: int) -> str:
    name = f"{number}-{place}-{version}"
    text = f"&lt;p&gt;{_WORDS}&lt;/p&gt;&lt;p&gt;Number {name} of the list. {_WORDS}&lt;/p&gt;"
    return (
        f"<item><guid>{name}</guid><title>The harbour's plan {name}</title>"
        f"<link>https://feed-{number}.example/{name}</link>"
        f"<pubDate>Mon, 30 Nov 2026 04:{place % 60:02}:00 GMT</pubDate><description>{text}</description></item>"
    )


async def _answer(served: Served, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        writer.write(_response(served, head))
        await writer.drain()
    except (OSError, asyncio.IncompleteReadError):
        pass
    finally:
        writer.close()


def _response(served: Served, head: str) -> bytes:
    asked = urlsplit(head.split(" ", 2)[1])
    if asked.path == "/counts":
        return _whole("200 OK", json.dumps(served.counts()).encode())
    if asked.path == "/change":
        served.changes, served.percent = served.changes + 1, float(parse_qs(asked.query)["percent"][0])
        return _whole("200 OK", b"{}")
    number = int(asked.path[1:].removesuffix(".xml"))
    version = served.version(number)
    etag = f'"{number}-{version}"'
    served.requests[asked.path] += 1
    if f"if-none-match: {etag}" in head.lower():
        served.unchanged += 1
        return _whole("304 Not Modified", b"", f"ETag: {etag}\r\n")
    return _whole("200 OK", document(number, version), f"ETag: {etag}\r\nContent-Type: application/rss+xml\r\n")


def _whole(status: str, body: bytes, headers: str = "") -> bytes:
    return f"HTTP/1.1 {status}\r\n{headers}Content-Length: {len(body)}\r\nConnection: close\r\n\r\n".encode() + body


async def serve(port_file: Path) -> None:
    """Serve until killed; the port is in the file when that begins."""
    served = Served()
    server = await asyncio.start_server(
        lambda reader, writer: _answer(served, reader, writer), "127.0.0.1", 0, backlog=512
    )
    new = port_file.with_suffix(".new")
    new.write_text(str(server.sockets[0].getsockname()[1]), encoding="ascii")
    new.rename(port_file)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(serve(Path(sys.argv[1])))
