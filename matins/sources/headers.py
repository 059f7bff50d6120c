"""What the headers of an answer say."""

from __future__ import annotations

from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

_LONGEST_WAIT = 86_400.0


def charset_of(content_type: str) -> str:
    """The charset that a Content-Type header names, in lower case; "" if none."""
    for parameter in content_type.split(";")[1:]:
        name, _, value = parameter.partition("=")
        if name.strip().lower() == "charset":
            return value.strip().strip("\"'").lower()
    return ""


def retry_after(value: str, *, date: str) -> float | None:
    """Seconds of a Retry-After header (RFC 9110 section 10.2.3), at most a day; None if it cannot be read.

    A date is compared with the answer's own Date header where it has one: two readings of the same clock.
    """
    if value.strip().isascii() and value.strip().isdigit():
        return min(float(value[:20]), _LONGEST_WAIT)
    until = _http_date(value)
    if until is None:
        return None
    since = _http_date(date) or datetime.now(UTC)
    return min(max((until - since).total_seconds(), 0.0), _LONGEST_WAIT)


def _http_date(text: str) -> datetime | None:
    try:
        found = parsedate_to_datetime(text)
    except (ValueError, IndexError, TypeError, OverflowError):
        return None
    return found if found.tzinfo else found.replace(tzinfo=UTC)
