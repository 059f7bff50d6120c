"""A proxy before the object store that counts what it is asked. It changes nothing: signatures hold, the host stays."""

from __future__ import annotations

import http.client
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

_HOP = frozenset({"connection", "keep-alive", "transfer-encoding", "content-length"})


@dataclass(slots=True)
class Asked:
    """Where the store can be asked, and what it was asked by method since the last `clear`."""

    endpoint: str = ""
    calls: Counter[str] = field(default_factory=Counter)


@contextmanager
def counting(endpoint: str) -> Iterator[Asked]:
    """Stand before the store at `endpoint`."""
    asked = Asked()
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(urlsplit(endpoint).netloc, asked.calls))
    server.daemon_threads = True
    asked.endpoint = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield asked
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _handler(netloc: str, calls: Counter[str]) -> type[BaseHTTPRequestHandler]:
    class Passing(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def setup(self) -> None:
            super().setup()
            self.store = http.client.HTTPConnection(netloc, timeout=30)

        def finish(self) -> None:
            self.store.close()
            super().finish()

        def _pass(self) -> None:
            calls[self.command] += 1
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            self.store.putrequest(self.command, self.path, skip_host=True, skip_accept_encoding=True)
            for name, value in self.headers.items():
                if name.lower() not in ("connection", "expect"):
                    self.store.putheader(name, value)
            self.store.endheaders(body)
            answer = self.store.getresponse()
            content = answer.read()
            self.send_response_only(answer.status, answer.reason)
            for name, value in answer.getheaders():
                if name.lower() not in _HOP:
                    self.send_header(name, value)
            length = answer.getheader("Content-Length") if self.command == "HEAD" else str(len(content))
            self.send_header("Content-Length", length or "0")
            self.end_headers()
            self.wfile.write(content)

        do_GET = do_PUT = do_HEAD = do_POST = do_DELETE = _pass

        def log_message(self, format: str, *args: object) -> None:
            """Nothing: what counts is counted."""

    return Passing
