"""A loopback HTTP server for tests: a script per path, and a ledger of every connection and every request."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Request:
    path: str
    headers: dict[str, str]


@dataclass(frozen=True)
class Reply:
    """What to answer. `raw` is sent as it is; `hold` keeps the connection open after it until the client leaves."""

    status: int = 200
    body: bytes = b""
    headers: tuple[tuple[str, str], ...] = ()
    raw: bytes | None = None
    hold: bool = False
    drip: float = 0.0
    """Seconds between two bytes of the body."""
    reset: bool = False

    def head(self) -> bytes:
        lines = [f"HTTP/1.1 {self.status} Script"]
        lines += [f"{name}: {value}" for name, value in self.headers]
        lines += [f"Content-Length: {len(self.body)}", "Connection: close"]
        return "\r\n".join(lines).encode() + b"\r\n\r\n"


Script = Callable[[Request], Reply]


@dataclass
class Server:
    """Answers `script[path]`: a Reply, a list of Replies used up one by one, or a function of the request."""

    listener: socket.socket
    script: dict[str, Reply | list[Reply] | Script] = field(default_factory=dict)
    requests: list[Request] = field(default_factory=list)
    first_bytes: list[bytes] = field(default_factory=list)
    """What each connection said first: the ledger of connections."""
    leaving: threading.Event = field(default_factory=threading.Event)

    @property
    def port(self) -> int:
        return int(self.listener.getsockname()[1])

    @property
    def authority(self) -> str:
        return f"127.0.0.1:{self.port}"

    def url(self, path: str, *, host: str = "127.0.0.1", scheme: str = "http") -> str:
        return f"{scheme}://{host}:{self.port}{path}"

    def accept(self) -> None:
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        with connection:
            connection.settimeout(10)
            try:
                self._answer(connection)
            except OSError:
                return  # the client left

    def _answer(self, connection: socket.socket) -> None:
        data = connection.recv(65_536)
        self.first_bytes.append(data)
        while data and data[:1] != b"\x16" and b"\r\n\r\n" not in data:
            more = connection.recv(65_536)
            data += more
            if not more:
                return
        if not data.startswith(b"GET "):
            return
        request = _parsed(data)
        self.requests.append(request)
        self._send(connection, self._reply(request))

    def _reply(self, request: Request) -> Reply:
        found = self.script.get(request.path, Reply(404))
        if isinstance(found, Reply):
            return found
        return found.pop(0) if isinstance(found, list) else found(request)

    def _send(self, connection: socket.socket, reply: Reply) -> None:
        if reply.reset:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
            return
        if reply.raw is not None:
            connection.sendall(reply.raw)
        elif reply.drip:
            connection.sendall(reply.head())
            for at in range(len(reply.body)):
                connection.sendall(reply.body[at : at + 1])
                if self.leaving.wait(reply.drip):
                    return
        else:
            connection.sendall(reply.head() + reply.body)
        if reply.hold:
            connection.recv(1)


def _parsed(data: bytes) -> Request:
    first, *lines = data.partition(b"\r\n\r\n")[0].decode("latin-1").split("\r\n")
    pairs = (line.partition(": ") for line in lines)
    return Request(first.split(" ")[1], {name.lower(): value for name, _, value in pairs})


@contextmanager
def running() -> Iterator[Server]:
    """A server on a free port of 127.0.0.1; nothing of it is left afterwards."""
    listener = socket.create_server(("127.0.0.1", 0))
    server = Server(listener)
    thread = threading.Thread(target=server.accept, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.leaving.set()
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        thread.join(10)
