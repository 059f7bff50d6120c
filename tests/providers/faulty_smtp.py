"""A small SMTP server on the loopback that misbehaves as it is told, and writes down every whole mail it got."""

from __future__ import annotations

import socket
import ssl
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Self

CONNECT, EHLO, STARTTLS, AUTH, MAIL, RCPT, DATA = "CONNECT", "EHLO", "STARTTLS", "AUTH", "MAIL", "RCPT", "DATA"
BODY = "BODY"
"""After the prompt for the body, before anything of it was read."""
DOT = "DOT"
"""After the final dot was read and the mail was written down."""

Fault = Callable[["Connection"], bool]
"""What to do in place of the right reply. Whether the conversation goes on."""


def say(text: str) -> Fault:
    """Say this instead, and go on."""

    def fault(connection: Connection) -> bool:
        connection.send(text.encode() + b"\r\n")
        return True

    return fault


def say_and_hang_up(raw: bytes) -> Fault:
    """Say exactly these bytes, then close."""

    def fault(connection: Connection) -> bool:
        connection.send(raw)
        return False

    return fault


def hang_up(_: Connection) -> bool:
    """Close without a word."""
    return False


def be_silent(connection: Connection) -> bool:
    """Say nothing and read nothing until the server is stopped."""
    connection.server.stopping.wait(30)
    return False


def drip(raw: bytes, *, every: float) -> Fault:
    """Say these bytes one at a time."""

    def fault(connection: Connection) -> bool:
        for at in range(len(raw)):
            if connection.server.stopping.wait(every):
                return False
            connection.send(raw[at : at + 1])
        return True

    return fault


def speak_early(text: str) -> Fault:
    """Answer before the mail is whole, then read it as if nothing were."""

    def fault(connection: Connection) -> bool:
        connection.send(text.encode() + b"\r\n")
        return True

    return fault


RIGHT = {
    CONNECT: "220 test ready",
    STARTTLS: "220 2.0.0 go ahead",
    AUTH: "235 2.7.0 welcome",
    MAIL: "250 2.1.0 Ok",
    RCPT: "250 2.1.5 Ok",
    DATA: "354 End data with <CR><LF>.<CR><LF>",
    "QUIT": "221 2.0.0 Bye",
}


class FaultySmtp:
    """Listens from `with` on. `bodies` is its ledger: every mail of which it read the final dot.

    `body_bytes` counts what it read of mails at all.
    """

    def __init__(
        self,
        faults: Mapping[str, Fault] | None = None,
        *,
        extensions: tuple[str, ...] = ("SIZE 1000000", "8BITMIME", "SMTPUTF8"),
        tls: ssl.SSLContext | None = None,
        tls_at_once: bool = False,
    ) -> None:
        self.faults, self.extensions = dict(faults or {}), extensions
        self.tls, self.tls_at_once = tls, tls_at_once
        self.bodies: list[bytes] = []
        self.body_bytes = 0
        self.commands: list[str] = []
        self.stopping, self.ended = threading.Event(), threading.Event()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.port: int = self._listener.getsockname()[1]
        self.url = f"smtp://127.0.0.1:{self.port}"
        self._threads = [threading.Thread(target=self._accept, daemon=True)]

    def __enter__(self) -> Self:
        self._threads[0].start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stopping.set()
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for thread in self._threads:
            thread.join(timeout=10)
            assert not thread.is_alive()

    def _accept(self) -> None:
        while not self.stopping.is_set():
            try:
                plain, _ = self._listener.accept()
            except OSError:
                return
            thread = threading.Thread(target=self._serve, args=(plain,), daemon=True)
            self._threads.append(thread)
            thread.start()

    def _serve(self, plain: socket.socket) -> None:
        connection = Connection(self, plain)
        try:
            with suppress(OSError):
                connection.converse()
        finally:
            connection.close()
            self.ended.set()


class Connection:
    """One client's conversation."""

    def __init__(self, server: FaultySmtp, plain: socket.socket) -> None:
        self.server, self._socket = server, plain
        plain.settimeout(30)
        self._file = plain.makefile("rb")

    def send(self, raw: bytes) -> None:
        """Say exactly these bytes."""
        self._socket.sendall(raw)

    def close(self) -> None:
        """Close it, with whatever was not read."""
        self._file.close()
        self._socket.close()

    def converse(self) -> None:
        """Answer until one side ends it."""
        if self.server.tls_at_once:
            self._encrypt()
        going_on = self._answer(CONNECT)
        while going_on and (line := self._file.readline()):
            self.server.commands.append(line.decode().rstrip())
            verb = line.split()[0].decode().upper()
            going_on = self._obey(verb)

    def _obey(self, verb: str) -> bool:
        if verb == EHLO and EHLO not in self.server.faults:
            lines = ["test", *self.server.extensions]
            self.send(b"".join(f"250-{line}\r\n".encode() for line in lines[:-1]))
            return self._say(f"250 {lines[-1]}")
        going_on = self._answer(verb)
        if verb == STARTTLS and going_on and STARTTLS not in self.server.faults:
            self._encrypt()
        if verb == DATA and going_on and DATA not in self.server.faults:
            return self._read_mail()
        return going_on and verb != "QUIT"

    def _read_mail(self) -> bool:
        if BODY in self.server.faults and not self.server.faults[BODY](self):
            return False
        lines: list[bytes] = []
        while (line := self._file.readline()) != b".\r\n":
            self.server.body_bytes += len(line)
            if not line:
                return False
            lines.append(line[1:] if line.startswith(b".") else line)
        self.server.bodies.append(b"".join(lines))
        if DOT in self.server.faults:
            return self.server.faults[DOT](self)
        return self._say(f"250 2.0.0 Ok: queued as TEST{len(self.server.bodies)}")

    def _answer(self, phase: str) -> bool:
        if phase in self.server.faults:
            return self.server.faults[phase](self)
        return self._say(RIGHT.get(phase, "502 5.5.1 what?"))

    def _say(self, text: str) -> bool:
        self.send(text.encode() + b"\r\n")
        return True

    def _encrypt(self) -> None:
        assert self.server.tls is not None
        self._file.close()
        self._socket = self.server.tls.wrap_socket(self._socket, server_side=True)
        self._file = self._socket.makefile("rb")
