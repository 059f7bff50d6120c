"""Asking for today's morning by hand meets the planner's own row."""

from __future__ import annotations

from datetime import date

import pytest

from matins.ledger import plan, today
from matins.rules.errors import DateConflict, NoSuchRow, ProfileMissing, ProfileRefused
from tests.ledger.clock import Clock
from tests.ledger.factory import Factory
from tests.ledger.tables import tables

KEY = "ada/morning/2026-08-17"


def test_asking_before_the_window_opens_queues_the_row_that_the_planner_declared(factory: Factory) -> None:
    at = factory.scene("obligation/declared")
    assert today.ask(factory.conn, "ada") == at.key
    found = factory.conn.execute(
        "select status, queued_at < opens_at from obligation where key = %s", (KEY,)
    ).fetchone()
    assert found == ("queued", True)
    told = factory.conn.execute("select facts from audit where event = 'obligation.queued'").fetchall()
    assert told == [({"early": True},)]


def test_asking_where_nobody_has_planned_declares_the_same_row(factory: Factory) -> None:
    factory.scene("obligation/undeclared")
    assert today.ask(factory.conn, "ada") == KEY
    assert plan.plan(factory.conn).declared == []


@pytest.mark.parametrize("scene", ["queued", "running", "succeeded", "exhausted", "missed"])
def test_asking_again_answers_the_row_as_it_is(factory: Factory, scene: str) -> None:
    at = factory.scene(f"obligation/{scene}")
    before = tables(factory.conn)
    assert today.ask(factory.conn, "ada") == at.key
    assert tables(factory.conn) == before


def test_a_date_that_is_not_the_owners_today_is_refused_naming_both(factory: Factory) -> None:
    factory.scene("obligation/declared")
    before = tables(factory.conn)
    with pytest.raises(DateConflict) as refused:
        today.ask(factory.conn, "ada", on=date(2026, 8, 16))
    assert "2026-08-17" in refused.value.message
    assert "2026-08-16" in refused.value.message
    assert tables(factory.conn) == before
    assert today.ask(factory.conn, "ada", on=date(2026, 8, 17)) == KEY


def test_today_is_the_owners_date_at_the_databases_instant(factory: Factory, clock: Clock) -> None:
    clock.set("2026-12-10T23:30+00:00")
    factory.owner(zone="Africa/Casablanca")  # the 10th by today's rules, the 11th by those of 2025
    assert today.today(factory.conn, "ada") == date(2026, 12, 10)
    factory.owner("bob", zone="Asia/Tokyo")
    assert today.today(factory.conn, "bob") == date(2026, 12, 11)


def test_an_owner_without_a_profile_is_refused_by_name(factory: Factory) -> None:
    with pytest.raises(ProfileMissing, match='no profile for "nobody"'):
        today.ask(factory.conn, "nobody")


def test_an_unknown_zone_is_refused(factory: Factory) -> None:
    factory.owner()
    factory.conn.execute("update profile set zone = 'Asia/Hanoi'")
    with pytest.raises(ProfileRefused, match='unknown zone "Asia/Hanoi"'):
        today.ask(factory.conn, "ada")


def test_a_day_that_is_not_owed_is_refused_by_name(factory: Factory, clock: Clock) -> None:
    clock.set("2026-08-17T08:30+00:00")
    factory.owner()
    with pytest.raises(NoSuchRow, match="nothing is owed to ada today"):
        today.ask(factory.conn, "ada")


def test_asking_for_one_owner_starts_nobody_elses_morning_early(factory: Factory) -> None:
    factory.scene("obligation/declared", owner="bob")
    factory.scene("obligation/declared")
    today.ask(factory.conn, "ada")
    found = factory.conn.execute(
        "select owner, status from obligation where product = 'morning' and local_date = '2026-08-17' order by owner"
    ).fetchall()
    assert found == [("ada", "queued"), ("bob", "declared")]
