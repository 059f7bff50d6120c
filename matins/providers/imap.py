"""Looking for a mail in a mailbox: the one thing that says more than "accepted".

Only INBOX and the junk folder are looked at, read-only, never Sent: a copy that our own client filed is no trace of
a mail that arrived. A server's search finds parts of words, so what it names is fetched and compared.
"""

from __future__ import annotations

import imaplib
import re
import socket
import ssl
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from email.parser import BytesHeaderParser
from typing import Any, NamedTuple
from urllib.parse import unquote, urlsplit

from matins.providers.connection import Cutoff, Deadline, cause, connect, secure
from matins.rules.errors import ProviderRefused, ProviderUnavailable, Refused
from matins.rules.receipt import Sighting

PORTS = {"imap": 143, "imaps": 993}

JUNK_NAMES = frozenset({"junk", "junk e-mail", "junk email", "junk mail", "spam", "bulk mail", "bulk"})
"""How servers call the folder where they do not mark it as \\Junk (RFC 6154)."""

_GOODBYE = 1.0
_CANDIDATES = 200
_HEADERS = "(BODY.PEEK[HEADER.FIELDS (MESSAGE-ID X-MATINS-MESSAGE)])"
_LISTED = re.compile(rb'\((?P<flags>[^)]*)\) (?:"(?P<delimiter>\\?.)"|NIL) (?P<name>.*)', re.DOTALL)
_SEARCHABLE = re.compile(r"[!-~]{1,900}")
_FOR_NOW = ("[UNAVAILABLE]", "[INUSE]", "[LIMIT]", "[SERVERBUG]")
"""Codes with which a server says "not now" rather than "not you" (RFC 5530)."""


class _Folder(NamedTuple):
    placement: str
    quoted: str


class Mailbox:
    """One account on one IMAP server: `imap://user:password@host:port` or `imaps://`."""

    def __init__(
        self, url: str, *, timeout: float = 30.0, step_timeout: float = 15.0, tls: ssl.SSLContext | None = None
    ) -> None:
        """Raises Refused, without repeating it, for an address that is not of this form.

        `timeout` limits one look in all, `step_timeout` each wait for the server; both in seconds. `tls` replaces
        the machine's own trust in certificates.
        """
        parts = urlsplit(url)
        try:
            port = parts.port or PORTS.get(parts.scheme, 0)
        except ValueError:
            port = 0
        if parts.scheme not in PORTS or not parts.hostname or not port or not parts.username:
            raise Refused("the mailbox's address must look like imap://user:password@host:port")
        self._secure, self._host, self._port = parts.scheme == "imaps", parts.hostname, port
        self._user, self._password = unquote(parts.username), unquote(parts.password or "")
        self._timeout, self._step_timeout, self._tls = timeout, step_timeout, tls
        self.mechanism = f"imap:{self._host}:{self._port}"

    def look(self, *, message_id: str, message_key: str) -> Sighting:
        """Whether a mail with this Message-ID or this X-Matins-Message is in the INBOX or in a junk folder.

        Not found with `complete` false says nothing: some folder could not be looked at. Raises
        ProviderUnavailable if the server cannot be reached, ProviderRefused if it does not let us in.
        """
        wanted = {"Message-ID": message_id, "X-Matins-Message": message_key}
        if not all(_SEARCHABLE.fullmatch(value) for value in wanted.values()):
            raise ProviderRefused("not looked at: a Message-ID or message key is empty or has other than ASCII")
        with self._session() as client:
            folders, complete = _folders(client)
            for folder in folders:
                there, searched = _search(client, folder, wanted)
                if there:
                    return Sighting(True, self.mechanism, folder.placement)
                complete = complete and searched
        return Sighting(False, self.mechanism, complete=complete)

    @contextmanager
    def _session(self) -> Iterator[imaplib.IMAP4]:
        deadline = Deadline(self._timeout)
        with Cutoff(deadline) as cutoff:
            try:
                client = _Client(lambda: self._dial(deadline, cutoff))
                try:
                    self._log_in(client)
                    yield client
                finally:
                    _say_goodbye(client)
            except (OSError, EOFError, imaplib.IMAP4.error) as error:
                why = cause(error, deadline=deadline)
                raise ProviderUnavailable(f"not looked at: {self.mechanism}: {why}") from None

    def _dial(self, deadline: Deadline, cutoff: Cutoff) -> socket.socket:
        plain = connect(self._host, self._port, timeout=self._step_timeout, deadline=deadline)
        if not self._secure:
            return cutoff.hold(plain)
        return secure(plain, host=self._host, context=self._tls, cutoff=cutoff)

    def _log_in(self, client: imaplib.IMAP4) -> None:
        if client.state == "AUTH":
            return
        try:
            if "AUTH=PLAIN" in client.capabilities:
                client.authenticate("PLAIN", lambda _: f"\0{self._user}\0{self._password}".encode())
            else:
                client.login(self._user, self._password)
        except imaplib.IMAP4.abort:
            raise
        except imaplib.IMAP4.error as error:
            if any(code in str(error).upper() for code in _FOR_NOW):
                raise
            raise ProviderRefused(f"not looked at: {self.mechanism} refused the login") from None
        except UnicodeEncodeError:
            raise ProviderRefused(f"not looked at: {self.mechanism} takes ASCII logins only") from None


