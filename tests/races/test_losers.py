"""Two that want the same row: the one that came second is seen to wait, and then loses as it should."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from matins.ledger import action, doubt, ending, ingest, message, obligation, observation, sweeps, work
from matins.rules import keys
from matins.rules.errors import ActionInFlight, Closed, LeaseHeld, LeaseLost
from tests.ledger.acts import ACTS
from tests.ledger.factory import LEASE, PUT, QUARANTINE, RECEIPT, SEEN, Factory, Scene, item, reading
from tests.ledger.tables import Row
from tests.races.race import Act, Race, only_lock, touch


def _claim(at: Scene, holder: str = "worker-2") -> Act:
    return lambda make: make.claim(at.work_key, step=at.claim.step, holder=holder)


def _do(name: str, at: Scene) -> Act:
    return lambda make: ACTS[name](make, at)


def _work(race: Race, at: Scene) -> Row:
    return race.tables()["work"][(at.work_key,)]


def test_of_two_claimers_the_second_is_told_that_the_first_holds_it(race: Race) -> None:
    at = race.first.scene("obligation/queued")
    lost = race.run(_claim(at, "worker-1"), _claim(at))
    assert type(lost.exception()) is LeaseHeld
    assert (_work(race, at)["token"], _work(race, at)["attempts"]) == (1, 1)


def test_a_claimer_whose_rival_rolls_back_gets_the_work_and_the_next_token(race: Race) -> None:
    at = race.first.scene("obligation/queued")
    won = race.run(_claim(at, "worker-1"), _claim(at), undo=True)
    assert won.result().token == 1
    assert _work(race, at)["holder"] == "worker-2"


@pytest.mark.parametrize("blocker", [only_lock, touch])
def test_a_lease_claimed_after_a_long_wait_is_not_born_expired(race: Race, blocker: Any) -> None:
    at = race.first.scene("obligation/queued")
    won = race.run(blocker(at.work_key), _claim(at), meanwhile=lambda: race.clock.forward(3600))
    left = won.result().deadline_at - race.clock.now()
    assert timedelta(seconds=110) < left <= timedelta(seconds=120)
    assert work.still_mine(race.clock.conn, at.work_key, token=1) > LEASE - 2


def test_a_lease_that_was_renewed_while_a_claimer_waited_is_not_taken_over(race: Race) -> None:
    at = race.first.scene("obligation/running")
    race.clock.forward(LEASE - 1)
    lost = race.run(
        lambda make: work.beat(make.conn, [(at.work_key, 1)], lease=LEASE),
        _claim(at),
        meanwhile=lambda: race.clock.forward(2),
    )
    assert type(lost.exception()) is LeaseHeld
    assert _work(race, at)["token"] == 1


def test_a_lease_that_died_while_a_claimer_waited_is_taken_over(race: Race) -> None:
    at = race.first.scene("obligation/running")
    won = race.run(only_lock(at.work_key), _claim(at), meanwhile=lambda: race.clock.forward(LEASE + 1))
    assert won.result().token == 2


def test_a_beat_passes_over_work_that_is_being_claimed_and_loses_it(race: Race) -> None:
    at = race.first.scene("obligation/running_dead")
    with race.held_by(_claim(at)):
        assert work.beat(race.second.conn, [(at.work_key, 1)], lease=LEASE) == set()
    assert work.beat(race.second.conn, [(at.work_key, 1)], lease=LEASE) == set()


def test_work_that_is_completed_while_the_sweep_waits_is_not_expired(race: Race) -> None:
    at = race.first.scene("obligation/running_spent")
    lost = race.run(
        _do("obligation.complete", at), _do("ending.expire", at), meanwhile=lambda: race.clock.forward(LEASE + 1)
    )
    assert lost.result() is False
    assert race.tables()["obligation"][(at.key,)]["status"] == "succeeded"


def test_work_that_is_expired_while_its_holder_waits_is_not_completed(race: Race) -> None:
    at = race.first.scene("obligation/running_spent_dead")
    lost = race.run(_do("ending.expire", at), _do("obligation.complete", at))
    assert type(lost.exception()) is LeaseLost
    assert race.tables()["obligation"][(at.key,)]["status"] == "exhausted"


def test_a_lease_that_is_renewed_while_the_sweep_waits_is_not_expired(race: Race) -> None:
    at = race.first.scene("obligation/running_spent")
    race.clock.forward(LEASE - 1)
    lost = race.run(
        lambda make: work.beat(make.conn, [(at.work_key, 1)], lease=LEASE),
        _do("ending.expire", at),
        meanwhile=lambda: race.clock.forward(2),
    )
    assert lost.result() is False


def test_of_two_sweeps_one_expires(race: Race) -> None:
    at = race.first.scene("obligation/running_spent_dead")
    lost = race.run(_do("ending.expire", at), _do("ending.expire", at))
    assert lost.result() is False


def test_a_mail_that_is_accepted_while_the_sweep_waits_is_not_abandoned(race: Race) -> None:
    at = race.first.scene("message/sending_in_flight")
    lost = race.run(
        _do("message.accept", at), _do("action.abandon:send", at), meanwhile=lambda: race.clock.forward(LEASE + 1)
    )
    assert lost.result() is None
    assert race.tables()["message"][(at.key,)]["status"] == "accepted"


def test_a_mail_that_is_abandoned_while_its_receipt_waits_is_accepted_late(race: Race) -> None:
    at = race.first.scene("message/sending_in_flight_dead")
    won = race.run(_do("action.abandon:send", at), _do("message.accept", at))
    assert won.exception() is None
    row = race.tables()["message"][(at.key,)]
    assert (row["status"], row["reference"]) == ("accepted", RECEIPT.reference)


@pytest.mark.parametrize(("blocker", "undo"), [(only_lock, False), (touch, True)])
def test_a_receipt_whose_lease_died_while_it_waited_is_taken_as_a_late_one(
    race: Race, blocker: Any, undo: bool
) -> None:
    at = race.first.scene("message/sending_in_flight")
    won = race.run(
        blocker(at.work_key), _do("message.accept", at), undo=undo, meanwhile=lambda: race.clock.forward(LEASE + 1)
    )
    assert won.exception() is None
    told = [line["facts"].get("by") for line in race.tables()["audit"].values() if line["event"] == "message.accepted"]
    assert told == ["a late receipt"]


def test_of_two_receipts_of_one_mail_the_second_is_answered_alike(race: Race) -> None:
    at = race.first.scene("message/sending_in_flight")
    alike = race.run(_do("message.accept", at), _do("message.accept", at))
    assert alike.exception() is None


def test_of_two_that_abandon_an_effect_one_does(race: Race) -> None:
    at = race.first.scene("action/in_flight_dead")
    lost = race.run(_do("action.abandon", at), _do("action.abandon", at))
    assert lost.result() is None
    assert _work(race, at)["in_flight"] == 0


def test_an_effect_is_not_abandoned_whose_owner_renewed_its_lease_meanwhile(race: Race) -> None:
    at = race.first.scene("action/in_flight")
    race.clock.forward(LEASE - 1)
    lost = race.run(
        lambda make: work.beat(make.conn, [(at.work_key, 1)], lease=LEASE),
        _do("action.abandon", at),
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


def test_of_two_that_prove_a_mail_not_sent_one_gives_the_attempt_back(race: Race) -> None:
    at = race.first.scene("message/uncertain_quiet")
    prove = _do("doubt.prove_not_sent", at)
    lost = race.run(prove, prove)
    assert lost.result() is False
    assert _work(race, at)["attempts"] == 0


def _sent_and_lost_again(at: Scene, *, quarantine: float) -> Act:
    def act(make: Factory) -> None:
        doubt.prove_not_sent(make.conn, at.work_key, reason="not found")
        again = Scene("", at.key, at.work_key, make.claim(at.work_key))
        make.start_sending(again)
        doubt.doubt(make.conn, again.claim, reason="the reply was lost again", quarantine=quarantine)

    return act


def test_a_proof_judged_before_a_whole_second_doubt_does_not_end_the_second_one(race: Race) -> None:
    at = race.first.scene("message/uncertain_quiet")
    lost = race.run(_sent_and_lost_again(at, quarantine=QUARANTINE), _do("doubt.prove_not_sent", at))
    assert lost.result() is False
    assert race.tables()["message"][(at.key,)]["status"] == "uncertain"


def test_a_proof_that_waits_for_a_whole_second_doubt_gives_no_second_attempt_back(race: Race) -> None:
    at = race.first.scene("message/uncertain_quiet")
    proved = race.run(_sent_and_lost_again(at, quarantine=0), _do("doubt.prove_not_sent", at))
    assert proved.result() is True
    assert _work(race, at)["attempts"] == 1


def test_a_mail_found_while_another_look_waits_to_prove_the_opposite_is_accepted(race: Race) -> None:
    at = race.first.scene("message/uncertain_quiet")
    lost = race.run(_do("doubt.accept_found", at), _do("doubt.prove_not_sent", at))
    assert lost.result() is False
    assert race.tables()["message"][(at.key,)]["status"] == "accepted"


@pytest.mark.parametrize("first", ["doubt.hold", "doubt.let_go", "doubt.accept_found"])
@pytest.mark.parametrize("second", ["doubt.hold", "doubt.let_go", "doubt.accept_found", "doubt.prove_not_sent:waived"])
def test_a_doubt_is_resolved_once(race: Race, first: str, second: str) -> None:
    at = race.first.scene("message/uncertain_quiet")
    lost = race.run(_do(first, at), _do(second, at))
    assert lost.result() is False


def test_a_mail_that_is_claimed_while_the_sweep_waits_is_not_expired(race: Race) -> None:
    at = race.first.scene("message/pending_late")
    lost = race.run(_claim(at), _do("message.expire", at))
    assert lost.result() is False
    assert race.tables()["message"][(at.key,)]["status"] == "sending"


def test_a_mail_that_is_expired_while_a_sender_waits_is_not_claimed(race: Race) -> None:
    at = race.first.scene("message/pending_late")
    lost = race.run(_do("message.expire", at), _claim(at))
    assert type(lost.exception()) is Closed


def test_a_mail_whose_send_began_while_a_second_sender_waited_is_not_sent_twice(race: Race) -> None:
    at = race.first.scene("message/sending")
    race.clock.forward(LEASE - 1)
    lost = race.run(lambda make: make.start_sending(at), _claim(at), meanwhile=lambda: race.clock.forward(LEASE))
    assert type(lost.exception()) is ActionInFlight


def test_of_two_looks_one_observes_and_the_other_does_not_set_a_new_look(race: Race) -> None:
    at = race.first.scene("message/accepted")
    again = race.run(
        _do("observation.observe", at),
        lambda make: observation.look_again(make.conn, at.work_key, reason="not in the mailbox"),
    )
    assert again.exception() is None
    row = race.tables()["message"][(at.key,)]
    assert (row["status"], row["look_at"], row["looks"]) == ("observed", None, 1)
    lost = race.run(
        lambda make: make.conn.execute("select 1 from message for no key update"),
        lambda make: observation.observe(make.conn, at.work_key, SEEN),
    )
    assert lost.result() is False


def test_a_cursor_does_not_move_for_a_run_that_was_taken_over_while_it_settled(race: Race) -> None:
    at = race.first.scene("ingest_run/claimed_admitted")
    race.first.die()
    lost = race.run(_claim(at), _do("ingest.settle", at))
    assert type(lost.exception()) is LeaseLost
    assert race.tables()["source"][(at.key,)]["cursor_version"] == 1


def test_a_window_that_settles_while_a_new_reader_waits_is_closed_to_it(race: Race) -> None:
    at = race.first.scene("ingest_run/claimed_admitted")
    lost = race.run(_do("ingest.settle", at), _claim(at), meanwhile=lambda: race.clock.forward(LEASE + 1))
    assert type(lost.exception()) is Closed
    runs = race.tables()["ingest_run"]
    assert [run["status"] for run in runs.values()] == ["new"]


def test_one_run_settles_once_however_often_it_is_asked_at_once(race: Race) -> None:
    at = race.first.scene("ingest_run/claimed_admitted")
    alike = race.run(_do("ingest.settle", at), _do("ingest.settle", at))
    assert alike.result() == "new"
    assert race.tables()["source"][(at.key,)]["cursor_version"] == 2


def test_the_same_reader_claiming_twice_at_once_has_one_run(race: Race) -> None:
    at = race.first.scene("ingest_run/unclaimed")
    lost = race.run(_claim(at, "worker-1"), _claim(at, "worker-1"))
    assert type(lost.exception()) is LeaseHeld
    runs = race.tables()["ingest_run"]
    assert [(run["token"], run["status"]) for run in runs.values()] == [(1, "claimed")]


def test_of_two_sweeps_one_ends_a_spent_window(race: Race) -> None:
    at = race.first.scene("ingest_run/claimed_spent_dead")
    lost = race.run(_do("ingest.expire", at), _do("ingest.expire", at))
    assert lost.result() is False
    assert race.tables()["source"][(at.key,)]["cursor_version"] == 2


def test_two_pages_of_one_run_admitted_at_once_are_both_counted(race: Race) -> None:
    at = race.first.scene("ingest_run/claimed")
    window = at.window
    assert window is not None
    both = race.run(
        lambda make: ingest.admit(make.conn, at.claim, window, [item("a")], baseline=True),
        lambda make: ingest.admit(make.conn, at.claim, window, [item("b")], baseline=True),
    )
    assert both.result() == 2
    assert ingest.settle(race.first.conn, at.claim, window, reading(item("a"), item("b"))) == "new"


def test_of_two_that_advance_a_morning_one_creates_its_continuation(race: Race) -> None:
    at = race.first.scene("obligation/succeeded_unadvanced")
    lost = race.run(_do("obligation.advance", at), _do("obligation.advance", at))
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
    lost = race.run(_do("ending.fail", at), _do("obligation.complete", at))
    assert type(lost.exception()) is LeaseLost
    assert race.tables()["obligation"][(at.key,)]["status"] == "queued"


def test_of_two_completions_with_one_output_the_second_is_answered_alike(race: Race) -> None:
    at = race.first.scene("obligation/running")
    alike = race.run(_do("obligation.complete", at), _do("obligation.complete", at))
    assert alike.result().next.name == "compose"
    assert len(race.tables()["continuation"]) == 1


def test_of_two_publications_the_second_is_answered_alike_and_there_is_one_mail(race: Race) -> None:
    at = race.first.scene("edition/drafted")
    alike = race.run(_do("edition.publish", at), _do("edition.publish", at))
    assert alike.exception() is None
    assert len(race.tables()["message"]) == 1


def test_a_queue_id_that_a_server_uses_again_costs_no_mail_its_acceptance(race: Race) -> None:
    race.first.scene("message/accepted", owner="bob")
    at = race.first.scene("message/sending_in_flight")
    for _ in range(2):
        message.accept(race.first.conn, at.claim, RECEIPT)
    row = race.tables()["message"][(at.key,)]
    assert (row["status"], row["reference"], row["reply"]) == ("accepted", row["mail_id"], RECEIPT.evidence["reply"])


def test_a_worker_told_to_stop_does_not_give_back_what_was_taken_over(race: Race) -> None:
    at = race.first.scene("obligation/running_dead")
    lost = race.run(_claim(at), _do("work.release", at))
    assert type(lost.exception()) is LeaseLost
    assert (_work(race, at)["attempts"], _work(race, at)["holder"]) == (2, "worker-2")


def test_a_failure_is_recorded_under_its_own_token_only(race: Race) -> None:
    at = race.first.scene("obligation/running_dead")
    lost = race.run(
        _claim(at), lambda make: ending.fail(make.conn, at.work_key, token=at.claim.token, reason="too late")
    )
    assert type(lost.exception()) is LeaseLost
    assert obligation.next_move(race.clock.conn, at.key).name == "research"
