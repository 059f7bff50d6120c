"""One RSS or Atom entry: its elements as they were collected, and what they mean."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime

from matins.sources import dates, plain
from matins.sources.address import item_url
from matins.sources.entry import Entry
from matins.sources.markup import attributes_of

MAX_VALUES = 8
"""Elements of one name that are kept of one entry."""
_MARKUP = frozenset({"html", "xhtml", "text/html", "application/xhtml+xml"})
_PLAIN = frozenset({"", "text", "text/plain"})
_TITLES = ("title", "itunes:title", "media:title", "dc:title")
_TEXTS = ("content", "content:encoded", "description", "summary", "xhtml:body", "dc:description")
_OTHER_TEXTS = ("itunes:summary", "media:description", "itunes:subtitle")
_DATES = (
    "published", "pubdate", "issued", "dcterms:issued", "created", "dcterms:created", "dc:date", "updated", "modified",
    "dcterms:modified", "atom:published", "atom:updated",
)  # fmt: skip
FIELDS = frozenset({*_TITLES, *_TEXTS, *_OTHER_TEXTS, *_DATES, "guid", "id", "link", "atom:link", "enclosure"})
"""The elements of an entry that are collected, as `names.Scope.name` calls them."""


@dataclass(frozen=True, slots=True)
class Value:
    """What one element says."""

    text: str
    """References resolved; with the tags inside it, if it has some."""
    attributes: str
    base: str
    has_tags: bool = False
    """It has elements inside, so that it is markup whatever it says of itself."""


@dataclass(slots=True)
class RawEntry:
    """An entry while it is read."""

    about: str = ""
    """The rdf:about of an RSS 1.0 item."""
    values: defaultdict[str, list[Value]] = field(default_factory=lambda: defaultdict(list))

    def keep(self, name: str, value: Value) -> None:
        """One more element."""
        if len(self.values[name]) < MAX_VALUES:
            self.values[name].append(value)

    def markup_tags(self) -> int:
        """How many tags there are to be looked at in its texts."""
        return sum(value.text.count("<") for name in (*_TITLES, *_TEXTS, *_OTHER_TEXTS) for value in self._all(name))

    def entry(self, *, atom: bool) -> Entry:
        """What it means. `atom`: it says itself what kind its texts are (RFC 4287 section 3.1)."""
        guid = plain.one_line(self._first("guid", "id") or self.about)
        title = next((title for title in self._titles(atom=atom) if title), "")
        text = max(self._texts(_TEXTS, atom=atom), key=len, default="")
        text = text or max(self._texts(_OTHER_TEXTS, atom=False), key=len, default="")
        own = next((link for link in self._own_links() if link), "")
        other = self._other_links(guid, atom=atom) if title or text else iter(())
        return Entry(guid, own or next((link for link in other if link), ""), title, text, self._date())

    def _all(self, *names: str) -> Iterator[Value]:
        for name in names:
            yield from self.values.get(name, ())

    def _first(self, *names: str) -> str:
        return next((value.text for value in self._all(*names) if value.text.strip()), "")

    def _titles(self, *, atom: bool) -> Iterator[str]:
        for name in _TITLES:
            for value in self._all(name):
                yield title_of(value, atom=atom and name == "title")

    def _texts(self, names: tuple[str, ...], *, atom: bool) -> Iterator[str]:
        for value in self._all(*names):
            yield text_of(value, atom=atom)

    def _own_links(self) -> Iterator[str]:
        for value in self._all("link", "atom:link"):
            found = attributes_of(value.attributes)
            if found.get("rel", "alternate").strip().lower() == "alternate":
                yield item_url(found.get("href", "") or value.text.strip(), base=value.base)
        yield item_url(self.about)

    def _other_links(self, guid: str, *, atom: bool) -> Iterator[str]:
        """Where an entry has no link: a guid that is one, then the recording it encloses."""
        if guid.lower().startswith(("http://", "https://")) and (atom or self._is_permalink()):
            yield item_url(guid)
        for value in self._all("enclosure", "link", "atom:link"):
            found = attributes_of(value.attributes)
            href = found.get("url") or (found.get("href", "") if found.get("rel") == "enclosure" else "")
            if href and not found.get("type", "").startswith("image/"):
                yield item_url(href, base=value.base)

    def _is_permalink(self) -> bool:
        said = [attributes_of(value.attributes).get("ispermalink", "") for value in self._all("guid")]
        return bool(said) and said[0].strip().lower() != "false"

    def _date(self) -> datetime | None:
        found = (dates.instant(value.text) for value in self._all(*_DATES))
        return next((at for at in found if at), None)


def title_of(value: Value, *, atom: bool) -> str:
    """A title as one line of plain text."""
    return plain.one_line(text_of(value, atom=atom))


def text_of(value: Value, *, atom: bool) -> str:
    """An element's words as plain text; "" where it is neither text nor markup. In RSS anything may be anything."""
    if value.has_tags:
        return plain.text_from_markup(value.text)
    if not atom:
        return plain.text_from_either(value.text)
    kind = attributes_of(value.attributes).get("type", "").strip().lower() if value.attributes else ""
    if kind in _MARKUP:
        return plain.text_from_markup(value.text)
    return plain.text_from_plain(value.text) if kind in _PLAIN else ""