class _Client(imaplib.IMAP4):
    """imaplib on a connection that we made, whose waits we can end."""

    def __init__(self, dial: Callable[[], socket.socket]) -> None:
        self._dial = dial
        super().__init__()

    def _create_socket(self, timeout: float | None) -> socket.socket:  # noqa: ARG002
        return self._dial()


def _say_goodbye(client: imaplib.IMAP4) -> None:
    with suppress(OSError, imaplib.IMAP4.error):
        client.sock.settimeout(_GOODBYE)
        client.logout()
    with suppress(OSError):
        client.shutdown()


def _folders(client: imaplib.IMAP4) -> tuple[list[_Folder], bool]:
    """INBOX and the junk folders, and whether the list of folders could be had."""
    inbox = _Folder("inbox", "INBOX")
    try:
        listed = _list(client, "*")
        junk = [entry.quoted for entry in listed if b"\\junk" in entry.flags]
        if not junk and "SPECIAL-USE" in client.capabilities:
            marked = _list(client, "* RETURN (SPECIAL-USE)")
            junk = [entry.quoted for entry in marked if b"\\junk" in entry.flags]
    except imaplib.IMAP4.abort:
        raise
    except imaplib.IMAP4.error:
        return [inbox], False
    junk = junk or [entry.quoted for entry in listed if entry.name in JUNK_NAMES]
    return [inbox, *(_Folder("junk", quoted) for quoted in junk)], True


class _Listed(NamedTuple):
    flags: list[bytes]
    name: str
    """The last part of its path, in lower case."""
    quoted: str
    """The whole path as it is named to the server."""


def _list(client: imaplib.IMAP4, pattern: str) -> list[_Listed]:
    """The folders that can be opened. Raises IMAP4.error if the server does not tell."""
    answer, lines = client.list(pattern=pattern)
    if answer != "OK":
        raise imaplib.IMAP4.error("no list of folders")
    entries = [_listed(line) for line in lines if line]
    return [entry for entry in entries if entry and not {b"\\noselect", b"\\nonexistent"} & set(entry.flags)]


def _listed(line: Any) -> _Listed | None:
    """One line of a LIST reply; imaplib gives a pair where the name came as a literal."""
    literal = line[1] if isinstance(line, tuple) else None
    parsed = _LISTED.fullmatch(line[0] if isinstance(line, tuple) else line)
    if parsed is None:
        return None
    path = literal if literal is not None else _unquoted(parsed["name"])
    text = path.decode("ascii", "replace")
    delimiter = (parsed["delimiter"] or b"").decode("ascii", "replace")[-1:]
    leaf = text.rsplit(delimiter, 1)[-1] if delimiter else text
    return _Listed(parsed["flags"].lower().split(), leaf.lower(), _quoted(text))


def _search(client: imaplib.IMAP4, folder: _Folder, wanted: dict[str, str]) -> tuple[bool, bool]:
    """Whether the mail is in the folder, and whether the folder was looked at whole."""
    first, second = (["HEADER", name, _quoted(value)] for name, value in wanted.items())
    try:
        answer, _ = client.select(folder.quoted, readonly=True)
        if answer != "OK":
            return False, False
        answer, found = client.uid("SEARCH", "OR", *first, *second)
        if answer != "OK":
            return False, False
        uids = b" ".join(part for part in found if part).split()
        return _compare(client, uids[-_CANDIDATES:], wanted), len(uids) <= _CANDIDATES
    except imaplib.IMAP4.abort:
        raise
    except imaplib.IMAP4.error:
        return False, False


def _compare(client: imaplib.IMAP4, uids: list[bytes], wanted: dict[str, str]) -> bool:
    """Whether one of these mails carries exactly one of the wanted headers."""
    if not uids:
        return False
    _, parts = client.uid("FETCH", b",".join(uids).decode("ascii"), _HEADERS)
    headers = [BytesHeaderParser().parsebytes(part[1]) for part in parts if isinstance(part, tuple)]
    return any(
        "".join(str(header.get(name, "")).split()) == value for header in headers for name, value in wanted.items()
    )


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _unquoted(name: bytes) -> bytes:
    if name.startswith(b'"') and name.endswith(b'"'):
        return re.sub(rb"\\(.)", rb"\1", name[1:-1])
    return name
