"""RSS and Atom (and RDF, which comes with the parser), read by feedparser."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from typing import Any
from xml.sax import SAXException

import feedparser

from matins.rules.errors import ProviderRefused
from matins.sources import dates, plain
from matins.sources.address import item_url
from matins.sources.document import mended_xml
from matins.sources.entry import Entry

MAX_LOOSE = 500_000
"""Characters of a document that is not well-formed and still read: the forgiving parser is slow."""
_PLAIN, _MARKUP = "text/plain", ("text/html", "application/xhtml+xml")
_GUID = re.compile(r"<((?:[\w.-]+:)?)(guid|id)((?:\s[^<>]{0,1000})?)>", re.IGNORECASE)
_PERMALINK = re.compile(r"\sisPermaLink\s*=\s*(?:\"([^\"]*)\"|'([^']*)')", re.IGNORECASE)
_MARK = "guidmaybelink"
_PARSER_MISTAKES = (
    SAXException, ValueError, LookupError, TypeError, AttributeError, AssertionError, RecursionError, OverflowError
)  # fmt: skip
"""What feedparser has been seen to raise on broken documents, by kind: one feed's mistake must stay its own."""


def read_xml(text: str, *, url: str) -> tuple[str, tuple[Entry, ...]]:
    """The feed's title and its entries in the document's order. Raises ProviderRefused if it is no whole feed."""
    parsed = _parsed(_with_plain_guids(mended_xml(text)), url)
    if not parsed["version"]:
        raise ProviderRefused("not a feed: another kind of XML")
    if not parsed["entries"] and (parsed["bozo"] or not _may_be_empty(parsed["version"], text)):
        raise ProviderRefused("the feed is broken, and no entry in it can be read")
    atom = parsed["version"].startswith("atom")
    entries = tuple(_entry(found, url=url, atom=atom) for found in parsed["entries"])
    return _title(parsed["feed"], atom=atom), entries


def _may_be_empty(version: str, text: str) -> bool:
    """Whether a feed without entries is really one: an RSS channel, or Atom in its own namespace."""
    return "<channel" in text.lower() if version.startswith("rss") else version != "atom"


def _parsed(xml: str, url: str) -> Any:
    """feedparser's answer; entities, relative links and markup inside texts are left to us."""
    if len(xml) > MAX_LOOSE:
        _must_be_well_formed(xml)
    try:
        return feedparser.parse(
            io.BytesIO(xml.encode()),
            response_headers={"content-type": "application/xml; charset=utf-8", "content-location": url},
            sanitize_html=False,
            resolve_relative_uris=False,
        )
    except _PARSER_MISTAKES as mistake:
        raise ProviderRefused("the feed is broken, and cannot be read") from mistake


def _must_be_well_formed(xml: str) -> None:
    from xml.parsers import expat

    try:
        expat.ParserCreate(namespace_separator=" ").Parse(xml.encode(), True)
    except expat.ExpatError as broken:
        raise ProviderRefused("the feed is broken, and too large to be mended") from broken


def _with_plain_guids(xml: str) -> str:
    """feedparser resolves every guid against the feed's address, so that it would change with the address.

    Each is marked as "no permalink", which it leaves alone, after an empty element that says whether it was one.
    """

    def one(match: re.Match[str]) -> str:
        prefix, name, attributes = match.groups()
        said = _PERMALINK.search(attributes)
        mark = "" if said and (said[1] or said[2] or "").strip().lower() == "false" else f'<{_MARK} is="1"></{_MARK}>'
        kept = _PERMALINK.sub("", attributes)
        return f'{mark if name.lower() == "guid" else ""}<{prefix}{name}{kept} isPermaLink="false">'

    return _GUID.sub(one, xml)


def _entry(found: Any, *, url: str, atom: bool) -> Entry:
    guid = plain.one_line(_string(found, "id"))
    title = _title(found, atom=atom) or plain.one_line(_string(found, "itunes_title"))
    text = max(_texts(found, atom=atom), key=len, default="")
    own = next((link for link in _own_links(found, base=url) if link), "")
    other = _other_links(found, guid, base=url, atom=atom) if title or text else iter(())
    return Entry(
        guid=guid,
        url=own or next((link for link in other if link), ""),
        title=title,
        text=text,
        published_at=next((at for at in _dates(found) if at), None),
    )


def _own_links(found: Any, *, base: str) -> Iterator[str]:
    yield item_url(_string(found, "link"), base=base)
    for link in dict.get(found, "links") or ():
        if link.get("rel", "alternate") == "alternate":
            yield item_url(link.get("href") or "", base=base)


def _other_links(found: Any, guid: str, *, base: str, atom: bool) -> Iterator[str]:
    """Where an entry has no link: a guid that is one, then the recording it encloses."""
    if (atom or _MARK in found) and guid.lower().startswith(("http://", "https://")):
        yield item_url(guid)
    for link in dict.get(found, "links") or ():
        if link.get("rel") == "enclosure" and not (link.get("type") or "").startswith("image/"):
            yield item_url(link.get("href") or "", base=base)


def _dates(found: Any) -> Iterator[Any]:
    for name in ("published", "created", "updated"):
        yield dates.instant(_string(found, name))


def _title(found: Any, *, atom: bool) -> str:
    detail = dict.get(found, "title_detail") or {}
    kind = detail.get("type", _PLAIN)
    return plain.one_line(_text(_string(found, "title"), kind, atom=atom))


def _texts(found: Any, *, atom: bool) -> Iterator[str]:
    for content in dict.get(found, "content") or ():
        yield _text(content.get("value") or "", content.get("type") or "", atom=atom)
    detail = dict.get(found, "summary_detail")  # without one, the summary is the parser's copy of the content
    if detail:
        yield _text(_string(found, "summary"), detail.get("type", _PLAIN), atom=atom)


def _text(value: str, kind: str, *, atom: bool) -> str:
    """Atom says what its texts are (RFC 4287 section 3.1); in RSS anything may be anything."""
    if kind in _MARKUP and atom:
        return plain.text_from_markup(value)
    if kind == _PLAIN and atom:
        return plain.text_from_plain(value)
    return plain.text_from_either(value) if kind in (_PLAIN, *_MARKUP) else ""


def _string(found: Any, name: str) -> str:
    value = dict.get(found, name)
    return value if isinstance(value, str) else ""
