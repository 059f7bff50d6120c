"""Evidence, looks, profiles and whole editions for the tests, each with one call."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from typing import Any

from matins.brief import bundle, compose, select
from matins.rules import keys
from matins.rules.evidence import Evidence, Item, SourceLook, Told
from matins.rules.profile import Profile, parse

DAY = date(2026, 11, 30)
KEY = "sam/morning/2026-11-30"
AT = datetime(2026, 11, 30, 5, 1, tzinfo=UTC)

PROSE = (
    "The ferry to the outer islands will sail every hour from the first week of March, the council said on Sunday. "
    "It now sails five times a day, and the last boat leaves before the shops close. "
    "Two crews have been hired, and a third is in training until the spring. "
    "The fare stays at 3.50 for adults, and children under 12 travel free of charge. "
    "A late boat on Saturdays will be tried for six months, and kept if 40 people use it. "
    "The council will look at the numbers again in September, when the summer visitors have left."
)


def evidence(
    title: str,
    text: str = PROSE,
    *,
    source: str = "gazette",
    url: str | None = None,
    published: datetime | None = AT - timedelta(hours=3),
    seen: datetime = AT - timedelta(minutes=1),
    baseline: bool = False,
    name: str = "",
) -> Evidence:
    """One admitted item; its identity is its source and title."""
    link = f"https://{source}.example/{keys.sha256(title.encode())[:12]}" if url is None else url
    item = Item(title, link, title, text, published)
    return Evidence(
        event_key=keys.event(source, title + link),
        evidence_hash=item.evidence_hash,
        source_key=source,
        source_name=name or source.capitalize(),
        url=link,
        title=title,
        text=text,
        published_at=published,
        first_seen_at=seen,
        baseline=baseline,
    )


def told(item: Evidence, on: date = DAY - timedelta(days=3)) -> Told:
    """The item, told by an earlier edition; it was published and seen on that day."""
    back = DAY - on
    return Told(
        local_date=on,
        event_key=item.event_key,
        evidence_hash=item.evidence_hash,
        source_key=item.source_key,
        url=item.url,
        title=item.title,
        text=item.text,
        published_at=item.published_at - back if item.published_at else None,
        first_seen_at=item.first_seen_at - back,
    )


def version(item: Evidence, text: str, *, title: str = "") -> Evidence:
    """A later version of the same event."""
    later = replace(item, title=title or item.title, text=text)
    return replace(later, evidence_hash=Item("", later.url, later.title, later.text).evidence_hash)


def look(name: str, *, reason: str = "", since: datetime | None = None) -> SourceLook:
    """A look at a source: one that failed if there is a reason."""
    return SourceLook(name, name.capitalize(), not reason, 0 if reason else 3, reason, since)


GAZETTE = (look("gazette"),)


def profile(**fields: Any) -> Profile:
    """Sam's profile, in London, with the given fields."""
    raw = {"owner": "sam", "name": "Sam", "zone": "Europe/London", **fields}
    return parse(raw, where="tests")


def chosen_set(
    items: Sequence[Evidence],
    looks: Sequence[SourceLook] = GAZETTE,
    *,
    at: datetime = AT,
    told: Sequence[Told] = (),
    **fields: Any,
) -> dict[str, Any]:
    """The evidence set of Sam's morning."""
    return select.select(items, looks, profile(**fields), key=KEY, at=at, told=told)


def edition(
    items: Sequence[Evidence], looks: Sequence[SourceLook] = GAZETTE, *, told: Sequence[Told] = (), **fields: Any
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The draft of Sam's morning, and its evidence set."""
    found = chosen_set(items, looks, told=told, **fields)
    return compose.compose(found, profile(**fields), date=DAY), found


def files(items: Sequence[Evidence], looks: Sequence[SourceLook] = GAZETTE, **fields: Any) -> dict[str, bytes]:
    """The files of Sam's morning."""
    return bundle.bundle(*edition(items, looks, **fields))
