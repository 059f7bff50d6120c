"""Names of elements as they are meant: whatever prefix a publisher gave a namespace, it is known by one name here."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace

from matins.rules.errors import Refused
from matins.sources.address import request_url
from matins.sources.markup import attributes_of

MAX_BASE = 1_000
"""Characters of a base of links."""
ATOM = frozenset({"http://www.w3.org/2005/atom", "http://purl.org/atom/ns#"})
_RSS = frozenset({"http://purl.org/rss/1.0/", "http://my.netscape.com/rdf/simple/0.9/"})
_KNOWN = {
    "http://www.w3.org/1999/02/22-rdf-syntax-ns#": "rdf",
    "http://www.w3.org/1999/xhtml": "xhtml",
    "http://purl.org/rss/1.0/modules/content/": "content",
    "http://purl.org/dc/elements/1.1/": "dc",
    "http://purl.org/dc/terms/": "dcterms",
    "http://search.yahoo.com/mrss/": "media",
    "http://www.itunes.com/dtds/podcast-1.0.dtd": "itunes",
    **dict.fromkeys(ATOM, "atom"),
    **dict.fromkeys(_RSS, "rss"),
}
_BOUND = re.compile(r"xmlns(?::(.+))?")


@dataclass(frozen=True, slots=True)
class Scope:
    """What holds inside an element: which prefix means what, and what its links are relative to."""

    base: str
    home: str = ""
    """The namespace of the root element, whose names need no prefix."""
    bound: dict[str, str] = field(default_factory=dict)
    """Prefix -> namespace, in lower case; the default one under ""."""

    def inside(self, attributes: str) -> Scope:
        """The scope inside an element with these attributes (XML Namespaces, section 6.1; XML Base, section 4)."""
        if "xmlns" not in attributes and "xml:base" not in attributes:
            return self
        found = attributes_of(attributes)
        bound = {
            match[1] or "": uri.strip().lower() for name, uri in found.items() if (match := _BOUND.fullmatch(name))
        }
        return replace(self, base=_joined(self.base, found.get("xml:base", "")), bound=self.bound | bound)

    def namespace(self, name: str) -> str:
        """Of an element's name as written."""
        return self.bound.get(name.rpartition(":")[0].lower(), "")

    def name(self, written: str) -> str:
        """One name for one meaning, in lower case: bare in the feed's own namespace, else with a known prefix."""
        prefix, _, local = written.lower().rpartition(":")
        uri = self.bound.get(prefix, "")
        if uri == self.home or uri in _RSS or not (prefix or uri):
            return local
        return f"{_KNOWN.get(uri, prefix or 'other')}:{local}"


def _joined(base: str, href: str) -> str:
    """`href` against `base` as a base of links: `base` itself where it is no web address."""
    if not href.strip() or len(href) > MAX_BASE:
        return base
    try:
        found = request_url(href, base=base)
    except Refused:
        return base
    return found if len(found) <= MAX_BASE else base
