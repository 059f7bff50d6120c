"""Local dates and windows, from the pinned zone table, through every change of the clocks."""

from __future__ import annotations

import zoneinfo
from datetime import UTC, date, datetime, time, timedelta

import pytest

from matins.rules import calendar
from matins.rules.errors import ProfileRefused

ZONES = sorted(name for name in zoneinfo.available_timezones() if "/" in name)
WALLS = (time(0), time(0, 30), time(1, 15), time(2, 30), time(3, 10))
WINDOW = {"opens": time(5), "ready_by": time(6, 30), "useful_until": time(9)}


def _utc(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def _changes(zone: zoneinfo.ZoneInfo, first: date, last: date) -> list[date]:
    """The dates on which the offset of `zone` changes."""
    found, day = [], first
    while day < last:
        noon = datetime.combine(day, time(12), UTC)
        if noon.astimezone(zone).utcoffset() != (noon + timedelta(days=1)).astimezone(zone).utcoffset():
            found += [day, day + timedelta(days=1)]
        day += timedelta(days=1)
    return found


def test_the_zone_table_is_the_pinned_package_and_not_the_systems() -> None:
    assert zoneinfo.TZPATH == ()
    assert calendar.TZDATA >= "2026"
    at = _utc("2026-12-10T23:30")
    assert calendar.local_date(at, "Africa/Casablanca") == date(2026, 12, 10)


@pytest.mark.parametrize(
    ("day", "zone", "first"),
    [
        ("2026-04-24", "Africa/Cairo", "2026-04-23T22:00"),
        ("2026-09-06", "America/Santiago", "2026-09-06T04:00"),
        ("2026-03-08", "America/Havana", "2026-03-08T05:00"),
        ("2026-03-29", "Asia/Beirut", "2026-03-28T22:00"),
        ("2026-08-17", "Europe/London", "2026-08-16T23:00"),
        ("2026-10-25", "Europe/London", "2026-10-24T23:00"),
        ("2026-08-17", "Asia/Kathmandu", "2026-08-16T18:15"),
    ],
)
def test_a_day_starts_at_the_first_instant_that_has_its_date(day: str, zone: str, first: str) -> None:
    found = calendar.first_instant(date.fromisoformat(day), time(0), zone)
    assert found == _utc(first)
    assert calendar.local_date(found, zone).isoformat() == day
    assert calendar.local_date(found - timedelta(microseconds=1), zone).isoformat() < day


@pytest.mark.parametrize(
    ("day", "wall", "zone", "first"),
    [
        ("2026-03-29", time(1, 30), "Europe/London", "2026-03-29T01:00"),  # does not exist: after the gap
        ("2026-10-25", time(1, 30), "Europe/London", "2026-10-25T00:30"),  # exists twice: the first pass
        ("2026-03-29", time(2), "Antarctica/Troll", "2026-03-29T01:00"),
        ("2026-10-25", time(1, 30), "Antarctica/Troll", "2026-10-24T23:30"),
        ("2026-04-05", time(1, 45), "Australia/Lord_Howe", "2026-04-04T14:45"),
    ],
)
def test_a_wall_time_in_a_gap_is_the_instant_after_it_and_in_a_fold_the_first_pass(
    day: str, wall: time, zone: str, first: str
) -> None:
    assert calendar.first_instant(date.fromisoformat(day), wall, zone) == _utc(first)


def test_an_hour_before_midnight_in_utc_is_the_next_day_in_london_in_summer() -> None:
    found = calendar.window(_utc("2026-08-16T23:20"), "Europe/London", **WINDOW)
    assert found.local_date == date(2026, 8, 17)
    assert found.opens_at == _utc("2026-08-17T04:00")
    assert (found.ready_by_at, found.useful_until_at) == (_utc("2026-08-17T05:30"), _utc("2026-08-17T08:00"))


def test_a_window_that_falls_whole_into_a_gap_keeps_its_length_after_it() -> None:
    found = calendar.window_on(
        date(2026, 3, 29), "Antarctica/Troll", opens=time(1, 15), ready_by=time(2), useful_until=time(2, 45)
    )
    assert found.opens_at == _utc("2026-03-29T01:00")
    assert (found.ready_by_at, found.useful_until_at) == (_utc("2026-03-29T01:45"), _utc("2026-03-29T02:30"))


def test_a_window_that_ends_after_a_gap_is_ready_inside_it() -> None:
    found = calendar.window_on(
        date(2026, 3, 29), "Antarctica/Troll", opens=time(1, 15), ready_by=time(2, 45), useful_until=time(3, 10)
    )
    assert found.opens_at < found.ready_by_at <= found.useful_until_at == _utc("2026-03-29T01:10")


@pytest.mark.parametrize("region", sorted({name.partition("/")[0] for name in ZONES}))
def test_around_each_change_of_the_clocks_every_date_is_one_day_and_its_window_is_in_order(region: str) -> None:
    for name in (zone for zone in ZONES if zone.startswith(f"{region}/")):
        table = calendar.zone(name)
        for day in _changes(table, date(2026, 1, 1), date(2028, 1, 1)):
            for wall in WALLS:
                ready = time(wall.hour, wall.minute + 10)
                window = calendar.window_on(day, name, opens=wall, ready_by=ready, useful_until=time(23))
                assert window.day_starts_at <= window.opens_at < window.ready_by_at < window.useful_until_at
                assert calendar.local_date(window.opens_at, name) == day
                before = window.opens_at - timedelta(microseconds=1)
                assert before.astimezone(table).replace(tzinfo=None) < datetime.combine(day, wall)


def test_a_date_that_the_wall_never_showed_is_not_a_day() -> None:
    found = calendar.days(date(2011, 12, 28), date(2012, 1, 1), "Pacific/Apia")
    assert [day.isoformat() for day in found] == ["2011-12-28", "2011-12-29", "2011-12-31", "2012-01-01"]
    assert calendar.days(date(2026, 1, 2), date(2026, 1, 1), "Pacific/Apia") == []


@pytest.mark.parametrize(
    "name", ["Asia/Hanoi", "EST5", "", " Europe/Rome ", "GMT+3", "../etc/passwd", "Europe/", "x" * 99]
)
def test_an_unknown_zone_is_refused_by_name(name: str) -> None:
    with pytest.raises(ProfileRefused) as refused:
        calendar.zone(name)
    assert f'unknown zone "{name[:60]}"' in refused.value.message


def test_utc_and_real_zones_are_known() -> None:
    assert calendar.local_date(_utc("2026-08-16T23:59"), "UTC") == date(2026, 8, 16)
    assert calendar.local_date(_utc("2026-08-16T23:59"), "Asia/Ho_Chi_Minh") == date(2026, 8, 17)
