"""The IMAP half of the test mailbox: pymap's Maildir backend on one loop and one thread of its own.

One thread, because pymap moves files between `new` and `cur` while other sessions search: on several threads
a search can miss a mail that is being moved, and "it is not there" would be wrong. What pymap does otherwise
and is set right here: a mail is served as it lies on the disk, numbered in the order of its coming, parsed
once; no name server is asked for this machine's name; temporary files lie on the Maildir's file system.
"""

from __future__ import annotations

import asyncio
import os
import socket
import tempfile
import threading
from argparse import Namespace
from collections.abc import Callable
from copy import copy
from functools import lru_cache
from pathlib import Path
from typing import Any

from proxyprotocol.reader import ProxyProtocolReader
from pymap.backend.maildir import Config, Identity, Login
from pymap.backend.maildir.layout import MaildirLayout
from pymap.backend.maildir.mailbox import Maildir
from pymap.backend.maildir.uidlist import UidList
from pymap.concurrent import Subsystem
from pymap.imap import IMAPServer
from pymap.mime import MessageContent
from pysasl.hashing import Cleartext


def prepare_account(base: Path, *, user: str, password: str) -> None:
    """Write pymap's account files below `base` and clear away what a killed process left: locks, half files.

    Only while no other process serves `base`. Temporary files of this process go there from now on.
    """
    _write_private(base / "pymap-etc-passwd", f"{user}:x::::{user}:\n")
    _write_private(base / "pymap-etc-shadow", f"{user}:{password}:::::::\n")
    for lock in base.rglob("*.lock"):
        lock.unlink()
    for index in base.rglob("dovecot-uidlist"):
        if not index.read_bytes().startswith(b"3 V"):
            index.unlink()
    scratch = base / "scratch"
    scratch.mkdir(exist_ok=True)
    for leftover in scratch.iterdir():
        leftover.unlink()
    tempfile.tempdir = str(scratch)


def _write_private(path: Path, text: str) -> None:
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
        file.write(text)


def remember_parsed_mail() -> None:
    """Let this process parse each mail, and each index of a folder, once.

    pymap parses both anew for every mail of every search: 1 s for 500 mails, growing with the square.
    """
    MessageContent.parse = lru_cache(maxsize=4096)(MessageContent.parse)  # type: ignore[method-assign]
    UidList.file_read = _Indexes(UidList.file_read).read  # type: ignore[method-assign]


class _Indexes:
    """The folders' indexes as last read. A file that was replaced is read again; each asker gets a copy."""

    def __init__(self, parse: Callable[[str], UidList]) -> None:
        self._parse = parse
        self._known: dict[str, tuple[tuple[int, int], UidList]] = {}

    def read(self, path: str) -> UidList:
        try:
            stat = os.stat(UidList.get_file(path))
        except FileNotFoundError:
            return UidList.get_default(path)
        version, parsed = self._known.get(path, ((0, 0), None))
        if parsed is None or version != (stat.st_ino, stat.st_mtime_ns):
            version, parsed = (stat.st_ino, stat.st_mtime_ns), self._parse(path)
            self._known[path] = (version, parsed)
        copied = copy(parsed)
        copied._records = dict(parsed._records)
        return copied


class ImapServer:
    """Serves the accounts below one directory."""

    def __init__(self, base: Path) -> None:
        self._config = _config(base)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="imap", daemon=True)

    def start(self, listener: socket.socket) -> None:
        """Serve on `listener` until `stop`."""
        self._thread.start()
        asyncio.run_coroutine_threadsafe(self._open(listener), self._loop).result()

    def stop(self) -> None:
        """Close the listener and every connection."""
        asyncio.run_coroutine_threadsafe(self._close(), self._loop).result(timeout=5)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(timeout=5)
        self._loop.close()

    async def _open(self, listener: socket.socket) -> None:
        self._config.apply_context()
        served = IMAPServer(_ExactLogin(self._config), self._config)
        connected = ProxyProtocolReader(self._config.proxy_protocol).get_callback(served)
        self._server = await asyncio.start_server(connected, sock=listener)

    async def _close(self) -> None:
        self._server.close()
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)


class _LocalConfig(Config):
    @property
    def greeting(self) -> bytes:
        return b"Matins test mailbox ready"


def _config(base: Path) -> Config:
    return _LocalConfig(
        Namespace(proxy_protocol=None),
        host=None,
        port=0,
        base_dir=str(base),
        layout="++",
        colon=None,
        tls_enabled=False,
        reject_dnsbl=False,
        hash_context=Cleartext(),
        subsystem=Subsystem.for_asyncio(),
        cpu_subsystem=Subsystem.for_asyncio(),
    )


class _ExactMaildir(Maildir):
    def keys(self) -> list[str]:
        return sorted(super().keys())

    def get_message(self, key: str) -> Any:
        return self.get_bytes(key)


class _ExactIdentity(Identity):
    def _load_maildir(self, mailbox_path: str) -> tuple[Maildir, MaildirLayout[Any]]:
        path = os.path.join(self.config.base_dir, mailbox_path)
        return _ExactMaildir(path, create=False), MaildirLayout.get(path, self.config.layout, _ExactMaildir)


class _ExactLogin(Login):
    async def authorize(self, authenticated: Any, authzid: str) -> Identity:
        known = await super().authorize(authenticated, authzid)
        return _ExactIdentity(known.config, known.tokens, known.name, None, known.roles)
