"""Whether an item under an unknown name is one that its source showed before under another one.

Feeds change their names in bulk: from http to https, to another host, to new guids. The item is then known by its link,
or by its words. Only a name that is no longer in the document can have been given up for another one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from matins.rules.canonical import hash_of
from matins.rules.evidence import Item

TELLING_TEXT = 80
"""Characters of a text that no two items share by chance."""


@dataclass(frozen=True, slots=True)
class Known:
    """One event of a source, and what it last said."""

    event_key: str
    identity: str
    url: str
    title: str
    text: str


def recognise(items: Sequence[Item], known: Sequence[Known], *, listed: Collection[str]) -> dict[str, str]:
    """Identity -> event key for those of `items`, all under unknown names, that are known events under a new one.

    `listed` are all names in the document: an event whose own name is among them has not been renamed. A name that
    could stand for two events, or an event that two items could be, is not recognised.
    """
    found: dict[str, str] = {}
    free = [event for event in known if event.identity not in listed]
    for sign in (_place, _path_and_title, _words):
        taken = set(found.values())
        events = _single([(sign(one.url, one.title, one.text), one.event_key) for one in free])
        names = _single([(sign(item.url, item.title, item.text), item.identity) for item in items])
        for mark, identity in names.items():
            if mark in events and identity not in found and events[mark] not in taken:
                found[identity] = events[mark]
    return found


def _single(marked: Sequence[tuple[str, str]]) -> dict[str, str]:
    """What bears a mark that nothing else bears."""
    counts = Counter(mark for mark, _ in marked if mark)
    return {mark: name for mark, name in marked if counts[mark] == 1}


def _place(url: str, _: str, __: str) -> str:
    """The link without scheme and "www."; "" for a front page, where every item may point."""
    parts = urlsplit(url)
    path = parts.path.rstrip("/")
    return f"{parts.netloc.lower().removeprefix('www.')}{path}?{parts.query}" if path or parts.query else ""


def _path_and_title(url: str, title: str, _: str) -> str:
    """The link without its host, with the title: the site has moved."""
    parts = urlsplit(url)
    path = parts.path.rstrip("/")
    return f"{path}?{parts.query}\n{title}" if path and title else ""


def _words(_: str, title: str, text: str) -> str:
    return hash_of({"title": title, "text": text}) if len(text) >= TELLING_TEXT else ""
