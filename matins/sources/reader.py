"""One read of one source, as a reading: what was found, or why nothing could be."""

from __future__ import annotations

from matins.rules.errors import ProviderRefused, ProviderUnavailable
from matins.rules.evidence import Cursor, Reading, ReadOutcome
from matins.sources.feed import read_feed
from matins.sources.fetch import Fetched, Fetcher


def read(fetcher: Fetcher, url: str, *, cursor: Cursor) -> Reading:
    """What is at `url` since `cursor`. Never raises for what an outsider did: the reading says it.

    A failed read hands back the cursor it was given. NONE means reached: not modified, or a feed without items.
    """
    try:
        fetched = fetcher.get(url, cursor=cursor)
        return _unmodified(fetched, cursor) if fetched.status == 304 else _read(fetched)
    except ProviderUnavailable as unavailable:
        return _failed(ReadOutcome.UNREACHABLE, unavailable.message, cursor, unavailable.retry_after)
    except ProviderRefused as refused:
        return _failed(ReadOutcome.INVALID, refused.message, cursor, None)


def _read(fetched: Fetched) -> Reading:
    title, items = read_feed(fetched.body, content_type=fetched.content_type, url=fetched.final_url)
    return Reading(
        reached=True,
        outcome=ReadOutcome.NEW if items else ReadOutcome.NONE,
        items=items,
        cursor=fetched.cursor,
        title=title,
        retry_after=fetched.retry_after,
    )


def _unmodified(fetched: Fetched, cursor: Cursor) -> Reading:
    return Reading(reached=True, outcome=ReadOutcome.NONE, cursor=cursor, retry_after=fetched.retry_after)


def _failed(outcome: ReadOutcome, reason: str, cursor: Cursor, retry_after: float | None) -> Reading:
    return Reading(reached=False, outcome=outcome, cursor=cursor, reason=reason, retry_after=retry_after)
