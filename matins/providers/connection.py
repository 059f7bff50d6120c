"""One conversation over TCP that has to end: a total time limit, and what went wrong in words without addresses."""

from __future__ import annotations

import imaplib
import smtplib
import socket
import ssl
import threading
import time
from contextlib import suppress
from typing import Self


class Deadline:
    """The instant by which a whole conversation has to be over."""

    def __init__(self, seconds: float) -> None:
        self._ends = time.monotonic() + seconds

    def left(self) -> float:
        """Seconds left, at least a thousandth: a socket takes 0 for "do not wait at all"."""
        return max(self._ends - time.monotonic(), 0.001)

    @property
    def over(self) -> bool:
        """Whether it has passed."""
        return time.monotonic() >= self._ends


class Cutoff:
    """Shuts the connection it holds when the deadline passes, so that whoever waits on it meets its end.

    A socket's own timeout counts anew with every byte; a server that drips would be waited for without end.
    """

    def __init__(self, deadline: Deadline) -> None:
        self._held: socket.socket | None = None
        self._timer = threading.Timer(deadline.left(), self._shut)
        self._timer.daemon = True

    def __enter__(self) -> Self:
        self._timer.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._timer.cancel()

    def hold(self, connection: socket.socket) -> socket.socket:
        """`connection`, from now on the one to shut."""
        self._held = connection
        return connection

    def _shut(self) -> None:
        if self._held is not None:
            with suppress(OSError):
                socket.socket.shutdown(self._held, socket.SHUT_RDWR)


def connect(host: str, port: int, *, timeout: float, deadline: Deadline) -> socket.socket:
    """A connection to the first address of `host` that answers, each tried for `timeout` seconds.

    Every later wait on it is limited to `timeout` too. Raises OSError. The look-up of the name is limited by the
    machine's resolver only.
    """
    last: OSError = socket.gaierror("no address")
    for family, kind, protocol, _, address in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM):
        connection = socket.socket(family, kind, protocol)
        try:
            connection.settimeout(min(timeout, deadline.left()))
            connection.connect(address)
        except OSError as error:
            connection.close()
            last = error
        else:
            connection.settimeout(timeout)
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            return connection
    raise last


def secure(plain: socket.socket, *, host: str, context: ssl.SSLContext | None, cutoff: Cutoff) -> ssl.SSLSocket:
    """`plain` under TLS, its certificate checked for `host`. Raises OSError."""
    context = context or ssl.create_default_context()
    wrapped = context.wrap_socket(plain, server_hostname=host, do_handshake_on_connect=False)
    cutoff.hold(wrapped)
    try:
        wrapped.do_handshake()
    except OSError:
        wrapped.close()
        raise
    return wrapped


def cause(error: Exception, *, deadline: Deadline) -> str:
    """What went wrong, in words that hold neither an address nor what the other side said."""
    wrapped = error.__context__
    if isinstance(error, smtplib.SMTPServerDisconnected | imaplib.IMAP4.abort) and isinstance(wrapped, OSError):
        error = wrapped
    match error:
        case TimeoutError():
            return "no answer in time"
        case _ if deadline.over:
            return "it took too long in all"
        case ConnectionRefusedError():
            return "connection refused"
        case socket.gaierror():
            return "no such host"
        case ssl.SSLCertVerificationError():
            return "its certificate is not trusted"
        case ssl.SSLError():
            return "no agreement on TLS"
        case smtplib.SMTPServerDisconnected() | imaplib.IMAP4.abort() | ConnectionError() | EOFError():
            return "the connection was closed"
        case smtplib.SMTPException() | imaplib.IMAP4.error():
            return "an answer that makes no sense"
    return type(error).__name__
