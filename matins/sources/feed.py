"""A feed's document as items: cleaned, with absolute links, and each with the identity it will have next time too."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import chain
from urllib.parse import urlsplit

from matins.rules.canonical import hash_of
from matins.rules.errors import ProviderRefused, Refused
from matins.rules.evidence import Item
from matins.sources import plain
from matins.sources.address import canonical_url
from matins.sources.document import text_of
from matins.sources.entry import Entry
from matins.sources.json_feed import read_json
from matins.sources.xml_feed import read_xml

_COMPRESSED = (b"\x1f\x8b", b"PK\x03\x04", b"BZh", b"\xfd7zXZ", b"\x28\xb5\x2f\xfd")


@dataclass(frozen=True, slots=True)
class Feed:
    """A feed's document, read."""

    title: str
    items: tuple[Item, ...]
    next_url: str = ""
    """Canonical address of the next, older page on the same host (RFC 5005 section 3), or ""."""
    broken: bool = False
    """It broke off after these items."""


def read_feed(body: bytes, *, content_type: str, url: str) -> Feed:
    """The RSS, Atom or JSON Feed in `body`, which came from `url`: whole, or at least one whole entry of it.

    Raises ProviderRefused, with one short reason, for whatever is no feed: never an empty answer.
    """
    if body.startswith(_COMPRESSED):
        raise ProviderRefused("not a feed: compressed data")
    text = text_of(body, content_type=content_type)
    if not text.strip("\ufeff\0 \t\r\n"):
        raise ProviderRefused("not a feed: it is empty")
    is_json = text.lstrip("\ufeff \t\r\n").startswith(("{", "["))
    found = (read_json if is_json else read_xml)(text, url=url)
    entries = [entry for entry in found.entries if not entry.says_nothing]
    if found.entries and not entries:
        raise ProviderRefused("a feed whose entries say nothing")
    return Feed(found.title, _items(entries), older_page(found.next_url, of=url), found.broken)


def older_page(href: str, *, of: str) -> str:
    """`href` in its canonical spelling if it is another page of the same host as `of`, else ""."""
    there, here = _canonical(href), _canonical(of)
    return there if there != here and urlsplit(there).netloc == urlsplit(here).netloc else ""


def _items(entries: list[Entry]) -> tuple[Item, ...]:
    """One item per identity; where an identity comes twice, its first entry."""
    items: dict[str, Item] = {}
    for entry, identity in zip(entries, _identities(entries), strict=True):
        items.setdefault(identity, _item(entry, identity))
    return tuple(items.values())


def _item(entry: Entry, identity: str) -> Item:
    title = entry.title or plain.first_sentence(entry.text) or plain.one_line(entry.url.partition("://")[2])
    return Item(identity=identity, url=entry.url, title=title, text=entry.text, published_at=entry.published_at)


def _identities(entries: list[Entry]) -> list[str]:
    """For each entry the first name that is sound in this document: guid, link, link with fragment, content."""
    by_guid = _sound(entries, lambda entry: entry.guid, _same_entry_twice)
    by_link = _sound(entries, lambda entry: _canonical(entry.url), _same_words)
    by_place = _sound(entries, lambda entry: entry.url, _same_words)
    return [
        next(name for name in chain(names, (_content(entry),)) if name)
        for entry, names in zip(entries, zip(by_guid, by_link, by_place, strict=True), strict=True)
    ]


def _sound(
    entries: list[Entry], name: Callable[[Entry], str], same: Callable[[list[Entry], int], bool]
) -> Iterable[str]:
    """Each entry's name, or "" where it is shared by entries that are not the same."""
    sharing: defaultdict[str, list[Entry]] = defaultdict(list)
    names = [name(entry) for entry in entries]
    for entry, its_name in zip(entries, names, strict=True):
        sharing[its_name].append(entry)
    sound = {key for key, group in sharing.items() if key and (len(group) == 1 or same(group, len(entries)))}
    return [its_name if its_name in sound else "" for its_name in names]


def _same_entry_twice(group: list[Entry], of: int) -> bool:
    """Entries under one guid are one entry listed twice if they link to one place and are not the whole feed."""
    links = {_canonical(entry.url) for entry in group}
    return _same_words(group, of) or (len(links) == 1 and "" not in links and len(group) < of)


def _same_words(group: list[Entry], _: int) -> bool:
    return len({(entry.title, "" if entry.title else entry.text) for entry in group}) == 1


def _canonical(url: str) -> str:
    try:
        return canonical_url(url) if url else ""
    except Refused:
        return ""


def _content(entry: Entry) -> str:
    return "content:" + hash_of({"title": entry.title, "text": entry.text})
