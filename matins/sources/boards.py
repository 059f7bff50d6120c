"""A company's open roles, as three providers list them without a key: Greenhouse, Lever and Ashby.

What a board no longer lists is gone, so an answer is read as a whole or not at all: one role that cannot be told from
another, or fewer than the board itself counts, and nothing of it is believed.
"""

from __future__ import annotations

import html
import json
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

from matins.rules.errors import ProviderRefused
from matins.rules.evidence import Item, SourceKind
from matins.sources import dates, plain
from matins.sources.address import item_url
from matins.sources.document import text_of

PAGE = 100
"""Roles that one page of a Lever board is asked for."""
MAX_ROLES = 5_000
MAX_PLACES = 50
_TIMES = range(1, 10_000_000_000_000)
"""Milliseconds from 1970 to 2286."""

_Found = dict[str, Any]


def read_board(body: bytes, *, kind: SourceKind, url: str) -> tuple[str, tuple[Item, ...]]:
    """The company's name, or "", and the open roles in `body`, which came from the board at `url`; () if it has none.

    An item's facts are "place", "team" and "places" ("a; b"), each where the board says so. Raises ProviderRefused,
    with one short reason, for whatever is not that board's whole answer: never an empty one.
    """
    name, roles = _READERS[kind](_document(body))
    if len(roles) > MAX_ROLES:
        raise ProviderRefused(f"too large: more than {MAX_ROLES} roles")
    items: dict[str, Item] = {}
    for role in roles:
        item = _ITEMS[kind](role, url)
        if item.identity in items and kind is SourceKind.LEVER:
            raise ProviderRefused("the board lists one role twice on a page")  # its next page is found by counting
        items.setdefault(item.identity, item)
    return name, tuple(items.values())


def next_page(kind: SourceKind, url: str, items: Sequence[Item]) -> str:
    """The address of the page after the one at `url` that had these `items`; "" where there is none.

    Only Lever's boards have pages (github.com/lever/postings-api, "Get a list of job postings": skip and limit).
    """
    if kind is not SourceKind.LEVER:
        return ""
    parts = urlsplit(url)
    asked = dict(parse_qsl(parts.query, keep_blank_values=True))
    limit, skip = _number(asked.get("limit"), PAGE), _number(asked.get("skip"), 0)
    if not items or len(items) < limit or skip + len(items) > MAX_ROLES:
        return ""
    asked |= {"limit": str(limit), "skip": str(skip + len(items))}
    return parts._replace(query=urlencode(sorted(asked.items()))).geturl()


def _number(text: str | None, default: int) -> int:
    return int(text) if text and text.isascii() and text.isdigit() and len(text) < 7 and int(text) else default


def _document(body: bytes) -> Any:
    text = text_of(body, content_type="application/json").strip("\ufeff\0 \t\r\n")
    if not text:
        raise ProviderRefused("not a job board: it is empty")
    if text.startswith("<"):
        raise ProviderRefused("not a job board: an HTML page")
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as broken:
        raise ProviderRefused("not a job board: broken or cut off JSON") from broken


def _greenhouse(document: Any) -> tuple[str, list[_Found]]:
    """developers.greenhouse.io/job-board.html, "List jobs"."""
    roles = _listed(document, "jobs")
    total = _table(document, "meta").get("total")
    if isinstance(total, int) and not isinstance(total, bool) and total > len(roles):
        raise ProviderRefused("the board counts more roles than it lists")
    names = (plain.one_line(_string(role, "company_name")) for role in roles)
    return next((name for name in names if name), ""), roles


def _lever(document: Any) -> tuple[str, list[_Found]]:
    """github.com/lever/postings-api, "Get a list of job postings"; an error is a table, roles are a bare list."""
    return "", _listed({"roles": document} if isinstance(document, list) else document, "roles")


def _ashby(document: Any) -> tuple[str, list[_Found]]:
    """developers.ashbyhq.com/docs/public-job-posting-api; unlisted roles are for people who were sent the link."""
    return "", [role for role in _listed(document, "jobs") if role.get("isListed") is not False]


def _listed(document: Any, name: str) -> list[_Found]:
    if not isinstance(document, dict):
        raise ProviderRefused("not a job board: JSON of another kind")
    roles = document.get(name)
    if not isinstance(roles, list):
        refused = any(document.get(field) for field in ("error", "errors", "message"))
        raise ProviderRefused("the board answers with an error" if refused else "not a job board: no list of roles")
    if not all(isinstance(role, dict) for role in roles):
        raise ProviderRefused("not a job board: its list holds something that is no role")
    return roles


