"""What stands on a page of openings and in which order, before it is HTML, Markdown or mail; all text on one line."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from matins.brief import links, phrases
from matins.brief.openings import NOT_CHECKED, SAYS_NONE, UNVERIFIED
from matins.brief.openings_roles import Role
from matins.rules import keys

ROLES = 300
"""So many roles are shown in a section; the others are counted."""
PLACES = 8


@dataclass(frozen=True, slots=True)
class Piece:
    """Small print, and where it leads; "" if nowhere."""

    text: str
    url: str = ""


@dataclass(frozen=True, slots=True)
class Line:
    """One role."""

    title: str
    url: str
    places: tuple[Piece, ...]
    facts: tuple[str, ...]
    """Board, team, since when, and whether it was not checked."""
    why: str


@dataclass(frozen=True, slots=True)
class Part:
    """A heading with its roles; never without one."""

    heading: str
    lines: tuple[Line, ...]
    more: int
    """So many are not shown."""


@dataclass(frozen=True, slots=True)
class Sheet:
    """A report as a reader sees it."""

    day: date
    headline: str
    notes: tuple[str, ...]
    """What could not be looked at or is not believed yet, a sentence for each board."""
    parts: tuple[Part, ...]
    empty: str
    """Said where there is no role to show."""
    foot: tuple[str, ...]


def headline(document: dict[str, Any]) -> str:
    """ "3 new, 41 open, 1 gone": new roles are open too. What is not known is said and never counted as none."""
    counts, states = document["counts"], [board["state"] for board in document["boards"]]
    said = [f"{counts['new']:,} new"] if counts["new"] else []
    if counts["open"] or not any(state in (NOT_CHECKED, UNVERIFIED) for state in states):
        said.append(f"{counts['open']:,} open")
    said += ["first look"] if document["first"] and counts["open"] else []
    said += [f"{counts['removed']:,} gone"] if counts["removed"] else []
    for state, words in ((NOT_CHECKED, "not checked"), (UNVERIFIED, "unverified")):
        count = states.count(state)
        said += [f"{phrases.counted(count, 'board')} {words}"] if count else []
    return ", ".join(said)


def sheet(document: dict[str, Any], *, zone: str) -> Sheet:
    """The page of a report, its times in `zone`. Raises Refused if the report's key is not one."""
    day = keys.parse(document["key"]).local_date
    sections = {name: document.get(name, []) for name in ("new", "open", "removed")}
    top = [role for role in sections["open"] if role["id"] in document.get("top", [])]
    rest = [role for role in sections["open"] if role not in top]
    named = (("New", sections["new"]), ("The best for you", top), ("Open", rest), ("Gone", sections["removed"]))
    return Sheet(
        day=day,
        headline=headline(document),
        notes=tuple(note for board in document["boards"] if (note := _note(board, zone, day))),
        parts=tuple(_part(heading, roles, document["at"], zone, day) for heading, roles in named if roles),
        empty="" if any(sections.values()) else _nothing(document),
        foot=tuple(_foot(document, zone)),
    )


def _nothing(document: dict[str, Any]) -> str:
    if all(board["state"] in (NOT_CHECKED, UNVERIFIED) for board in document["boards"]):
        return "Whether there are any roles for you is not known today."
    return "No role for you where it could be looked."


def _note(board: dict[str, Any], zone: str, day: date) -> str:
    name = phrases.fold(board["name"])
    match board["state"]:
        case "not checked":
            reason = phrases.fold(board["reason"])
            since = f", {phrases.since(_instant(board['since']), zone, day=day)}" if board["since"] else ""
            kept = "; its roles stand as they were last seen" if board["yours"] else ""
            return f"{name}: not checked today{since}{f' ({reason})' if reason else ''}{kept}."
        case "unverified":
            return f"{name}: its first answer lists no role at all. That is unverified, and checked again tomorrow."
        case "says none":
            kept = "; its roles stand as they were last seen" if board["yours"] else ""
            return f"{name}: says it has none; checked again tomorrow{kept}."
    return ""


def _part(heading: str, roles: list[Role], at: str, zone: str, day: date) -> Part:
    lines = tuple(_line(role, at, zone, day, gone=heading == "Gone") for role in roles[:ROLES])
    return Part(heading, lines, len(roles) - len(lines))


def _line(role: Role, at: str, zone: str, day: date, *, gone: bool) -> Line:
    urls = [url for url in (links.web(url) for url in role["urls"]) if url and not gone]
    names = [phrases.fold(place) for place in role["places"]]
    paired = len(urls) == len(names) > 1
    places = [Piece(name, urls[number] if paired else "") for number, name in enumerate(names[:PLACES])]
    places += [Piece(phrases.counted(len(names) - PLACES, "more place"))] if len(names) > PLACES else []
    dated = role["published"] and "1970" <= role["published"] <= at
    since = phrases.since(_instant(role["published"] if dated else role["first_seen"]), zone, day=day)
    facts = [phrases.fold(role["board"]), phrases.fold(role["team"])]
    facts += [] if gone else [f"listed {since}" if dated else f"seen {since}"]
    facts += [] if role["checked"] else ["not checked today"]
    return Line(
        title=phrases.fold(role["title"]),
        url=urls[0] if urls else "",
        places=tuple(places),
        facts=tuple(filter(None, facts)),
        why="" if gone else phrases.capital(phrases.fold(role["why"])),
    )


def _foot(document: dict[str, Any], zone: str) -> list[str]:
    wants = {name: " or ".join(map(phrases.fold, words)) for name, words in document["wants"].items()}
    asked = [f"Asked for: {wants['titles']}"]
    asked += [f"in {wants['places']}"] if wants["places"] else []
    asked += [f"without {wants['avoid']}"] if wants["avoid"] else []
    lines = ["; ".join(asked) + "."]
    left = [f"{one['count']:,} ({phrases.fold(one['reason'])})" for one in document["left_out"]]
    lines += [f"Left out: {phrases.listed(left)}."] if left else []
    boards = [f"{phrases.fold(board['name'])} {_listed(board)}" for board in document["boards"]]
    lines.append(f"Boards: {phrases.listed(boards) or 'none'}. Times in {phrases.place(zone)}.")
    return lines


def _listed(board: dict[str, Any]) -> str:
    if board["state"] == UNVERIFIED:
        return "unverified"
    first = ", first look" if board["first"] else ""
    last = " when it was last seen" if board["state"] in (NOT_CHECKED, SAYS_NONE) else ""
    if board["state"] == NOT_CHECKED and not board["verified"]:
        return "never seen"
    return f"{phrases.counted(board['listed'], 'role')}{last}{first}"


def _instant(text: str) -> datetime:
    return datetime.fromisoformat(text)
