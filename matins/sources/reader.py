"""One read of one source, as a reading: what was found, or why nothing could be."""

from __future__ import annotations

from dataclasses import replace

from matins.rules.canonical import sha256
from matins.rules.errors import ProviderRefused, ProviderUnavailable
from matins.rules.evidence import Cursor, Reading, ReadOutcome, SourceKind
from matins.sources import boards
from matins.sources.address import canonical_url
from matins.sources.feed import Feed, older_page, read_feed
from matins.sources.fetch import Fetched, Fetcher


def read(fetcher: Fetcher, url: str, *, cursor: Cursor, kind: SourceKind = SourceKind.FEED) -> Reading:
    """What is at `url` since `cursor`. Never raises for what an outsider did: the reading says it.

    The cursor moves only where a document was read to its end; any other read hands back the one it was given. NONE
    means reached: not modified (by the server's word, or the same bytes), or a document without items.
    """
    try:
        return reading_of(fetcher.look(url, cursor=cursor), cursor=cursor, kind=kind)
    except ProviderUnavailable as unavailable:
        return _failed(ReadOutcome.UNREACHABLE, unavailable.message, cursor, unavailable.retry_after)
    except ProviderRefused as refused:
        return _failed(ReadOutcome.INVALID, refused.message, cursor, None)


def reading_of(fetched: Fetched, *, cursor: Cursor, kind: SourceKind = SourceKind.FEED) -> Reading:
    """What an answer says.

    Raises ProviderRefused for what is no such document, and ProviderUnavailable for one that broke off too early.
    """
    if fetched.status == 410:
        return _failed(ReadOutcome.GONE, "gone (410)", cursor, fetched.retry_after)
    if fetched.status == 304:
        return Reading(True, ReadOutcome.NONE, cursor=cursor, retry_after=fetched.retry_after, unmodified=True)
    there = canonical_url(fetched.final_url) if fetched.moved else ""
    if fetched.broke_off:
        return replace(_beginning(fetched, cursor, kind), moved_to=there)
    seen = replace(fetched.cursor, body_hash=sha256(fetched.body))
    if seen.body_hash == cursor.body_hash:
        found = Reading(True, ReadOutcome.NONE, cursor=seen, unmodified=True)
    else:
        found = _found(_document(fetched, kind), seen, cursor)
    return replace(found, moved_to=there, retry_after=fetched.retry_after)


def _document(fetched: Fetched, kind: SourceKind) -> Feed:
    if not kind.is_board:
        return read_feed(fetched.body, content_type=fetched.content_type, url=fetched.final_url)
    title, items = boards.read_board(fetched.body, kind=kind, url=fetched.final_url)
    onward = boards.next_page(kind, fetched.final_url, items)
    return Feed(title, items, older_page(onward, of=fetched.final_url))


def _found(feed: Feed, seen: Cursor, cursor: Cursor) -> Reading:
    if feed.broken:
        return _partial(feed, cursor)
    outcome = ReadOutcome.NEW if feed.items else ReadOutcome.NONE
    return Reading(True, outcome, feed.items, seen, feed.title, next_url=feed.next_url)


def _beginning(fetched: Fetched, cursor: Cursor, kind: SourceKind) -> Reading:
    """The whole entries of a body that broke off. A board's roles count together, so that a part says nothing."""
    try:
        feed = Feed("", ()) if kind.is_board else _document(fetched, kind)
    except ProviderRefused:
        feed = Feed("", ())
    if not feed.items:
        raise ProviderUnavailable(fetched.broke_off, retry_after=fetched.retry_after)
    return replace(_partial(feed, cursor), retry_after=fetched.retry_after)


def _partial(feed: Feed, cursor: Cursor) -> Reading:
    count = len(feed.items)
    reason = f"broke off after {count} {'entry' if count == 1 else 'entries'}"
    return Reading(True, ReadOutcome.PARTIAL, feed.items, cursor, feed.title, reason)


def _failed(outcome: ReadOutcome, reason: str, cursor: Cursor, retry_after: float | None) -> Reading:
    return Reading(reached=False, outcome=outcome, cursor=cursor, reason=reason, retry_after=retry_after)
