"""Dates as feeds write them: RFC 822 (with the four-digit years of RFC 2822) and ISO 8601, and one way between.

A date is a hint and is never guessed: what does not name one day is None. A time without a zone is read as UTC, so
that at least the day is the one that was written.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_HOURS = {
    "z": 0.0, "ut": 0.0, "utc": 0.0, "gmt": 0.0, "wet": 0.0, "west": 1.0, "bst": 1.0, "cet": 1.0, "met": 1.0,
    "cest": 2.0, "mest": 2.0, "eet": 2.0, "eest": 3.0, "msk": 3.0, "jst": 9.0, "kst": 9.0, "acst": 9.5, "aest": 10.0,
    "acdt": 10.5, "aedt": 11.0, "nzst": 12.0, "nzdt": 13.0, "ast": -4.0, "adt": -3.0, "est": -5.0, "edt": -4.0,
    "cst": -6.0, "cdt": -5.0, "mst": -7.0, "mdt": -6.0, "pst": -8.0, "pdt": -7.0, "akst": -9.0, "akdt": -8.0,
    "hst": -10.0,
}  # fmt: skip
"""Zone names of RFC 822, and the others that mean one thing only in feeds."""
_TIME = r"(?P<hour>\d{1,2}):(?P<minute>\d{2})(?::(?P<second>\d{2})(?:[.,]\d+)?)?"
_ZONE = r"\s*(?P<zone>[A-Za-z]{1,5}|(?:GMT|UTC)?[+-]\d{1,2}:?(?:\d{2})?)?(?:\s*\([^()]*\))?"
_DAY_NAME = r"(?:[A-Za-z]{2,9}\.?,?\s+)?"
_MONTH_NAME = r"(?P<month>[A-Za-z]{3})[a-z]*\.?"
_DAY = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_FORMS = tuple(
    re.compile(form, re.IGNORECASE)
    for form in (
        # 2026-11-30T06:04:05Z, 2026-11-30 06:04, 2016/6/29 15:07:41
        rf"(?P<year>\d{{4}})(?P<mark>[-/.])(?P<number>\d{{1,2}})(?P=mark){_DAY}(?:(?:T|\s+){_TIME}{_ZONE})?",
        # Mon, 30 Nov 2026 06:04:05 +0000, 30-Nov-26
        rf"{_DAY_NAME}{_DAY}(?:\s+|-){_MONTH_NAME}(?:\s+|-)(?P<year>\d{{4}}|\d{{2}})(?:,?\s+{_TIME}{_ZONE})?",
        # Mon Nov 30 06:04:05 2026, November 30, 2026 06:04
        rf"{_DAY_NAME}{_MONTH_NAME}\s+{_DAY}\s+{_TIME}{_ZONE}\s+(?P<year>\d{{4}})",
        rf"{_DAY_NAME}{_MONTH_NAME}\s+{_DAY},?\s+(?P<year>\d{{4}})(?:,?\s+{_TIME}{_ZONE})?",
    )
)
_LONGEST = 80


def instant(text: str) -> datetime | None:
    """The instant that `text` names, in UTC; None if it is no date, no full date, or a zone that nobody can know."""
    text = " ".join(text[: _LONGEST + 1].split())
    if len(text) > _LONGEST:
        return None
    for form in _FORMS:
        found = form.fullmatch(text)
        if found:
            return _instant(found.groupdict())
    return None


def _instant(parts: dict[str, str | None]) -> datetime | None:
    month, offset = _month(parts), _offset(parts["zone"])
    if month is None or offset is None:
        return None
    second = int(parts["second"] or 0)
    try:
        wall = datetime(
            _year(parts["year"] or ""), month, int(parts["day"] or 0),
            int(parts["hour"] or 0), int(parts["minute"] or 0), min(second, 59) if second <= 60 else second,
            tzinfo=timezone(offset),
        )  # fmt: skip
        return wall.astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def _month(parts: dict[str, str | None]) -> int | None:
    name = (parts.get("month") or "").lower()
    if name:
        return _MONTHS.index(name) + 1 if name in _MONTHS else None
    return int(parts.get("number") or 0)


def _year(digits: str) -> int:
    """RFC 2822 section 4.3 for years of two digits."""
    year = int(digits)
    return year if len(digits) == 4 else year + (2000 if year < 50 else 1900)


def _offset(zone: str | None) -> timedelta | None:
    name = (zone or "Z").lower()
    number = re.fullmatch(r"(?:gmt|utc)?([+-])(\d{1,2}):?(\d{2})?", name)
    if number:
        size = timedelta(hours=int(number[2]), minutes=int(number[3] or 0))
        return (-size if number[1] == "-" else size) if size < timedelta(hours=24) else None
    hours = _HOURS.get(name)
    return None if hours is None else timedelta(hours=hours)
