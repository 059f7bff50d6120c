"""A relay before a server, which cuts connections, refuses new ones, or is slow.

Before Temporal it makes a frozen worker look like a machine that stands still: without it Temporal would hand the work
of that worker to the polls that it has left behind.
"""

from __future__ import annotations

import socket
import threading
import time
from contextlib import suppress


class Relay:
    """Passes every connection on to the server at `address` until it is closed, each piece `delay` seconds late."""

    def __init__(self, address: str, *, delay: float = 0.0) -> None:
        host, _, port = address.rpartition(":")
        self._server = (host, int(port))
        self.delay, self.refuses = delay, False
        self._open: list[socket.socket] = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self._listener.getsockname()[1]}"
        self._threads = [threading.Thread(target=self._accept, daemon=True)]
        self._threads[0].start()

    def cut(self) -> None:
        """End every connection; new ones are welcome."""
        for one in self._open:
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """End every connection, and take no more."""
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self.cut()
        for thread in self._threads:
            thread.join(timeout=10)
            assert not thread.is_alive()
        for one in self._open:
            one.close()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            server = self._reach()
            if server is None:
                client.close()
                continue
            self._open += [client, server]
            for source, sink in ((client, server), (server, client)):
                thread = threading.Thread(target=self._pass_on, args=(source, sink), daemon=True)
                self._threads.append(thread)
                thread.start()

    def _reach(self) -> socket.socket | None:
        with suppress(ConnectionRefusedError):
            return None if self.refuses else socket.create_connection(self._server)
        return None

    def _pass_on(self, source: socket.socket, sink: socket.socket) -> None:
        with suppress(OSError):
            while data := source.recv(65536):
                time.sleep(self.delay)
                sink.sendall(data)
        for end in (source, sink):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
