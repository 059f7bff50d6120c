"""Two small feeds of own writing on the loopback; the answer to a read of one that is held waits."""

from __future__ import annotations

import threading
from datetime import UTC, datetime
from typing import Self

from matins.demo.server import DemoServer

NAMES = ("pier", "quay")

_FEED = """<?xml version="1.0" encoding="utf-8"?>
<feed xmlns="http://www.w3.org/2005/Atom"><title>The Pier</title><id>urn:pier</id><updated>{at}</updated>
<entry><id>urn:pier:1</id><title>The north pier opens to ferries</title><updated>{at}</updated>
<link href="http://pier.example/1"/><summary>The north pier opened to ferries at dawn. Two boats came.</summary></entry>
<entry><id>urn:pier:2</id><title>The harbour office moves to Quay Street</title><updated>{at}</updated>
<link href="http://pier.example/2"/><summary>The harbour office moves to Quay Street in May.</summary></entry>
</feed>
"""


class Feeds:
    """Serves the feeds from `with` on."""

    def __init__(self) -> None:
        at = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        self._page = ("application/atom+xml", _FEED.format(at=at).encode())
        self._free = {f"/{name}.xml": threading.Event() for name in NAMES}
        self.reads = 0
        """How often a feed was asked for."""
        self._server = DemoServer(lambda: self)
        for name in NAMES:
            self.free(name)

    def __enter__(self) -> Self:
        self._server.start()
        return self

    def __exit__(self, *_: object) -> None:
        for name in NAMES:
            self.free(name)
        self._server.stop()

    @property
    def host(self) -> str:
        """host:port."""
        return f"127.0.0.1:{self._server.port}"

    def url(self, name: str) -> str:
        """Where a feed is."""
        return f"{self._server.url}/{name}.xml"

    def hold(self, name: str) -> None:
        """Answer no reader of this feed until `free` is called."""
        self._free[f"/{name}.xml"].clear()

    def free(self, name: str) -> None:
        """Answer the readers of this feed."""
        self._free[f"/{name}.xml"].set()

    def get(self, path: str) -> tuple[str, bytes] | None:
        """The page at `path`, as the server asks for it."""
        if path not in self._free:
            return None
        self.reads += 1
        self._free[path].wait(60)
        return self._page
