"""Postings, looks and reports for the tests of openings, each with one call."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from matins.brief.openings import report
from matins.rules.canonical import canonical
from matins.rules.keys import sha256
from matins.rules.openings import BoardLook, Openings, Posting

AT = datetime(2026, 11, 30, 5, 1, tzinfo=UTC)
DAY = timedelta(days=1)
WANTS = Openings(("engineer", "database"), ("London", "remote"), ("manager",), False, ())


def posting(
    identity: str = "1",
    title: str = "Engineer",
    *,
    place: str = "London",
    team: str = "Storage",
    text: str = "You keep the indexes.",
    url: str | None = None,
    seen: datetime = AT,
    published: datetime | None = None,
) -> Posting:
    """One posting; its event is its identity."""
    link = f"https://acme.example/{identity}" if url is None else url
    return Posting(sha256(identity.encode())[:40], identity, title, link, text, place, team, seen, published)


def look(*postings: Posting, name: str = "acme") -> BoardLook:
    """A board that was reached and lists these."""
    return BoardLook(name, True, "", None, postings)


def unreached(name: str = "acme", reason: str = "did not answer in time") -> BoardLook:
    """A board that was not reached, since yesterday."""
    return BoardLook(name, False, reason, AT - DAY, ())


def mornings(*looks: list[BoardLook] | BoardLook, wants: Openings | list[Openings] = WANTS) -> dict[str, Any]:
    """The last of a row of reports, a day apart, each made from these looks and the report before it."""
    made: dict[str, Any] | None = None
    for number, found in enumerate(looks):
        at = AT + number * DAY
        asked = wants[number] if isinstance(wants, list) else wants
        boards = found if isinstance(found, list) else [found]
        made = report(made, boards, asked, key=f"sam/morning/{at.date()}", at=at)
        canonical(made)
    assert made is not None
    return made


def titles(document: dict[str, Any], section: str) -> list[str]:
    """The titles of a section, which is not there if it has none."""
    assert document.get(section) != []
    return [role["title"] for role in document.get(section, [])]


def sections(document: dict[str, Any]) -> tuple[list[str], list[str], list[str]]:
    """The titles that are new, were open before, and are gone."""
    return titles(document, "new"), titles(document, "open"), titles(document, "removed")
