"""JSON Feed, versions 1 and 1.1 (jsonfeed.org/version/1.1)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from matins.rules.errors import ProviderRefused
from matins.sources import dates, plain
from matins.sources.address import item_url
from matins.sources.entry import MAX_ENTRIES, MAX_MARKUP_TAGS, Document, Entry

_VERSIONS = ("https://jsonfeed.org/version/1", "http://jsonfeed.org/version/1")
_BROKEN = "not a feed: broken or cut off JSON"
_NAME = re.compile(r"[\s,]*+(\"[^\"\\\x00-\x1f]*+\")\s*+:\s*+")
"""The name of a member, up to its value; none that a feed has needs an escape."""
_MAX_MEMBERS = 100
_BETWEEN = re.compile(r"[\s,]*+")


def read_json(text: str, *, url: str) -> Document:
    """The feed in `text`, which came from `url`. Raises ProviderRefused if there is none, or nothing of it is whole."""
    document, broken = _parsed(text.lstrip("\ufeff \t\r\n"))
    if not isinstance(document, dict) or not _string(document, "version").startswith(_VERSIONS):
        raise ProviderRefused(_BROKEN if broken else "not a feed: JSON of another kind")
    items = document.get("items")
    if not isinstance(items, list):
        raise ProviderRefused(_BROKEN if broken else "a JSON Feed without a list of items")
    if len(items) > MAX_ENTRIES:
        raise ProviderRefused(f"too large: more than {MAX_ENTRIES} entries")
    if sum(_string(item, "content_html").count("<") for item in items if isinstance(item, dict)) > MAX_MARKUP_TAGS:
        raise ProviderRefused(f"too large: more than {MAX_MARKUP_TAGS} tags in its texts")
    entries = tuple(_entry(item, url) for item in items if isinstance(item, dict))
    if not entries and (items or broken):
        raise ProviderRefused(_BROKEN if broken else "the feed is broken, and no entry in it can be read")
    return Document(
        title=plain.one_line(_string(document, "title")),
        entries=entries,
        next_url="" if broken else item_url(_string(document, "next_url"), base=url),
        broken=broken,
    )


def _parsed(text: str) -> tuple[object, bool]:
    """What is in `text`, and whether it broke off: then the members and the items before that point."""
    try:
        return json.loads(text), False
    except (ValueError, RecursionError):
        return dict(_members(text)), True


def _members(text: str) -> Iterator[tuple[str, object]]:
    """The members of the object in `text` that are whole, and of its list of items those that are."""
    at = 1 if text.startswith("{") else len(text)
    for _ in range(_MAX_MEMBERS):
        name = _NAME.match(text, at)
        if name is None:
            return
        if json.loads(name[1]) == "items" and text.startswith("[", name.end()):
            items, at = _whole_items(text, name.end() + 1)
            yield "items", items
        else:
            value, at = _value(text, name.end())
            yield json.loads(name[1]), value
        if at < 0:
            return


def _whole_items(text: str, at: int) -> tuple[list[object], int]:
    items: list[object] = []
    while True:
        value, at = _value(text, _BETWEEN.match(text, at).end())  # type: ignore[union-attr]  # it matches nothing too
        if at < 0:
            return items, at
        items.append(value)
        if len(items) > MAX_ENTRIES:
            return items, -1


def _value(text: str, at: int) -> tuple[object, int]:
    """The value at `at` and where it ends; -1 if there is no whole one."""
    try:
        return json.JSONDecoder().raw_decode(text, at)
    except (ValueError, RecursionError):
        return None, -1


def _entry(item: dict[str, Any], url: str) -> Entry:
    texts = (
        plain.text_from_markup(_string(item, "content_html")),
        plain.text_from_plain(_string(item, "content_text")),
        plain.text_from_plain(_string(item, "summary")),
    )
    links = (item_url(_string(item, name), base=url) for name in ("url", "external_url"))
    found = (dates.instant(_string(item, name)) for name in ("date_published", "date_modified"))
    return Entry(
        guid=plain.one_line(_identifier(item.get("id"))),
        url=next((link for link in links if link), ""),
        title=plain.one_line(_string(item, "title")),
        text=max(texts, key=len),
        published_at=next((at for at in found if at), None),
    )


def _identifier(value: object) -> str:
    """An id that is a number is read as its text (section "Items")."""
    return str(value) if isinstance(value, str | int | float) and not isinstance(value, bool) else ""


def _string(found: dict[str, Any], name: str) -> str:
    value = found.get(name)
    return value if isinstance(value, str) else ""
