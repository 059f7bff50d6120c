"""A small IMAP server on the loopback with folders as told, and faults by command."""

from __future__ import annotations

import socket
import threading
from collections.abc import Mapping
from contextlib import suppress
from typing import Self

HANG = object()
HANG_UP = object()


class FaultyImap:
    """`folders`: name to the mails in it, each as its header block. `listing`: the lines of LIST, without `* LIST `.

    `faults`: command to HANG, HANG_UP or the text of the tagged reply to give instead ("NO [UNAVAILABLE] later").
    A search names every mail of the folder: whoever asks has to compare.
    """

    def __init__(
        self,
        folders: Mapping[str, list[bytes]],
        *,
        listing: tuple[bytes, ...] = (rb'(\HasNoChildren) "/" INBOX',),
        special: tuple[bytes, ...] = (),
        faults: Mapping[str, object] | None = None,
        greeting: bytes = b"* OK ready",
    ) -> None:
        self.folders, self.listing, self.special = folders, listing, special
        self.faults, self.greeting = dict(faults or {}), greeting
        self.commands: list[str] = []
        self._stopping = threading.Event()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.port: int = self._listener.getsockname()[1]
        self.url = f"imap://reader:hush@127.0.0.1:{self.port}"
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopping.set()
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._thread.join(timeout=10)
        assert not self._thread.is_alive()

    def _run(self) -> None:
        while not self._stopping.is_set():
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            connection.settimeout(10)
            with connection, connection.makefile("rwb") as file, suppress(OSError):
                self._file, self._open = file, ""
                self._say(self.greeting)
                while (line := file.readline()) and self._obey(line.decode().rstrip()):
                    pass

    def _say(self, line: bytes) -> None:
        self._file.write(line + b"\r\n")
        self._file.flush()

    def _obey(self, line: str) -> bool:
        tag, _, command = line.partition(" ")
        self.commands.append(command)
        words = command.split(" ")
        verb = words[1] if words[0] == "UID" else words[0]
        fault = self.faults.get(command, self.faults.get(verb))
        if fault is HANG:
            self._stopping.wait(10)
        if fault in (HANG, HANG_UP):
            return False
        answer = str(fault) if fault is not None else self._answer(verb, command)
        self._say(f"{tag} {answer}".encode())
        return verb != "LOGOUT"

    def _answer(self, verb: str, command: str) -> str:
        match verb:
            case "CAPABILITY":
                special = " SPECIAL-USE LIST-EXTENDED" if self.special else ""
                self._say(f"* CAPABILITY IMAP4rev1{special}".encode())
            case "LIST":
                for line in self.special if "SPECIAL-USE" in command else self.listing:
                    self._say(b"* LIST " + line)
            case "EXAMINE" | "SELECT":
                name = command.partition(" ")[2]
                self._open = name[1:-1].replace('\\"', '"') if name.startswith('"') else name
                if self._open not in self.folders:
                    return "NO no such folder"
                self._say(f"* {len(self.folders[self._open])} EXISTS".encode())
            case "SEARCH":
                uids = [str(uid) for uid, _ in enumerate(self.folders[self._open], 1)]
                self._say(" ".join(["* SEARCH", *uids]).encode())
            case "FETCH":
                self._fetch(command.split(" ")[2])
        return "OK done"

    def _fetch(self, uids: str) -> None:
        for uid in map(int, uids.split(",")):
            header = self.folders[self._open][uid - 1]
            self._say(b"* %d FETCH (UID %d BODY[HEADER.FIELDS (A)] {%d}" % (uid, uid, len(header)))
            self._say(header + b")")
