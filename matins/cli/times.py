"""Times and durations as a person reads them, always in one named zone."""

from __future__ import annotations

from datetime import date, datetime

from matins.rules import calendar

DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
LONG_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip


def clock(at: datetime | None, zone: str) -> str:
    """`05:01` in the zone, or nothing."""
    return at.astimezone(calendar.zone(zone)).strftime("%H:%M") if at else ""


def second(at: datetime | None, zone: str) -> str:
    """`05:01:31` in the zone, or nothing."""
    return at.astimezone(calendar.zone(zone)).strftime("%H:%M:%S") if at else ""


def moment(at: datetime, zone: str, *, now: datetime) -> str:
    """`05:01` on the day of `now` in the zone, else `Fri 27 Nov 05:01`, with its year in another one."""
    day, today = calendar.local_date(at, zone), calendar.local_date(now, zone)
    if day == today:
        return clock(at, zone)
    return f"{short_day(day) if day.year != today.year else short_day(day)[:-5]} {clock(at, zone)}"


def long_day(day: date) -> str:
    """`Monday 30 November 2026`."""
    return f"{LONG_DAYS[day.weekday()]} {day.day} {MONTHS[day.month - 1]} {day.year}"


def short_day(day: date) -> str:
    """`Mon 30 Nov 2026`."""
    return f"{DAYS[day.weekday()]} {day.day} {MONTHS[day.month - 1][:3]} {day.year}"


def place(zone: str) -> str:
    """`New York` for `America/New_York`."""
    return zone.rpartition("/")[2].replace("_", " ")


def ago(seconds: float) -> str:
    """`2 min ago`, `now`, `3 h ago`."""
    if seconds < 60:
        return "just now"
    if seconds < 5400:
        return f"{round(seconds / 60)} min ago"
    return f"{round(seconds / 3600)} h ago" if seconds < 172800 else f"{round(seconds / 86400)} days ago"


def parse_day(text: str) -> date:
    """The date in `YYYY-MM-DD`. Raises typer's usage error naming the text."""
    import typer

    try:
        return date.fromisoformat(text)
    except ValueError:
        raise typer.BadParameter(f'"{text[:20]}" is not a date; write it as 2026-11-30') from None
