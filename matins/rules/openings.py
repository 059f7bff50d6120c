"""Open roles: what an owner asks for, and what the rooms hand to each other about boards. Pure."""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any
from urllib.parse import urlsplit

from matins.rules.check import Check
from matins.rules.evidence import SourceKind

APIS = {
    SourceKind.GREENHOUSE: "https://boards-api.greenhouse.io/v1/boards/{board}/jobs?content=true",
    SourceKind.LEVER: "https://api.lever.co/v0/postings/{board}?limit=100&mode=json",
    SourceKind.ASHBY: "https://api.ashbyhq.com/posting-api/job-board/{board}",
}
"""The public addresses that need no key: developers.greenhouse.io/job-board.html, github.com/lever/postings-api,
developers.ashbyhq.com/docs/public-job-posting-api."""

MAX_BOARDS = 50
_FIELDS = frozenset({"titles", "places", "avoid", "mail", "boards"})
_BOARD_FIELDS = frozenset({"name", "kind", "board", "url"})
_KINDS = tuple(str(kind) for kind in APIS)
_TOKEN = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,98}[A-Za-z0-9])?")
_UNSAFE = re.compile(r"[\s\x00-\x20\x7f-\x9f<>\"\\^`{|}]")


@dataclass(frozen=True, slots=True)
class Board:
    """One company's list of open roles."""

    name: str
    kind: SourceKind
    url: str
    """Where it is read: the provider's public API, or another address of the same API."""


@dataclass(frozen=True, slots=True)
class Openings:
    """Which roles are an owner's, and where they are looked for."""

    titles: tuple[str, ...]
    """Words, one of which is in the title of a role that is asked for."""
    places: tuple[str, ...]
    """Words, one of which is in the place of a role; empty: anywhere. "remote" is a word like any other."""
    avoid: tuple[str, ...]
    """Words that no title has that is asked for."""
    mail: bool
    """Whether they have a message of their own."""
    boards: tuple[Board, ...]

    def document(self) -> dict[str, Any]:
        """As canonical JSON can hold it."""
        return asdict(self) | {"boards": [asdict(board) | {"kind": str(board.kind)} for board in self.boards]}


@dataclass(frozen=True, slots=True)
class Posting:
    """One entry of a board, as it was admitted and is still listed."""

    event_key: str
    identity: str
    title: str
    url: str
    """Absolute http(s) link, or ""."""
    text: str
    place: str
    """Every place it names, separated by "; "."""
    team: str
    first_seen_at: datetime
    published_at: datetime | None


@dataclass(frozen=True, slots=True)
class BoardLook:
    """What a morning's look at one board came to."""

    name: str
    reached: bool
    reason: str
    since: datetime | None
    """Since when it could not be reached, if it could not."""
    postings: tuple[Posting, ...]
    """All that it lists now. Of a board that was not reached: nothing that could be relied on."""


def from_document(document: dict[str, Any]) -> Openings:
    """What `Openings.document` wrote down."""
    boards = (Board(**one | {"kind": SourceKind(one["kind"])}) for one in document["boards"])
    words = {field: tuple(document[field]) for field in ("titles", "places", "avoid")}
    return Openings(**words, mail=document["mail"], boards=tuple(boards))


def parse(check: Check, raw: object) -> Openings:
    """The [openings] of a profile, checked. Raises ProfileRefused with one sentence."""
    if not isinstance(raw, dict):
        check.refuse("openings is not a table", '[openings] then titles = ["engineer"]')
    check.known(raw, _FIELDS, "openings.")
    boards = tuple(_board(check, one) for one in check.tables(raw.get("boards", []), "openings.boards"))
    if not boards or len(boards) > MAX_BOARDS:
        check.refuse(f"openings names {len(boards) or 'no'} boards", f"write 1 to {MAX_BOARDS} [[openings.boards]]")
    if len({board.name for board in boards}) != len(boards):
        check.refuse("two boards have the same name", "rename one")
    if len({board.url for board in boards}) != len(boards):
        check.refuse("two boards are the same one", "take one out")
    return Openings(
        titles=_words(check, raw, "titles", needed=True),
        places=_words(check, raw, "places"),
        avoid=_words(check, raw, "avoid"),
        mail=check.flag(raw, "mail"),
        boards=boards,
    )


def _words(check: Check, raw: dict[str, Any], field: str, *, needed: bool = False) -> tuple[str, ...]:
    if not needed and raw.get(field, []) == []:
        return ()
    words = tuple(" ".join(word.split()) for word in check.words(raw, field, default=[]))
    if not all(word and word.isprintable() and len(word) <= 60 for word in words) or len(words) > 50:
        check.refuse(f"{field} has a word that is empty or longer than 60 characters, or more than 50", f"mend {field}")
    return words


def _board(check: Check, raw: dict[str, Any]) -> Board:
    check.known(raw, _BOARD_FIELDS, "openings.boards.")
    name = check.name(check.text(raw, "name", example='name = "acme" under [[openings.boards]]'), "board")
    check.text(raw, "kind", example=f'kind = "{_KINDS[0]}" to board {name}')
    kind = SourceKind(check.choice(raw, "kind", _KINDS))
    if "url" in raw:
        return Board(name, kind, _url(check, check.text(raw, "url"), name))
    token = check.text(raw, "board", example=f'board = "..." (its name at {kind}) to board {name}')
    if not _TOKEN.fullmatch(token):
        check.refuse(f'"{token[:40]}" is no board at {kind}', "write the last part of its address there")
    return Board(name, kind, APIS[kind].format(board=token))


def _url(check: Check, url: str, name: str) -> str:
    """An address of the same API elsewhere. It is judged again, and its host resolved, when it is asked."""
    try:
        parts = urlsplit(url)
        good = parts.scheme in ("http", "https") and bool(parts.hostname) and "@" not in parts.netloc
        good = good and parts.port != 0
    except ValueError:
        good = False
    if not good or _UNSAFE.search(url) or len(url) > 1000:
        check.refuse(f"the url of board {name} is not an address", "write it as https://host/path, without a password")
    return url
