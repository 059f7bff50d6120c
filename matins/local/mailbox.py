"""A real mailbox on this machine: mail taken by SMTP, read by IMAP, kept in one Maildir.

For development and tests. `python -m matins.local.mailbox --data DIR --smtp-port P --imap-port Q` (and
`--idle SECONDS`) runs until SIGTERM. Mail to any address lands in the INBOX of the one account, `matins`,
whose password is in `DIR/mailbox-password` (0600). `DIR/smtp.log` is the sink's own ledger, one JSON line for
each mail taken. SMTP is aiosmtpd on the main thread, IMAP is pymap on another; both are imported late, so that
whoever only asks for an address does not wait for them.
"""

from __future__ import annotations

import argparse
import asyncio
import fcntl
import os
import secrets
import signal
import socket
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from matins.local.maildir import Maildir
from matins.rules.errors import Refused

if TYPE_CHECKING:
    from aiosmtpd.smtp import SMTP, Envelope, Session

HOST = "127.0.0.1"
USER = "matins"
IDLE = 120.0
"""Seconds after the last command until the sink closes a connection; for DATA that includes the whole mail.
"""


def password(data: Path) -> str:
    """The account's password, kept in `DIR/mailbox-password` and made at the first call."""
    kept = data / "mailbox-password"
    if not kept.exists():
        fresh = data / f".{kept.name}.{secrets.token_hex(8)}"
        handle = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "w") as file:
            file.write(secrets.token_hex(16))
        try:
            os.link(fresh, kept)
        except FileExistsError:
            pass
        finally:
            fresh.unlink()
    return kept.read_text().strip()


def url(data: Path, smtp_port: int) -> str:  # noqa: ARG001 - called like imap_url
    """Where mail is handed in: `smtp://127.0.0.1:P`."""
    return f"smtp://{HOST}:{smtp_port}"


def imap_url(data: Path, imap_port: int) -> str:
    """Where mail is read: `imap://matins:PASSWORD@127.0.0.1:Q`. It holds the password: it must not be
    logged.
    """
    return f"imap://{USER}:{password(data)}@{HOST}:{imap_port}"


class Sink:
    """What aiosmtpd asks about each mail."""

    def __init__(self, maildir: Maildir) -> None:
        self._maildir = maildir

    async def handle_DATA(self, server: SMTP, session: Session, envelope: Envelope) -> str:  # noqa: ARG002
        """The reply after the final dot: 250 only for a mail that is on the disk."""
        mail, sender, to = envelope.original_content or b"", envelope.mail_from or "", list(envelope.rcpt_tos)
        try:
            return await asyncio.to_thread(self._maildir.take, mail, sender=sender, to=to)
        except OSError as error:
            print(f"a mail could not be kept: {_reason(error)}", file=sys.stderr, flush=True)
            return "452 4.3.1 The mail could not be kept, try again later"


@contextmanager
def _only_one(data: Path) -> Iterator[None]:
    try:
        data.mkdir(parents=True, exist_ok=True, mode=0o700)
        lock = (data / "mailbox.lock").open("a")
    except OSError as error:
        raise Refused(f"{data} cannot be used ({_reason(error)}): name another --data") from None
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise Refused(f"a mailbox already runs on {data}: stop it, or name another --data") from None
        yield


def _reason(error: OSError) -> str:
    return os.strerror(error.errno) if error.errno else str(error)


def _listen(host: str, port: int, *, option: str) -> socket.socket:
    try:
        listener = socket.create_server((host, port), backlog=128)
    except OSError as error:
        reason = _reason(error)
        raise Refused(f"port {port} of {host} cannot be used ({reason}): set another {option}") from None
    except OverflowError:
        raise Refused(f"{port} is no port: set another {option}") from None
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # asyncio does so only for its own
    return listener


async def _serve(sink: Sink, listener: socket.socket, *, idle: float) -> None:
    from aiosmtpd.smtp import SMTP

    loop, stopped = asyncio.get_running_loop(), asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stopped.set)

    def connected() -> SMTP:
        return SMTP(sink, hostname="localhost", ident="Matins mailbox", timeout=idle, enable_SMTPUTF8=True)

    server = await loop.create_server(connected, sock=listener)
    await stopped.wait()
    server.close()


def run(data: Path, *, smtp_port: int, imap_port: int, idle: float = IDLE, host: str = HOST) -> None:
    """Serve until SIGTERM. Port 0 takes a free one. Raises Refused if port or directory cannot be used."""
    with _only_one(data):
        _run(data, smtp_port=smtp_port, imap_port=imap_port, idle=idle, host=host)


def _run(data: Path, *, smtp_port: int, imap_port: int, idle: float, host: str) -> None:
    from matins.local.imap_server import ImapServer, prepare_account, remember_parsed_mail

    base = data / "mailbox"
    with (
        _listen(host, smtp_port, option="--smtp-port") as smtp,
        _listen(host, imap_port, option="--imap-port") as imap,
    ):
        maildir = Maildir(base / USER, ledger=data / "smtp.log")
        maildir.recover()
        prepare_account(base, user=USER, password=password(data))
        remember_parsed_mail()
        reader = ImapServer(base)
        reader.start(imap)
        print(f"smtp {host}:{smtp.getsockname()[1]} imap {host}:{imap.getsockname()[1]}", flush=True)
        try:
            asyncio.run(_serve(Sink(maildir), smtp, idle=idle))
        finally:
            reader.stop()


def main(arguments: Sequence[str] | None = None) -> int:
    """The exit code: 0 after SIGTERM, 1 with one sentence on stderr if it could not start."""
    parser = argparse.ArgumentParser(prog="matins.local.mailbox", description="A mailbox for development and tests.")
    parser.add_argument("--data", type=Path, required=True, help="directory for mail, password and ledger")
    parser.add_argument("--smtp-port", type=int, required=True, help="0 for a free one")
    parser.add_argument("--imap-port", type=int, required=True, help="0 for a free one")
    parser.add_argument("--host", default=HOST, help="the address to listen on; in a container 0.0.0.0")
    parser.add_argument("--idle", type=float, default=IDLE, help="seconds until an idle SMTP connection is closed")
    chosen = parser.parse_args(arguments)
    try:
        run(chosen.data, smtp_port=chosen.smtp_port, imap_port=chosen.imap_port, idle=chosen.idle, host=chosen.host)
    except Refused as refusal:
        print(refusal.message, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
