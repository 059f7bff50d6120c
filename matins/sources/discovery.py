"""From the address that a person knows to the feed behind it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from urllib.parse import urljoin, urlsplit

from matins.rules.errors import ProviderRefused, ProviderUnavailable, Refused
from matins.rules.evidence import Cursor, Reading
from matins.sources.address import canonical_url, item_url, request_url
from matins.sources.document import text_of
from matins.sources.fetch import Fetched, Fetcher
from matins.sources.markup import attributes_of
from matins.sources.reader import read, reading_of

MAX_REQUESTS = 6
"""For one discovery, redirects not counted."""
_WELL_KNOWN = ("/feed", "/rss.xml", "/atom.xml", "/index.xml")
_FEED_TYPES = frozenset(
    {"application/rss+xml", "application/atom+xml", "application/feed+json", "application/rdf+xml", "text/rss+xml"}
)
_LOOK = 512 * 1024
"""Characters of a page that are searched for links."""
_TAG = re.compile(r"<(link|base)(?=[\s/])((?:[^<>\"']++|\"[^\"<]*+\"|'[^'<]*+')*+)>", re.IGNORECASE)
_COMMENTS = re.compile(r"\bcomments?\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Found:
    """A feed, and what it says."""

    url: str
    """Its canonical address: the new one if it moved for good."""
    reading: Reading


@dataclass(slots=True)
class _Search:
    """One discovery: what was tried so far."""

    fetcher: Fetcher
    tried: list[str] = field(default_factory=list)

    def read(self, url: str) -> Found | None:
        """The feed at `url`, if there is one and it may still be asked for."""
        if url in self.tried or len(self.tried) >= MAX_REQUESTS:
            return None
        self.tried.append(url)
        reading = read(self.fetcher, url, cursor=Cursor())
        return Found(reading.moved_to or url, reading) if reading.reached else None

    def shown(self) -> str:
        """What was tried, for a person. Queries are left out: they may hold a key."""
        return ", ".join(url.partition("?")[0] for url in self.tried)


def discover(fetcher: Fetcher, address: str) -> Found:
    """The feed at `address`, or the one that the page there links to, or the one at a usual place of its host.

    At most MAX_REQUESTS requests. Raises Refused, saying what was tried, if the address cannot be read or nothing
    that was tried is a feed.
    """
    address = address.strip()
    asked = canonical_url(address if "://" in address else f"https://{address}")
    search = _Search(fetcher, [asked])
    try:
        fetched = fetcher.look(asked, cursor=Cursor())
        reading = _reading(fetched)
    except (ProviderRefused, ProviderUnavailable) as failure:
        raise Refused(f"{search.shown()} cannot be read: {failure.message}") from failure
    if reading is not None:
        return Found(reading.moved_to or asked, reading)
    for url in _candidates(fetched):
        found = search.read(url)
        if found is not None:
            return found
    raise Refused(f"no feed found; tried {search.shown()}")


def _reading(fetched: Fetched) -> Reading | None:
    """What the answer says as a feed; None if it is something else."""
    try:
        reading = reading_of(fetched, cursor=Cursor())
    except (ProviderRefused, ProviderUnavailable):
        return None
    if not reading.reached:
        raise ProviderRefused(reading.reason)
    return reading


def _candidates(page: Fetched) -> Iterator[str]:
    """Addresses where a feed may be, the most likely first."""
    yield from linked(text_of(page.body, content_type=page.content_type), url=page.final_url)
    for path in _WELL_KNOWN:
        yield canonical_url(urljoin(page.final_url, path))


def linked(page: str, *, url: str) -> tuple[str, ...]:
    """The canonical addresses of the feeds that an HTML page links to (RSS Advisory Board, "RSS Autodiscovery").

    In the page's order, those of comments last; links relative to its <base>, as HTML says.
    """
    base = ""
    feeds: list[str] = []
    comments: list[str] = []
    for name, attributes in _TAG.findall(_without_comments(page[:_LOOK])):
        found = attributes_of(attributes)
        if name.lower() == "base":
            base = base or _base(found.get("href", ""), url)
        elif _is_feed(found):
            about = f"{found.get('title', '')} {urlsplit(found.get('href', '').strip()).path.replace('_', ' ')}"
            (comments if _COMMENTS.search(about) else feeds).append(found.get("href", ""))
    links = (item_url(href, base=base or url) for href in (*feeds, *comments))
    return tuple(dict.fromkeys(canonical_url(link) for link in links if link))


def _is_feed(attributes: dict[str, str]) -> bool:
    kind = attributes.get("type", "").partition(";")[0].strip().lower()
    return "alternate" in attributes.get("rel", "").lower().split() and kind in _FEED_TYPES


def _base(href: str, url: str) -> str:
    try:
        return request_url(href, base=url) if href.strip() else ""
    except Refused:
        return ""


def _without_comments(page: str) -> str:
    kept: list[str] = []
    at = 0
    while (opens := page.find("<!--", at)) >= 0:
        kept.append(page[at:opens])
        at = page.find("-->", opens)
        if at < 0:
            return "".join(kept)
    return "".join((*kept, page[at:]))
