"""A gate before the mail server: mail goes through to it, but its answer waits until the gate is opened."""

from __future__ import annotations

import socket
import threading
from contextlib import suppress
from typing import Self
from urllib.parse import urlsplit


class Gate:
    """Listens from `with` on, and passes every connection on to the server at `url`.

    From the final dot on, what the server says to a mail for somebody in `held` is kept back until `open` is called.
    """

    def __init__(self, url: str, *, held: str) -> None:
        self._held = held.encode()
        self._server = (urlsplit(url).hostname, urlsplit(url).port)
        self._opened = threading.Event()
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
        self._opened.set()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            passage = _Passage(client, socket.create_connection(self._server), self._held)
            for way, event in ((passage.out, self.reached), (passage.back, self._opened)):
                thread = threading.Thread(target=way, args=(event,), daemon=True)
                self._threads.append(thread)
                thread.start()


class _Passage:
    """One connection, in both directions."""

    def __init__(self, client: socket.socket, server: socket.socket, held: bytes) -> None:
        self._client, self._server, self._held = client, server, held
        self._waits = threading.Event()

    def out(self, reached: threading.Event) -> None:
        """From the client to the server."""
        said = b""
        with suppress(OSError):
            while data := self._client.recv(65536):
                said += data
                if self._held in said and said.endswith(b"\r\n.\r\n"):
                    self._waits.set()
                    reached.set()
                self._server.sendall(data)
            self._server.shutdown(socket.SHUT_WR)

    def back(self, opened: threading.Event) -> None:
        """From the server to the client."""
        with self._client, self._server, suppress(OSError):
            while data := self._server.recv(65536):
                if self._waits.is_set():
                    opened.wait(30)
                self._client.sendall(data)
