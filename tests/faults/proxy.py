"""A proxy before Postgres that knows where a request ends and where its answer does, and loses one of the two.

The protocol, as far as it is needed: postgresql.org/docs/current/protocol-flow.html. After the start-up, whose first
packet has no type, each message is a type byte and its length. A request ends with Query or Sync, its answer with
ReadyForQuery: by then the server has committed, or it never will.
"""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import suppress
from enum import StrEnum
from io import BufferedReader
from typing import Self

from psycopg.conninfo import conninfo_to_dict, make_conninfo

_QUERY, _PARSE, _SYNC, _READY = b"Q", b"P", b"S", b"Z"


class Lost(StrEnum):
    """What a cut connection takes with it."""

    REQUEST = "request"
    """It never reached the server."""
    ANSWER = "answer"
    """The server has done what was asked, and nobody hears of it."""


class Proxy:
    """Passes every connection on to the Postgres at `dsn` from `with` on; `dsn` of its own leads through it."""

    def __init__(self, dsn: str) -> None:
        asked = conninfo_to_dict(dsn)
        self._server = (str(asked["host"]), int(str(asked["port"])))
        self._listener = socket.create_server(("127.0.0.1", 0))
        port = self._listener.getsockname()[1]
        self.dsn = make_conninfo(dsn, host="127.0.0.1", port=port, sslmode="disable", gssencmode="disable")
        self.requests: list[str] = []
        """The first words of each request since the last `cut` or `pass_all`, in their order; the lost one is last."""
        self._left, self._lost = 0, Lost.REQUEST
        self._lock = threading.Lock()
        self._threads = [threading.Thread(target=self._accept, daemon=True)]

    def __enter__(self) -> Self:
        self._threads[0].start()
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for thread in self._threads:
            thread.join(timeout=10)
            assert not thread.is_alive()

    def cut(self, lost: Lost, *, at: int = 1) -> None:
        """Cut the connection that makes the `at`-th request from now on, and let everything else pass."""
        with self._lock:
            self.requests, self._left, self._lost = [], at, lost

    def pass_all(self) -> None:
        """Cut nothing."""
        self.cut(Lost.REQUEST, at=0)

    def loses(self, request: str) -> Lost | None:
        """What is lost of the request that a connection makes now."""
        with self._lock:
            self.requests.append(request)
            self._left -= 1
            return self._lost if self._left == 0 else None

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            server = socket.create_connection(self._server)
            for end in (client, server):
                end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            passage = _Passage(self, client, server)
            for way in (passage.out, passage.back):
                thread = threading.Thread(target=way, daemon=True)
                self._threads.append(thread)
                thread.start()


class _Passage:
    """One connection, in both directions."""

    def __init__(self, proxy: Proxy, client: socket.socket, server: socket.socket) -> None:
        self._proxy, self._client, self._server = proxy, client, server
        self._deaf = False

    def out(self) -> None:
        """From the client to the server."""
        request, words = b"", ""
        with suppress(OSError), self._client.makefile("rb") as said:
            self._server.sendall(_packet(said, b""))
            for kind, message in _messages(said):
                request += message
                if kind in (_QUERY, _PARSE):
                    words = _words(kind, message)
                if kind in (_QUERY, _SYNC):
                    lost = self._proxy.loses(words)
                    if lost is Lost.REQUEST:
                        break
                    self._deaf = lost is Lost.ANSWER
                if kind not in (_PARSE, b"B", b"D", b"E"):
                    self._server.sendall(request)
                    request = b""
        self._end()

    def back(self) -> None:
        """From the server to the client."""
        with self._client, self._server, suppress(OSError), self._server.makefile("rb") as said:
            for kind, message in _messages(said):
                if not self._deaf:
                    self._client.sendall(message)
                elif kind == _READY:
                    break
            self._end()

    def _end(self) -> None:
        for end in (self._client, self._server):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)


def _messages(said: BufferedReader) -> Iterator[tuple[bytes, bytes]]:
    while kind := said.read(1):
        yield kind, _packet(said, kind)


def _packet(said: BufferedReader, kind: bytes) -> bytes:
    length = said.read(4)
    return kind + length + said.read(int.from_bytes(length) - 4) if len(length) == 4 else b""


def _words(kind: bytes, message: bytes) -> str:
    """The start of the statement in a Query or a Parse message."""
    text = message[5:] if kind == _QUERY else message[5:].partition(b"\0")[2]
    return " ".join(text.partition(b"\0")[0].decode(errors="replace").split()[:8])
