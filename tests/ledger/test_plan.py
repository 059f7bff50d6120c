"""What is owed on which local date: declared when the day starts, queued when its window opens, missed when over."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest
from psycopg import Connection

from matins.ledger import decision, plan, profile, today
from matins.rules import calendar
from tests.ledger.clock import Clock
from tests.ledger.factory import Factory

SEVENTEENTH = "ada/morning/2026-08-17"


def _owed(conn: Connection[Any], owner: str = "ada", product: str = "morning") -> dict[str, str]:
    found = conn.execute(
        "select local_date, status from obligation where owner = %s and product = %s order by local_date",
        (owner, product),
    )
    return {day.isoformat(): status for day, status in found.fetchall()}


def _row(conn: Connection[Any], key: str) -> dict[str, Any]:
    found = conn.execute("select to_jsonb(obligation) from obligation where key = %s", (key,)).fetchone()
    assert found is not None
    return dict(found[0])


def _misplace(conn: Connection[Any], owner: str, zone: str) -> None:
    conn.execute("update profile set zone = %s where owner = %s", (zone, owner))


def _walk(make: Factory, clock: Clock, first: str, last: str, *, minutes: int = 30) -> None:
    """Plan from `first` to `last`, every so many minutes."""
    clock.set(first)
    until = date.fromisoformat(last[:10]), last[11:16]
    while True:
        now = clock.now()
        if (now.date(), now.strftime("%H:%M")) > until:
            return
        plan.plan(make.conn)
        clock.forward(minutes * 60)


def test_an_hour_before_midnight_in_utc_a_london_owner_is_owed_the_next_day_and_nothing_is_queued(
    factory: Factory, clock: Clock
) -> None:
    clock.set("2026-08-16T22:50+00:00")
    factory.owner()
    clock.set("2026-08-16T23:20+00:00")  # twenty past midnight in London
    done = plan.plan(factory.conn)
    assert (SEVENTEENTH in done.declared, done.queued) == (True, [])
    assert _owed(factory.conn)["2026-08-17"] == "declared"
    row = _row(factory.conn, SEVENTEENTH)
    assert row["day_starts_at"] == "2026-08-16T23:00:00+00:00"
    assert row["opens_at"] == "2026-08-17T04:00:00+00:00"
    assert row["tzdata"] == calendar.TZDATA


def test_when_the_window_opens_the_morning_is_queued_and_its_brief_is_not(factory: Factory, clock: Clock) -> None:
    factory.scene("obligation/declared")
    clock.set("2026-08-17T03:59:30+00:00")
    assert plan.plan(factory.conn).queued == []
    clock.set("2026-08-17T04:05+00:00")
    assert plan.plan(factory.conn).queued == [SEVENTEENTH]
    assert _owed(factory.conn)["2026-08-17"] == "queued"
    assert _owed(factory.conn, product="brief")["2026-08-17"] == "declared"


def test_planning_again_changes_nothing(factory: Factory) -> None:
    factory.scene("obligation/queued")
    done = plan.plan(factory.conn)
    assert (done.declared, done.restamped, done.queued, done.missed, done.refused) == ([], [], [], [], {})


@pytest.mark.parametrize("zone", ["Asia/Hanoi", "EST5", "", " Europe/Rome ", "GMT+3", "../etc/passwd", "Europe/"])
def test_an_unknown_zone_is_refused_by_name_for_that_owner_only(factory: Factory, clock: Clock, zone: str) -> None:
    clock.set("2026-08-16T20:00+00:00")
    factory.owner("ada")
    factory.owner("bob")
    _misplace(factory.conn, "bob", zone)
    clock.set("2026-08-17T04:05+00:00")
    for _ in range(3):
        done = plan.plan(factory.conn)
    assert _owed(factory.conn, "ada")["2026-08-17"] == "queued"
    assert _owed(factory.conn, "bob") == {}
    assert list(done.refused) == ["bob"]
    found = factory.conn.execute("select subject, kind, count from decision").fetchall()
    assert found == [("owner/bob", "plan.refused", 3)]
    factory.conn.execute("update profile set zone = 'Europe/Rome' where owner = 'bob'")
    assert plan.plan(factory.conn, owner="bob").refused == {}
    assert "2026-08-17" in _owed(factory.conn, "bob")


def test_what_was_declared_before_its_zone_became_unknown_is_still_queued(factory: Factory, clock: Clock) -> None:
    factory.scene("obligation/declared")
    _misplace(factory.conn, "ada", "Asia/Hanoi")
    clock.set("2026-08-17T04:05+00:00")
    done = plan.plan(factory.conn)
    assert (done.queued, list(done.refused)) == ([SEVENTEENTH], ["ada"])


def test_a_morning_unstarted_past_its_useful_time_is_missed_and_its_brief_with_it(
    factory: Factory, clock: Clock
) -> None:
    factory.scene("obligation/queued")
    clock.set("2026-08-17T08:00:01+00:00")
    assert plan.plan(factory.conn).missed == [SEVENTEENTH]
    assert _owed(factory.conn)["2026-08-17"] == _owed(factory.conn, product="brief")["2026-08-17"] == "missed"


@pytest.mark.parametrize("scene", ["running", "running_dead", "queued_again", "succeeded", "exhausted"])
def test_a_morning_that_was_started_is_never_missed(factory: Factory, clock: Clock, scene: str) -> None:
    factory.scene(f"obligation/{scene}")
    clock.set("2026-08-17T09:00+00:00")
    assert plan.plan(factory.conn).missed == []


def test_a_day_whose_useful_time_had_passed_before_the_owner_came_is_not_owed(factory: Factory, clock: Clock) -> None:
    clock.set("2026-08-17T08:30+00:00")  # half past nine in London; useful until nine
    factory.owner()
    assert plan.plan(factory.conn).declared == []
    clock.set("2026-08-17T23:05+00:00")
    assert plan.plan(factory.conn).declared == ["ada/morning/2026-08-18"]


def test_days_on_which_nobody_planned_are_rows_and_missed(factory: Factory, clock: Clock) -> None:
    factory.scene("obligation/exhausted")
    clock.set("2026-08-20T04:05+00:00")
    done = plan.plan(factory.conn)
    assert done.missed == ["ada/morning/2026-08-18", "ada/morning/2026-08-19"]
    assert _owed(factory.conn) == {
        "2026-08-17": "exhausted", "2026-08-18": "missed", "2026-08-19": "missed", "2026-08-20": "queued",
    }  # fmt: skip
    assert _owed(factory.conn, product="brief")["2026-08-18"] == "missed"


def test_a_changed_profile_restamps_what_has_not_started_with_a_line_in_the_audit(factory: Factory) -> None:
    factory.scene("obligation/declared")
    factory.owner(window="06:00-10:00", ready_by="07:00")
    assert plan.plan(factory.conn).restamped == ["ada/brief/2026-08-17", SEVENTEENTH]
    row = _row(factory.conn, SEVENTEENTH)
    assert (row["profile_version"], row["opens_at"]) == (2, "2026-08-17T05:00:00+00:00")
    assert _row(factory.conn, "ada/brief/2026-08-17")["profile_version"] == 2
    found = factory.conn.execute(
        "select facts from audit where event = 'obligation.restamped' and subject = %s", (f"obligation/{SEVENTEENTH}",)
    ).fetchall()
    assert [facts["profile"] for (facts,) in found] == [2]


def test_another_zone_table_restamps_what_has_not_started(factory: Factory) -> None:
    factory.scene("obligation/declared")
    factory.conn.execute("update obligation set tzdata = '2025.1', opens_at = opens_at + interval '1 hour'")
    assert SEVENTEENTH in plan.plan(factory.conn).restamped
    row = _row(factory.conn, SEVENTEENTH)
    assert (row["tzdata"], row["opens_at"]) == (calendar.TZDATA, "2026-08-17T04:00:00+00:00")


@pytest.mark.parametrize("scene", ["queued", "running", "queued_again", "succeeded", "exhausted", "missed"])
def test_a_changed_profile_does_not_touch_what_has_been_queued_or_is_over(factory: Factory, scene: str) -> None:
    factory.scene(f"obligation/{scene}")
    factory.owner(window="06:00-10:00", ready_by="07:00")
    assert plan.plan(factory.conn).restamped == []
    assert _row(factory.conn, SEVENTEENTH)["profile_version"] == 1


def test_a_queued_morning_keeps_its_profile_while_anothers_of_the_same_day_is_restamped(factory: Factory) -> None:
    factory.scene("obligation/declared", owner="bob")
    factory.scene("obligation/declared")
    today.ask(factory.conn, "ada")
    for owner in ("ada", "bob"):
        factory.owner(owner, long=7)
    assert plan.plan(factory.conn).restamped == ["bob/brief/2026-08-17", "bob/morning/2026-08-17"]
    assert _row(factory.conn, SEVENTEENTH)["profile_version"] == 1


def test_an_owner_who_travels_west_keeps_the_next_day_for_the_new_zone(factory: Factory, clock: Clock) -> None:
    clock.set("2026-08-16T20:00+00:00")  # the 17th in Auckland, the 16th in Honolulu
    factory.owner(zone="Pacific/Auckland")
    plan.plan(factory.conn)
    clock.set("2026-08-17T13:00+00:00")  # the 18th in Auckland, the 17th in Honolulu
    plan.plan(factory.conn)
    factory.owner(zone="Pacific/Honolulu")
    plan.plan(factory.conn)
    assert _row(factory.conn, "ada/morning/2026-08-18")["opens_at"] == "2026-08-18T15:00:00+00:00"
    _walk(factory, clock, "2026-08-17T13:30+00:00", "2026-08-19T20:00+00:00")
    assert list(_owed(factory.conn))[-3:] == ["2026-08-17", "2026-08-18", "2026-08-19"]


@pytest.mark.parametrize(
    ("zone", "window", "first", "last", "days"),
    [
        ("America/Los_Angeles", "00:00-03:00", "2026-03-07T08:00", "2026-03-10T20:00", ["07", "08", "09", "10"]),
        ("Europe/London", "01:30-01:45", "2026-03-28T00:00", "2026-03-30T12:00", ["28", "29", "30"]),
        ("Europe/London", "01:30-02:45", "2026-10-24T00:00", "2026-10-26T12:00", ["24", "25", "26"]),
        ("Antarctica/Troll", "01:15-02:45", "2026-03-28T00:00", "2026-03-30T12:00", ["28", "29", "30"]),
        ("Antarctica/Troll", "01:15-02:45", "2026-10-24T00:00", "2026-10-26T12:00", ["24", "25", "26"]),
        ("Africa/Cairo", "00:10-03:00", "2026-04-23T00:00", "2026-04-25T12:00", ["23", "24", "25"]),
    ],
)
def test_each_local_date_is_owed_once_and_queued_whatever_the_clocks_do(
    factory: Factory, clock: Clock, zone: str, window: str, first: str, last: str, days: list[str]
) -> None:
    clock.set(f"{first}+00:00")
    factory.owner(zone=zone, window=window, ready_by=window[6:])
    _walk(factory, clock, f"{first}+00:00", last, minutes=15)
    owed = _owed(factory.conn)
    assert [day[-2:] for day in owed] == days
    queued = factory.conn.execute("select subject from audit where event = 'obligation.queued' order by id").fetchall()
    assert [subject[-2:] for (subject,) in queued] == days


def test_a_window_that_falls_whole_into_the_gap_of_spring_opens_at_the_first_instant_after_it_and_keeps_its_length(
    factory: Factory, clock: Clock
) -> None:
    clock.set("2026-03-29T00:00+00:00")
    factory.owner(zone="Antarctica/Troll", window="01:15-02:45", ready_by="02:30")
    plan.plan(factory.conn)
    row = _row(factory.conn, "ada/morning/2026-03-29")
    assert row["opens_at"] == "2026-03-29T01:00:00+00:00"
    assert row["ready_by_at"] == "2026-03-29T02:15:00+00:00"
    assert row["useful_until_at"] == "2026-03-29T02:30:00+00:00"


def test_a_date_that_its_zone_skipped_is_owed_to_nobody(factory: Factory, clock: Clock) -> None:
    clock.set("2011-12-29T12:00+00:00")  # two in the morning of the 29th in Apia
    factory.owner(zone="Pacific/Apia")
    plan.plan(factory.conn)
    clock.set("2012-01-01T00:00+00:00")
    plan.plan(factory.conn)
    assert list(_owed(factory.conn)) == ["2011-12-29", "2011-12-31", "2012-01-01"]


def test_profiles_of_one_shape_are_planned_together_and_each_has_its_own_row(factory: Factory, clock: Clock) -> None:
    clock.set("2026-08-16T22:00+00:00")
    for owner in ("ada", "bob", "cleo"):
        factory.owner(owner)
    factory.owner("dora", zone="Asia/Tokyo")
    clock.set("2026-08-17T04:05+00:00")
    done = plan.plan(factory.conn)
    assert [key for key in done.queued if key.endswith("-17")] == [
        f"{owner}/morning/2026-08-17" for owner in ("ada", "bob", "cleo")
    ]
    assert _owed(factory.conn, "dora")["2026-08-17"] in ("queued", "missed")


def test_one_owner_can_be_planned_alone(factory: Factory, clock: Clock) -> None:
    clock.set("2026-08-17T00:10+00:00")
    factory.owner("ada")
    factory.owner("bob")
    assert plan.plan(factory.conn, owner="bob").declared == ["bob/morning/2026-08-17"]
    assert _owed(factory.conn, "ada") == {}


def test_a_decision_seen_again_is_counted_and_not_repeated(factory: Factory, clock: Clock) -> None:
    for _ in range(4):
        decision.note(factory.conn, "owner/ada", "plan.refused", "unknown zone")
        clock.forward(60)
    decision.note(factory.conn, "owner/ada", "plan.refused", "another reason")
    found = factory.conn.execute(
        "select reason, count, last_seen_at > first_seen_at from decision order by reason"
    ).fetchall()
    assert found == [("another reason", 1, False), ("unknown zone", 4, True)]


def test_versions_of_a_profile_and_its_destinations_are_kept(factory: Factory) -> None:
    factory.owner()
    factory.owner(destinations=[{"name": "work", "address": "ada@work.example", "if_unknown": "let_go"}])
    assert [one.name for one in profile.destinations(factory.conn, "ada", 1)] == ["inbox"]
    assert [(one.name, one.if_unknown) for one in profile.destinations(factory.conn, "ada", 2)] == [("work", "let_go")]
    assert profile.current(factory.conn, "ada").version == 2
    assert profile.owners(factory.conn) == ["ada"]
