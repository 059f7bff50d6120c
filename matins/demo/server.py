"""A small loopback web server for the demo's feeds, with ETags, so that a second read answers "not modified"."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType

Pages = Mapping[str, tuple[str, bytes]]


class DemoServer:
    """Serves what `pages` returns at each request, on 127.0.0.1, from threads that end with it.

    `pages` is asked anew each time, so a server that runs past midnight serves the new day. A context manager; `port`
    0 takes a free one.
    """

    __slots__ = ("_server", "_thread")

    def __init__(self, pages: Callable[[], Pages], *, port: int = 0) -> None:
        self._server = ThreadingHTTPServer(("127.0.0.1", port), _handler(pages))
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)

    @property
    def port(self) -> int:
        """The port it listens on."""
        return int(self._server.server_address[1])

    @property
    def url(self) -> str:
        """Its base URL, without a slash at the end."""
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        """Begin to answer."""
        self._thread.start()

    def stop(self) -> None:
        """Answer no more, and give the port back."""
        if self._thread.is_alive():
            self._server.shutdown()
            self._thread.join()
        self._server.server_close()

    def __enter__(self) -> DemoServer:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()


def _handler(pages: Callable[[], Pages]) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        """Answers GET and HEAD for the pages."""

        protocol_version = "HTTP/1.1"
        server_version = "MatinsDemo"
        sys_version = ""
        timeout = 30

        def do_GET(self) -> None:
            self._answer(body=True)

        def do_HEAD(self) -> None:
            self._answer(body=False)

        def _answer(self, *, body: bool) -> None:
            found = pages().get(self.path.partition("?")[0])
            if found is None:
                self._send(404, {"Content-Type": "text/plain"}, b"There is no such feed here.\n" if body else b"")
                return
            content_type, data = found
            etag = f'"{hashlib.sha256(data).hexdigest()[:32]}"'
            if etag in [tag.strip() for tag in self.headers.get("If-None-Match", "").split(",")]:
                self._send(304, {"ETag": etag}, None)
                return
            headers = {"Content-Type": content_type, "ETag": etag, "Content-Length": str(len(data))}
            self._send(200, headers, data if body else b"")

        def _send(self, status: int, headers: dict[str, str], data: bytes | None) -> None:
            self.send_response(status)
            if data is not None:
                headers.setdefault("Content-Length", str(len(data)))
            for name, value in headers.items():
                self.send_header(name, value)
            self.end_headers()
            if data:
                self.wfile.write(data)

        def log_message(self, format: str, *args: object) -> None:
            """Nothing: who asked is no news here."""

    return Handler
