"""JSON Feed, versions 1 and 1.1 (jsonfeed.org/version/1.1)."""

from __future__ import annotations

import json
from typing import Any

from matins.rules.errors import ProviderRefused
from matins.sources import dates, plain
from matins.sources.address import item_url
from matins.sources.entry import Entry

_VERSIONS = ("https://jsonfeed.org/version/1", "http://jsonfeed.org/version/1")


def read_json(text: str, *, url: str) -> tuple[str, tuple[Entry, ...]]:
    """The feed's title and its entries in the document's order. Raises ProviderRefused if it is no whole feed."""
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as broken:
        raise ProviderRefused("not a feed: broken or cut off JSON") from broken
    if not isinstance(document, dict) or not _string(document, "version").startswith(_VERSIONS):
        raise ProviderRefused("not a feed: JSON of another kind")
    items = document.get("items")
    if not isinstance(items, list):
        raise ProviderRefused("a JSON Feed without a list of items")
    entries = tuple(_entry(item, url) for item in items if isinstance(item, dict))
    if items and not entries:
        raise ProviderRefused("the feed is broken, and no entry in it can be read")
    return plain.one_line(_string(document, "title")), entries


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
