"""English in small pieces: counts, lists, times and dates in words, and text folded onto one line.

Month and day names are spelled here because `strftime` follows the process's locale, and same inputs must give same
bytes.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from datetime import date, datetime

from matins.rules import calendar


def word_set(text: str) -> frozenset[str]:
    """The words of `text`, for lists that are better read as prose."""
    return frozenset(text.split())


DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip
NUMBERS = (
    "no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
)  # fmt: skip
"""How counts are said; `NUMBERS[3]` is "three"."""
_INVISIBLE = frozenset("\u00ad\u061c\u180e\u200b\u200e\u200f\u2060\ufeff") | {
    chr(code) for code in (*range(0x202A, 0x202F), *range(0x2066, 0x206A), *range(0xFDD0, 0xFDF0))
}
_JOINING = word_set("a an and as at but by for from in into is its of on or over than that the to with")
"""A cut text does not end in one of these."""
_NOT_PLAIN = re.compile(r"[^\x20-\x7e]")
_WIDE = re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\U00020000-\U0003ffff]")


def fold(text: str) -> str:
    """`text` on one line: breaks, tabs and controls are one space, characters that turn or hide text are gone."""
    return " ".join(_NOT_PLAIN.sub(_plain, text).split())


def _plain(match: re.Match[str]) -> str:
    letter = match.group()
    if letter.isascii():
        return " "
    if letter in _INVISIBLE or ord(letter) & 0xFFFE == 0xFFFE:
        return ""
    match unicodedata.category(letter):
        case "Cc" | "Zl" | "Zp":
            return " "
        case "Cs":
            return ""
    return letter


def paragraphs(text: str) -> Iterator[str]:
    """The paragraphs of `text`, each on one line; empty ones are left out."""
    parts = re.split(r"\n[ \t\r]*\n", text.replace("\r\n", "\n"))
    return filter(None, map(fold, parts))


def words(text: str) -> int:
    """How many words there are to read; in scripts written without spaces, two characters count as one."""
    wide = len(_WIDE.findall(text))
    return len([word for word in _WIDE.sub(" ", text).split() if any(map(str.isalnum, word))]) + (wide + 1) // 2


def cut(text: str, limit: int) -> str:
    """`text` in at most `limit` characters, cut between words and ended with an ellipsis if anything is missing."""
    if len(text) <= limit:
        return text
    room = text[:limit]
    kept = room[:-1].rpartition(" ")[0] if " " in room[:-1] else ""
    if len(kept) < limit // 2:  # one long word, or a script without spaces
        kept = room[:-1].rstrip("0123456789.,:/")  # half a number is another number
    while (shorter := kept.rpartition(" "))[2].casefold() in _JOINING and shorter[0]:
        kept = shorter[0]
    return kept.rstrip(" ,;:·-–—(“\"'") + "…"


def number(count: int) -> str:
    """`count` as a word up to twelve, then in digits."""
    return NUMBERS[count] if 0 <= count < len(NUMBERS) else f"{count:,}"


def counted(count: int, one: str, many: str = "") -> str:
    """`count` in digits with its noun: "1 story", "9 stories"."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def listed(parts: Sequence[str]) -> str:
    """The parts as an English list: "a, b and c"."""
    return ", ".join(parts) if len(parts) < 2 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def capital(text: str) -> str:
    """`text` with its first letter in upper case."""
    return text[:1].upper() + text[1:]


def long_date(day: date) -> str:
    """ "Monday 30 November 2026"."""
    return f"{DAYS[day.weekday()]} {day.day} {MONTHS[day.month - 1]} {day.year}"


def weekday_or_date(day: date, *, today: date) -> str:
    """`day` as one names it on `today`: "Monday" up to six days back, else "24 November", "24 November 2025"."""
    if 0 < (today - day).days <= 6:
        return DAYS[day.weekday()]
    return f"{day.day} {MONTHS[day.month - 1]}{'' if day.year == today.year else f' {day.year}'}"


def told_you(told_on: str, *, today: date, by_headline: bool) -> str:
    """What stands before the sentence that is new in a story told on that ISO date, or says that its headline is."""
    day = weekday_or_date(date.fromisoformat(told_on), today=today)
    return f"Told you on {day}. {'The headline is new.' if by_headline else 'New:'}"


def short_date(day: date) -> str:
    """ "Mon 30 Nov"."""
    return f"{DAYS[day.weekday()][:3]} {day.day} {MONTHS[day.month - 1][:3]}"


def clock(at: datetime, zone: str) -> str:
    """ "05:10" in the zone."""
    return f"{at.astimezone(calendar.zone(zone)):%H:%M}"


def moment(at: datetime, zone: str, *, day: date) -> str:
    """`at` as one says it on `day`: "05:10", "Sun 22:10", "24 Nov", "24 Nov 2019"."""
    local = calendar.local_date(at, zone)
    match (day - local).days:
        case 0:
            return clock(at, zone)
        case past if 0 < past < 6:
            return f"{DAYS[local.weekday()][:3]} {clock(at, zone)}"
    dated = f"{local.day} {MONTHS[local.month - 1][:3]}"
    return dated if local.year == day.year else f"{dated} {local.year}"


def since(at: datetime, zone: str, *, day: date) -> str:
    """Since when, in words: "since 04:40", "since Fri 27", "since 3 Nov"."""
    local = calendar.local_date(at, zone)
    match (day - local).days:
        case 0:
            return f"since {clock(at, zone)}"
        case past if 0 < past < 7:
            return f"since {DAYS[local.weekday()][:3]} {local.day}"
    return f"since {moment(at, zone, day=day)}"


def place(zone: str) -> str:
    """The city of a zone: "London" for Europe/London."""
    return zone.rpartition("/")[2].replace("_", " ")
