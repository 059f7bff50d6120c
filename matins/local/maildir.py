"""The Maildir of the test mailbox and the ledger of what came into it.

The ledger's line is the point of no return: a mail is written and synced in `tmp`, then its line is written
and synced, then it moves to `new`, then the sender is told. `recover` finishes the move for every line, so
that ledger and INBOX tell the same story after a kill at any moment.
"""

from __future__ import annotations

import json
import os
import secrets
import threading
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from email.parser import BytesHeaderParser
from pathlib import Path
from typing import Any


class Maildir:
    """One Maildir with its ledger. Safe for several threads of one process."""

    def __init__(self, root: Path, *, ledger: Path) -> None:
        self._root, self._ledger = root, ledger
        self._one_line_at_a_time = threading.Lock()
        for folder in (root / "tmp", root / "new", root / "cur"):
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        os.close(os.open(ledger, os.O_WRONLY | os.O_CREAT, 0o600))
        for folder in (root, root.parent, ledger.parent):
            _sync(folder)

    def take(self, mail: bytes, *, sender: str, to: Sequence[str]) -> str:
        """Keep `mail` for good and return the reply that says so. Raises OSError if it could not be kept."""
        name = f"{time.time_ns():016x}{secrets.token_hex(4)}"
        reply = f"250 2.0.0 Ok: queued as {name}"
        waiting = self._root / "tmp" / name
        try:
            with waiting.open("xb") as file:
                file.write(mail)
                file.flush()
                os.fsync(file.fileno())
            self._note(_entry(mail, name=name, sender=sender, to=to, reply=reply))
        except OSError:
            waiting.unlink(missing_ok=True)
            raise
        self._settle(name)
        return reply

    def recover(self) -> None:
        """Finish what a killed process began: mail with a line moves to `new`, what has none was never
        taken.
        """
        os.truncate(self._ledger, self._ledger.read_bytes().rfind(b"\n") + 1)
        taken = {entry["id"] for entry in read_ledger(self._ledger)}
        for leftover in (self._root / "tmp").iterdir():
            if leftover.name in taken:
                self._settle(leftover.name)
            else:
                leftover.unlink()

    def _settle(self, name: str) -> None:
        (self._root / "tmp" / name).rename(self._root / "new" / name)
        _sync(self._root / "new")

    def _note(self, entry: dict[str, Any]) -> None:
        line = json.dumps(entry).encode() + b"\n"
        with self._one_line_at_a_time, self._ledger.open("ab", buffering=0) as file:
            before = file.tell()
            try:
                if file.write(line) != len(line):
                    raise OSError("the ledger's line was cut short")
                os.fsync(file.fileno())
            except OSError:
                file.truncate(before)
                raise


def read_ledger(ledger: Path) -> list[dict[str, Any]]:
    """Every mail that was taken, oldest first: at, id, from, to, size, message-id, reply. Empty if there is
    none.
    """
    if not ledger.exists():
        return []
    return [json.loads(line) for line in ledger.read_bytes().splitlines(keepends=True) if line.endswith(b"\n")]


def _entry(mail: bytes, *, name: str, sender: str, to: Sequence[str], reply: str) -> dict[str, Any]:
    message_id = BytesHeaderParser().parsebytes(mail).get("Message-ID", "")
    return {
        "at": datetime.now(UTC).isoformat(),
        "id": name,
        "from": sender,
        "to": list(to),
        "size": len(mail),
        "message-id": str(message_id).strip(),
        "reply": reply,
    }


def _sync(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