def _greenhouse_item(role: _Found, url: str) -> Item:
    place = plain.one_line(_string(_table(role, "location"), "name"))
    offices = [name for name in _names(role, "offices", "name") if name.casefold() not in place.casefold()]
    content = _string(role, "content")
    markup = content if plain.looks_like_markup(content) else html.unescape(content[: plain.MAX_MARKUP * 2])
    return _item(
        role,
        url,
        identity=role.get("id"),
        title="title",
        link="absolute_url",
        text=plain.text_from_markup(markup),
        published_at=dates.instant(_string(role, "first_published")),
        places=[place, *offices],
        team=next(iter(_names(role, "departments", "name")), ""),
    )


def _lever_item(role: _Found, url: str) -> Item:
    groups = _table(role, "categories")
    every = groups.get("allLocations")
    more = [place for place in every if isinstance(place, str)] if isinstance(every, list) else []
    remote = ["Remote"] if role.get("workplaceType") == "remote" else []
    lists = (
        f"{_string(part, 'text')}\n\n{plain.text_from_markup(_string(part, 'content'))}"
        for part in _tables(role, "lists")
    )
    text = "\n\n".join([_string(role, "descriptionPlain"), *lists, _string(role, "additionalPlain")])
    return _item(
        role,
        url,
        identity=role.get("id"),
        title="text",
        link="hostedUrl",
        text=plain.text_from_plain(text),
        published_at=_created(role.get("createdAt")),
        places=_with_remote([_string(groups, "location"), *more], remote),
        team=_string(groups, "team") or _string(groups, "department"),
    )


def _ashby_item(role: _Found, url: str) -> Item:
    remote = ["Remote"] if role.get("isRemote") is True else []
    places = [_string(role, "location"), *_names(role, "secondaryLocations", "location")]
    texts = (
        plain.text_from_plain(_string(role, "descriptionPlain")),
        plain.text_from_markup(_string(role, "descriptionHtml")),
    )
    return _item(
        role,
        url,
        identity=role.get("id") or role.get("jobUrl"),
        title="title",
        link="jobUrl",
        text=next(filter(None, texts), ""),
        published_at=dates.instant(_string(role, "publishedAt")),
        places=_with_remote(places, remote),
        team=_string(role, "team") or _string(role, "department"),
    )


def _with_remote(places: list[str], remote: list[str]) -> list[str]:
    return places if any("remote" in place.casefold() for place in places) else [*places, *remote]


def _item(
    role: _Found,
    base: str,
    *,
    identity: object,
    title: str,
    link: str,
    text: str,
    published_at: datetime | None,
    places: Iterable[str],
    team: str,
) -> Item:
    """The role as an item; `title` and `link` name its fields. Raises ProviderRefused if it has none of them."""
    name = plain.one_line(str(identity)) if isinstance(identity, str | int) and not isinstance(identity, bool) else ""
    called = plain.one_line(_string(role, title))
    if not name or not called or not isinstance(role.get(link), str):
        raise ProviderRefused("not this kind of board: a role without an id, a title or a link")
    named = list({place.casefold(): place for place in map(_piece, places) if place}.values())[:MAX_PLACES]
    facts = {"place": named[0] if named else "", "team": _piece(team), "places": "; ".join(named)}
    return Item(
        identity=name,
        url=item_url(role[link], base=base),
        title=called,
        text=text,
        published_at=published_at,
        facts={fact: value for fact, value in facts.items() if value},
    )


def _piece(text: str) -> str:
    """A place or a team: one line, without the mark that separates places."""
    return plain.one_line(text).replace(";", ",")


def _created(value: object) -> datetime | None:
    if isinstance(value, int) and not isinstance(value, bool) and value in _TIMES:
        return datetime.fromtimestamp(value / 1000, UTC)
    return None


def _string(found: _Found, name: str) -> str:
    value = found.get(name)
    return value if isinstance(value, str) else ""


def _table(found: _Found, name: str) -> _Found:
    value = found.get(name)
    return value if isinstance(value, dict) else {}


def _tables(found: _Found, name: str) -> list[_Found]:
    value = found.get(name)
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def _names(found: _Found, name: str, field: str) -> list[str]:
    return [text for text in (plain.one_line(_string(one, field)) for one in _tables(found, name)) if text]


_READERS: dict[SourceKind, Callable[[Any], tuple[str, list[_Found]]]] = {
    SourceKind.GREENHOUSE: _greenhouse,
    SourceKind.LEVER: _lever,
    SourceKind.ASHBY: _ashby,
}
_ITEMS: dict[SourceKind, Callable[[_Found, str], Item]] = {
    SourceKind.GREENHOUSE: _greenhouse_item,
    SourceKind.LEVER: _lever_item,
    SourceKind.ASHBY: _ashby_item,
}
