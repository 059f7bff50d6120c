"""Local dates and windows. The only place that derives a local date, and only from the pinned tzdata package.

The system's zone files are set aside (`zoneinfo.reset_tzpath`): where they are older than the package they give the
wrong date for some owners. An owner's day is the local date of the database's instant; a window is the two instants
at which its wall times are first reached on that date.
"""

from __future__ import annotations

import zoneinfo
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from importlib import metadata

from matins.rules.errors import ProfileRefused

zoneinfo.reset_tzpath(to=[])

TZDATA = metadata.version("tzdata")


@dataclass(frozen=True, slots=True)
class Window:
    """One local day of one profile, as instants in UTC."""

    local_date: date
    day_starts_at: datetime
    opens_at: datetime
    ready_by_at: datetime
    useful_until_at: datetime


def zone(name: str) -> zoneinfo.ZoneInfo:
    """The zone called `name`. Raises ProfileRefused if the pinned table has no such zone."""
    try:
        if name != name.strip() or ("/" not in name and name != "UTC"):
            raise KeyError(name)
        return zoneinfo.ZoneInfo(name)
    except (KeyError, ValueError, OSError) as unknown:
        raise ProfileRefused(f'unknown zone "{name[:60]}"; use a name like "Europe/London"') from unknown


def is_known(name: str) -> bool:
    """Whether the pinned table has a zone called `name`."""
    try:
        zone(name)
    except ProfileRefused:
        return False
    return True


def local_date(at: datetime, zone_name: str) -> date:
    """The date on the wall at the instant `at` in the zone."""
    return at.astimezone(zone(zone_name)).date()


def first_instant(day: date, wall: time, zone_name: str) -> datetime:
    """The first instant, in UTC, whose local time on `day` is `wall` or later.

    Inside a gap that is the first instant after it; inside a fold it is the first pass.
    """
    tz = zone(zone_name)
    late = datetime.combine(day, wall, tz).astimezone(UTC)
    early = datetime.combine(day, wall, tz).replace(fold=1).astimezone(UTC)
    if late <= early:
        return late  # an ordinary time, or the first pass of a fold
    while late - early > timedelta(seconds=1):  # a gap: its end lies between the two readings
        middle = early + (late - early) / 2
        if middle.astimezone(tz).replace(tzinfo=None) >= datetime.combine(day, wall):
            late = middle
        else:
            early = middle
    return late.replace(microsecond=0)


def window(at: datetime, zone_name: str, *, opens: time, ready_by: time, useful_until: time) -> Window:
    """The day that the instant `at` falls in, and its window."""
    day = local_date(at, zone_name)
    return window_on(day, zone_name, opens=opens, ready_by=ready_by, useful_until=useful_until)


def window_on(day: date, zone_name: str, *, opens: time, ready_by: time, useful_until: time) -> Window:
    """The window of one local day.

    A time that falls with the opening into one gap would be over as it begins: it keeps its distance from the opening,
    so that a morning whose whole window is skipped is still run once.
    """
    opens_at = first_instant(day, opens, zone_name)

    def after_opening(wall: time) -> datetime:
        at = first_instant(day, wall, zone_name)
        return at if at > opens_at else opens_at + (datetime.combine(day, wall) - datetime.combine(day, opens))

    useful_until_at = after_opening(useful_until)
    return Window(
        local_date=day,
        day_starts_at=first_instant(day, time(0), zone_name),
        opens_at=opens_at,
        ready_by_at=min(after_opening(ready_by), useful_until_at),
        useful_until_at=useful_until_at,
    )


def days(first: date, last: date, zone_name: str) -> list[date]:
    """Every date from `first` to `last` that the zone's wall has shown: a date that it skipped is not one."""
    found = [first + timedelta(days=offset) for offset in range((last - first).days + 1)]
    return [day for day in found if local_date(first_instant(day, time(0), zone_name), zone_name) == day]
