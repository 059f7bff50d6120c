"""What an SMTP server says: one whole reply at a time, its codes, and its name for a mail that it took.

smtplib's own reader makes a 500 of a long line, which would be a refusal, and takes what it cannot read for the end
of a reply; after the final dot neither may be (RFC 5321, section 4.2).
"""

from __future__ import annotations

import re
import select
import smtplib
import socket
import ssl
from email.parser import BytesHeaderParser
from typing import Any, NamedTuple

_LONGEST = 1_000_000
_KEPT = 2_000

_LINE = re.compile(rb"([2-5][0-9]{2})(?:([ -])(.*))?", re.DOTALL)
_ENHANCED = re.compile(r"[245]\.[0-9]{1,3}\.[0-9]{1,3}")
_QUEUE_IDS = tuple(
    re.compile(pattern, re.IGNORECASE | re.MULTILINE)
    for pattern in (
        r"queued as <?([\w.@+=-]+)",  # Postfix, SendGrid, our own sink
        r"\bid=<?([\w.@+=-]+)",  # Exim
        r"\bInternalId=(\d+)",  # Exchange
        r"^(?:\d\.\d\.\d )?(\w{6,}) Message accepted for delivery",  # Sendmail, OpenSMTPD
        r"^ok (\d+ qp \d+)$",  # qmail
        r"^(?:\d\.\d\.\d )?OK +\d+ (\S+) - gsmtp",  # Gmail
        r"^Ok ([\w-]{30,})$",  # Amazon SES
    )
)


class Reply(NamedTuple):
    """One whole reply of the server."""

    code: int
    text: str

    @property
    def status(self) -> str:
        """Its codes, `550 5.1.1`, without its text, which may repeat an address."""
        enhanced = _ENHANCED.match(self.text)
        return f"{self.code} {enhanced[0]}" if enhanced else str(self.code)

    @property
    def whole(self) -> str:
        """Code and text as they came, cut at 2,000 characters."""
        return f"{self.code} {self.text}"[:_KEPT]


def ask(client: smtplib.SMTP, command: str) -> Reply:
    """The reply to `command`. Raises OSError unless a whole one came."""
    client.putcmd(command)
    return read_reply(client)


def read_reply(client: smtplib.SMTP) -> Reply:
    """The next reply, all its lines. Raises OSError unless a whole one came, and one that can be understood."""
    lines: list[str] = []
    file, left = _file(client), _LONGEST
    while True:
        line = file.readline(left)
        left -= len(line)
        parsed = _LINE.fullmatch(line.rstrip(b"\r\n"))
        if not line.endswith(b"\n") or parsed is None:
            raise smtplib.SMTPServerDisconnected("no whole reply")
        lines.append((parsed[3] or b"").decode("utf-8", "replace"))
        if parsed[2] != b"-":
            return Reply(int(parsed[1]), "\n".join(lines))


def has_spoken(client: smtplib.SMTP) -> bool:
    """Whether something of the server waits to be read, or its end of the connection is closed."""
    connection = _connection(client)
    timeout = connection.gettimeout()
    connection.settimeout(0)
    try:
        waiting = bool(_file(client).peek(1))
    except ssl.SSLWantReadError:
        return False
    finally:
        connection.settimeout(timeout)
    if waiting or isinstance(connection, ssl.SSLSocket):
        return waiting
    return bool(select.select([connection], [], [], 0)[0])


def reference(reply: Reply, mail: bytes, idempotency_key: str) -> str:
    """The server's name for the mail if its reply has one, else the mail's Message-ID, else the key."""
    for pattern in _QUEUE_IDS:
        if found := pattern.search(reply.text):
            return found[1].rstrip(".")
    message_id = BytesHeaderParser().parsebytes(mail).get("Message-ID", "")
    return str(message_id).strip() or idempotency_key


def _connection(client: smtplib.SMTP) -> socket.socket:
    if client.sock is None:
        raise smtplib.SMTPServerDisconnected("not connected")
    return client.sock


def _file(client: smtplib.SMTP) -> Any:
    if client.file is None:
        client.file = _connection(client).makefile("rb")
    return client.file
