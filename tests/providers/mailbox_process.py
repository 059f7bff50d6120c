"""The local test mailbox as a process of its own, on free ports."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any, Self

from matins.local import mailbox
from matins.local.maildir import read_ledger


class MailboxProcess:
    """`python -m matins.local.mailbox` in `data`. Ports stay the same over a restart."""

    def __init__(self, data: Path, *, idle: float = 120.0) -> None:
        self.data, self.idle = data, idle
        self.smtp_port = self.imap_port = 0
        self._process: subprocess.Popen[str] | None = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.end(signal.SIGTERM)

    @property
    def smtp_url(self) -> str:
        """Where to send."""
        return mailbox.url(self.data, self.smtp_port)

    @property
    def imap_url(self) -> str:
        """Where to look."""
        return mailbox.imap_url(self.data, self.imap_port)

    def command(self) -> list[str]:
        """How it is started."""
        ports = ["--smtp-port", str(self.smtp_port), "--imap-port", str(self.imap_port)]
        options = ["--data", str(self.data), "--idle", str(self.idle)]
        return [sys.executable, "-m", "matins.local.mailbox", *options, *ports]

    def start(self) -> None:
        """Start it and wait until it serves."""
        self._process = subprocess.Popen(self.command(), stdout=subprocess.PIPE, text=True)
        assert self._process.stdout is not None
        said = self._process.stdout.readline().split()
        assert said[::2] == ["smtp", "imap"], said
        self.smtp_port, self.imap_port = (int(address.rpartition(":")[2]) for address in said[1::2])

    def end(self, number: signal.Signals) -> int:
        """Send it this signal and wait until it is gone. Returns its exit code."""
        if self._process is None:
            return 0
        self._process.send_signal(number)
        code = self._process.wait(timeout=15)
        assert self._process.stdout is not None
        self._process.stdout.close()
        self._process = None
        return code

    def ledger(self) -> list[dict[str, Any]]:
        """What the sink wrote down."""
        return read_ledger(self.data / "smtp.log")

    def mails(self) -> list[bytes]:
        """Every mail in the INBOX, as it lies on the disk."""
        inbox = self.data / "mailbox" / "matins"
        return [file.read_bytes() for folder in ("new", "cur") for file in sorted((inbox / folder).iterdir())]


def free_port() -> int:
    """A port that is free right now."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])
