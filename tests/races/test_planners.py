"""Several that plan, ask or apply at once meet the same rows."""

from __future__ import annotations

import pytest
from psycopg.errors import UniqueViolation

from matins.ledger import evidence, plan, profile, source, today
from matins.rules import keys
from matins.rules.canonical import sha256
from matins.rules.profile import parse
from tests.ledger.factory import EVENING, NIGHT, OPEN, URL, Factory, item
from tests.ledger.test_evidence import _freeze, _subscribed
from tests.ledger.test_ingest import read
from tests.races.race import Act, Race

KEY = "ada/morning/2026-08-17"


def _plan(make: Factory) -> plan.Planned:
    return plan.plan(make.conn)


def _ask(make: Factory) -> str:
    return today.ask(make.conn, "ada")


def _declare_only(make: Factory) -> None:
    """What a planner has done before it comes to queueing."""
    make.conn.execute("select 1 from obligation where key = %s for no key update", (KEY,))


def _apply(**changes: object) -> Act:
    asked = {"owner": "ada", "zone": "Europe/London", "window": "05:00-09:00"}
    return lambda make: profile.apply(make.conn, parse(asked | changes, where="this test"))


def _count(race: Race, event: str) -> int:
    return sum(line["event"] == event for line in race.tables()["audit"].values())


def _at(race: Race, instant: str, *owners: str) -> None:
    race.clock.set(EVENING)
    for owner in owners:
        race.first.owner(owner)
    race.clock.set(instant)


def test_of_two_planners_one_declares_and_neither_fails(race: Race) -> None:
    _at(race, NIGHT, "ada", "bob", "cleo")
    second = race.run(_plan, _plan)
    assert second.result().declared == []
    assert len(race.tables()["obligation"]) == 6
    assert _count(race, "obligation.declared") == 6


def test_a_planner_whose_rival_rolls_back_declares_everything(race: Race) -> None:
    _at(race, NIGHT, "ada", "bob")
    second = race.run(_plan, _plan, undo=True)
    assert second.result().declared == [KEY, "bob/morning/2026-08-17"]
    assert len(race.tables()["obligation"]) == 4


def test_of_two_planners_one_queues(race: Race) -> None:
    _at(race, OPEN, "ada")
    second = race.run(_plan, _plan)
    assert second.result().queued == []
    assert _count(race, "obligation.queued") == 1


def test_a_planner_passes_over_a_morning_that_somebody_moves_now(race: Race) -> None:
    race.first.scene("obligation/declared")
    race.clock.set(OPEN)
    with race.held_by(_ask):
        assert _plan(race.second).queued == []
    assert _count(race, "obligation.queued") == 1


def test_of_two_that_ask_at_once_both_get_the_one_row_queued_once(race: Race) -> None:
    _at(race, NIGHT, "ada")
    second = race.run(_ask, _ask)
    assert second.result() == KEY
    assert _count(race, "obligation.declared") == 2
    assert _count(race, "obligation.queued") == 1


def test_asking_while_a_planner_declares_meets_its_row_and_queues_it(race: Race) -> None:
    _at(race, NIGHT, "ada")
    asked = race.run(_plan, _ask)
    assert asked.result() == KEY
    assert race.tables()["obligation"][(KEY,)]["status"] == "queued"
    assert _count(race, "obligation.declared") == 2


@pytest.mark.parametrize("undo", [False, True])
def test_asking_waits_for_a_planner_that_holds_the_row_and_queues_it_then(race: Race, undo: bool) -> None:
    race.first.scene("obligation/declared")
    asked = race.run(_declare_only, _ask, undo=undo)
    assert asked.result() == KEY
    assert race.tables()["obligation"][(KEY,)]["status"] == "queued"


def test_asking_while_a_planner_queues_changes_nothing_more(race: Race) -> None:
    race.first.scene("obligation/declared")
    race.clock.set(OPEN)
    asked = race.run(_plan, _ask)
    assert asked.result() == KEY
    assert _count(race, "obligation.queued") == 1


