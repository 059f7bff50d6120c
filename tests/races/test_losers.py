"""Two that want the same row: the one that came second is seen to wait, and then loses as it should."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from matins.ledger import action, ending, obligation, sweeps, work
from matins.rules import keys
from matins.rules.errors import LeaseHeld, LeaseLost
from tests.ledger.factory import LEASE, PUT, QUARANTINE, Factory
from tests.races.race import Act, Race, claim, do, only_lock, touch


def test_of_two_claimers_the_second_is_told_that_the_first_holds_it(race: Race) -> None:
    at = race.first.scene("obligation/queued")
    lost = race.run(claim(at, "worker-1"), claim(at))
    assert type(lost.exception()) is LeaseHeld
    assert (race.work(at)["token"], race.work(at)["attempts"]) == (1, 1)


def test_a_claimer_whose_rival_rolls_back_gets_the_work_and_the_next_token(race: Race) -> None:
    at = race.first.scene("obligation/queued")
    won = race.run(claim(at, "worker-1"), claim(at), undo=True)
    assert won.result().token == 1
    assert race.work(at)["holder"] == "worker-2"


@pytest.mark.parametrize("blocker", [only_lock, touch])
def test_a_lease_claimed_after_a_long_wait_is_not_born_expired(race: Race, blocker: Any) -> None:
    at = race.first.scene("obligation/queued")
    won = race.run(blocker(at.work_key), claim(at), meanwhile=lambda: race.clock.forward(3600))
    left = won.result().deadline_at - race.clock.now()
    assert timedelta(seconds=110) < left <= timedelta(seconds=120)
    assert work.still_mine(race.clock.conn, at.work_key, token=1) > LEASE - 2


def test_a_lease_that_was_renewed_while_a_claimer_waited_is_not_taken_over(race: Race) -> None:
    at = race.first.scene("obligation/running")
    race.clock.forward(LEASE - 1)
    lost = race.run(
        lambda make: work.beat(make.conn, [(at.work_key, 1)], lease=LEASE),
        claim(at),
        meanwhile=lambda: race.clock.forward(2),
    )
    assert type(lost.exception()) is LeaseHeld
    assert race.work(at)["token"] == 1


def test_a_lease_that_died_while_a_claimer_waited_is_taken_over(race: Race) -> None:
    at = race.first.scene("obligation/running")
    won = race.run(only_lock(at.work_key), claim(at), meanwhile=lambda: race.clock.forward(LEASE + 1))
    assert won.result().token == 2


def test_a_beat_passes_over_work_that_is_being_claimed_and_loses_it(race: Race) -> None:
    at = race.first.scene("obligation/running_dead")
    with race.held_by(claim(at)):
        assert work.beat(race.second.conn, [(at.work_key, 1)], lease=LEASE) == set()
    assert work.beat(race.second.conn, [(at.work_key, 1)], lease=LEASE) == set()


def test_work_that_is_completed_while_the_sweep_waits_is_not_expired(race: Race) -> None:
    at = race.first.scene("obligation/running_spent")
    lost = race.run(
        do("obligation.complete", at), do("ending.expire", at), meanwhile=lambda: race.clock.forward(LEASE + 1)
    )
    assert lost.result() is False
    assert race.tables()["obligation"][(at.key,)]["status"] == "succeeded"


def test_work_that_is_expired_while_its_holder_waits_is_not_completed(race: Race) -> None:
    at = race.first.scene("obligation/running_spent_dead")
    lost = race.run(do("ending.expire", at), do("obligation.complete", at))
    assert type(lost.exception()) is LeaseLost
    assert race.tables()["obligation"][(at.key,)]["status"] == "exhausted"


def test_a_lease_that_is_renewed_while_the_sweep_waits_is_not_expired(race: Race) -> None:
    at = race.first.scene("obligation/running_spent")
    race.clock.forward(LEASE - 1)
    lost = race.run(
        lambda make: work.beat(make.conn, [(at.work_key, 1)], lease=LEASE),
        do("ending.expire", at),
        meanwhile=lambda: race.clock.forward(2),
    )
    assert lost.result() is False


def test_of_two_sweeps_one_expires(race: Race) -> None:
    at = race.first.scene("obligation/running_spent_dead")
    lost = race.run(do("ending.expire", at), do("ending.expire", at))
    assert lost.result() is False


def test_of_two_that_abandon_an_effect_one_does(race: Race) -> None:
    at = race.first.scene("action/in_flight_dead")
    lost = race.run(do("action.abandon", at), do("action.abandon", at))
    assert lost.result() is None
    assert race.work(at)["in_flight"] == 0


def test_an_effect_is_not_abandoned_whose_owner_renewed_its_lease_meanwhile(race: Race) -> None:
    at = race.first.scene("action/in_flight")
    race.clock.forward(LEASE - 1)
    lost = race.run(
        lambda make: work.beat(make.conn, [(at.work_key, 1)], lease=LEASE),
        do("action.abandon", at),
        meanwhile=lambda: race.clock.forward(2),
    )
    assert lost.result() is None


def test_a_late_record_of_a_dead_publisher_loses_to_the_publication_that_took_over(race: Race) -> None:
    at = race.first.scene("edition/drafted_in_flight_dead")
    name = keys.action(at.key, "publish")

    def take_over_and_publish(make: Factory) -> None:
        taken = make.claim(at.work_key, step="publish", holder="worker-2")
        action.abandon(make.conn, name, token=at.claim.token, quarantine=QUARANTINE)
        make.publish(at.key, taken, content=b"content")

    lost = race.run(
        take_over_and_publish, lambda make: action.record_completed(make.conn, at.claim, key=name, receipt=PUT)
    )
    assert type(lost.exception()) is LeaseLost
    row = race.tables()["action"][(name,)]
    assert (row["generation"], row["token"], row["reference"]) == (2, at.claim.token + 1, f"{at.key}/bundle@1")


def test_of_two_that_advance_a_morning_one_creates_its_continuation(race: Race) -> None:
    at = race.first.scene("obligation/succeeded_unadvanced")
    lost = race.run(do("obligation.advance", at), do("obligation.advance", at))
    assert lost.result() is False
    noted = [line for line in race.tables()["audit"].values() if line["facts"].get("by") == "advance"]
    assert len(noted) == 1


def test_of_two_that_would_restart_stuck_work_one_may(race: Race) -> None:
    at = race.first.scene("obligation/running_dead")
    race.clock.forward(901)
    stamp: Act = lambda make: sweeps.stamp_restart(make.conn, at.work_key, after=900)  # noqa: E731
    assert race.run(stamp, stamp).result() is False


def test_a_failure_recorded_while_a_completion_waits_ends_the_attempt(race: Race) -> None:
    at = race.first.scene("obligation/running")
    lost = race.run(do("ending.fail", at), do("obligation.complete", at))
    assert type(lost.exception()) is LeaseLost
    assert race.tables()["obligation"][(at.key,)]["status"] == "queued"


def test_of_two_completions_with_one_output_the_second_is_answered_alike(race: Race) -> None:
    at = race.first.scene("obligation/running")
    alike = race.run(do("obligation.complete", at), do("obligation.complete", at))
    assert alike.result().next.name == "compose"
    assert len(race.tables()["continuation"]) == 1


def test_a_worker_told_to_stop_does_not_give_back_what_was_taken_over(race: Race) -> None:
    at = race.first.scene("obligation/running_dead")
    lost = race.run(claim(at), do("work.release", at))
    assert type(lost.exception()) is LeaseLost
    assert (race.work(at)["attempts"], race.work(at)["holder"]) == (2, "worker-2")


def test_a_failure_is_recorded_under_its_own_token_only(race: Race) -> None:
    at = race.first.scene("obligation/running_dead")
    lost = race.run(
        claim(at), lambda make: ending.fail(make.conn, at.work_key, token=at.claim.token, reason="too late")
    )
    assert type(lost.exception()) is LeaseLost
    assert obligation.next_move(race.clock.conn, at.key).name == "research"
