"""A gate before the mail server: a mail, or only the answer to it, waits there until the gate is opened."""

from __future__ import annotations

import socket
import threading
from contextlib import suppress
from typing import Self
from urllib.parse import urlsplit


class Gate:
    """Listens from `with` on, and passes every connection on to the server at `url`.

    What the server says to a mail to `held` is kept back from the final dot on, until `open` is called; with `late`
    the mail itself is, as on a slow line, and goes on to the server even if its sender is gone.
    """

    def __init__(self, url: str, *, held: str, late: bool = False) -> None:
        self.held, self.late = held.encode(), late
        self._server = (urlsplit(url).hostname, urlsplit(url).port)
        self.opened = threading.Event()
        self.reached = threading.Event()
        """Whether a held mail was handed over whole."""
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"smtp://127.0.0.1:{self._listener.getsockname()[1]}"
        self._threads = [threading.Thread(target=self._accept, daemon=True)]

    def __enter__(self) -> Self:
        self._threads[0].start()
        return self

    def __exit__(self, *_: object) -> None:
        self.open()
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for thread in self._threads:
            thread.join(timeout=10)
            assert not thread.is_alive()

    def open(self) -> None:
        """Let every answer through."""
        self.opened.set()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            passage = _Passage(self, client, socket.create_connection(self._server))
            for way in (passage.out, passage.back):
                thread = threading.Thread(target=way, daemon=True)
                self._threads.append(thread)
                thread.start()


class _Passage:
    """One connection, in both directions."""

    def __init__(self, gate: Gate, client: socket.socket, server: socket.socket) -> None:
        self._gate, self._client, self._server = gate, client, server
        self._waits = False

    def out(self) -> None:
        """From the client to the server."""
        said = b""
        with suppress(OSError):
            while data := self._client.recv(65536):
                said += data
                if self._gate.held in said and said.endswith(b"\r\n.\r\n"):
                    self._waits = True
                    self._gate.reached.set()
                    if self._gate.late:
                        self._gate.opened.wait(30)
                self._server.sendall(data)
        with suppress(OSError):
            self._server.shutdown(socket.SHUT_WR)

    def back(self) -> None:
        """From the server to the client."""
        with self._client, self._server, suppress(OSError):
            while data := self._server.recv(65536):
                if self._waits:
                    self._gate.opened.wait(30)
                with suppress(OSError):
                    self._client.sendall(data)