def test_a_morning_claimed_at_its_last_moment_is_not_missed(race: Race) -> None:
    at = race.first.scene("obligation/queued_late")
    with race.held_by(lambda make: make.claim(at.work_key)):
        assert _plan(race.second).missed == []
    assert _plan(race.second).missed == []


def test_a_morning_that_is_missed_while_a_worker_waits_is_closed_to_it(race: Race) -> None:
    at = race.first.scene("obligation/queued_late")
    lost = race.run(_plan, lambda make: make.claim(at.work_key))
    assert type(lost.exception()).__name__ == "Closed"
    assert race.tables()["obligation"][(at.key,)]["status"] == "missed"


def test_the_same_new_profile_applied_twice_at_once_is_one_version(race: Race) -> None:
    second = race.run(_apply(), _apply())
    assert (second.result().version, second.result().changed) == (1, False)
    assert len(race.tables()["profile"]) == 1


def test_the_same_change_applied_twice_at_once_is_one_version(race: Race) -> None:
    _apply()(race.first)
    second = race.run(_apply(ready_by="07:00"), _apply(ready_by="07:00"))
    assert (second.result().version, second.result().changed) == (2, False)


def test_two_changes_applied_at_once_are_two_versions_and_the_later_one_stands(race: Race) -> None:
    _apply()(race.first)
    second = race.run(_apply(ready_by="07:00"), _apply(ready_by="08:00"))
    assert (second.result().version, second.result().changed) == (3, True)
    assert profile.current(race.clock.conn, "ada").document["ready_by"] == "08:00"


def test_a_change_whose_rival_rolls_back_is_the_next_version(race: Race) -> None:
    _apply()(race.first)
    second = race.run(_apply(ready_by="07:00"), _apply(ready_by="08:00"), undo=True)
    assert second.result().version == 2


def test_two_owners_who_add_one_source_at_once_share_it(race: Race) -> None:
    _at(race, NIGHT, "ada", "bob")
    second = race.run(
        lambda make: source.add(make.conn, "ada", url=URL, name="gazette"),
        lambda make: source.add(make.conn, "bob", url=URL, name="news"),
    )
    assert second.result() is True
    assert len(race.tables()["source"]) == 1
    assert len(race.tables()["subscription"]) == 2


def test_two_mornings_that_ask_for_the_same_sources_at_once_both_get_them(race: Race) -> None:
    _subscribed(race.first, "ada", "bob")
    for owner in ("ada", "bob"):
        source.add(race.first.conn, owner, url=f"{URL}?2", name="almanac")
    race.clock.set(OPEN)
    plan.plan(race.first.conn)
    both = race.run(
        lambda make: source.ask(make.conn, KEY), lambda make: source.ask(make.conn, "bob/morning/2026-08-17")
    )
    assert len(both.result()) == 2


def test_of_two_freezes_of_one_date_the_first_wins_and_both_return_it(race: Race) -> None:
    at = race.first.scene("obligation/running")

    def freeze(content: bytes) -> Act:
        return lambda make: evidence.freeze(
            make.conn, at.key, at.claim, owner="ada", content_hash=sha256(content), content=content, coverage={},
            items=[],
        )  # fmt: skip

    second = race.run(freeze(b"{}"), freeze(b"other"))
    assert second.result().content == b"{}"


def test_one_item_is_in_one_set_of_its_owner_though_two_mornings_freeze_at_once(race: Race) -> None:
    _subscribed(race.first, "ada")
    tomorrow = "ada/morning/2026-08-18"
    for instant in (OPEN, "2026-08-18T04:05+00:00"):
        race.clock.set(instant)
        plan.plan(race.first.conn)
        race.first.claim(keys.obligation_work(KEY if instant == OPEN else tomorrow))
    read(race.first, item("a"))
    found = evidence.fresh(race.first.conn, tomorrow)
    race.clock.forward(1000)
    lost = race.run(lambda make: _freeze(make, KEY, found), lambda make: _freeze(make, tomorrow, found))
    assert type(lost.exception()) is UniqueViolation
    assert [row["key"] for row in race.tables()["evidence_item"].values()] == [KEY]
    assert evidence.fresh(race.clock.conn, tomorrow) == []
