"""The local test mailbox as a part: `matins.local.mailbox` in a process of its own."""

from __future__ import annotations

import socket
import sys
from dataclasses import dataclass, field
from pathlib import Path

from matins.local import part
from matins.local.part import Part
from matins.settings import CHECKOUT

NAME = "mailbox"


@dataclass(frozen=True, slots=True)
class Mailbox:
    """A running test mailbox: where mail is handed in, and where it is read (with its password)."""

    smtp_url: str
    imap_url: str = field(repr=False)
    reused: bool


def start(data: Path, *, smtp_port: int, imap_port: int, idle: float) -> Mailbox:
    """Start the mailbox in `data` on these ports, or find it running there. Raises Refused if it cannot start.

    `idle` is how many seconds its SMTP side keeps a silent connection.
    """
    from matins.local import mailbox

    directory = data / "mailbox"
    directory.mkdir(mode=0o700, exist_ok=True)
    command = (
        sys.executable, "-m", "matins.local.mailbox", "--data", str(directory),
        "--smtp-port", str(smtp_port), "--imap-port", str(imap_port), "--idle", str(idle),
    )  # fmt: skip
    made = Part(
        NAME,
        command,
        lambda: greets(smtp_port, b"220 ") and greets(imap_port, b"* OK"),
        environment={"PYTHONPATH": str(CHECKOUT)},
    )
    reused = part.ensure(made, data=data)
    return Mailbox(mailbox.url(directory, smtp_port), mailbox.imap_url(directory, imap_port), reused)


def stop(data: Path) -> bool | None:
    """Stop it. Whether it ended when asked; None if it was not running."""
    return part.stop(data, NAME)


def greets(port: int, greeting: bytes) -> bool:
    """Whether a server on this port of 127.0.0.1 opens with `greeting`, within three seconds."""
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=3) as connection:
            return connection.recv(len(greeting), socket.MSG_WAITALL) == greeting
    except OSError:
        return False
