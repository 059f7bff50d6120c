"""Two that send, look for or judge one mail at once."""

from __future__ import annotations

from typing import Any

import pytest

from matins.ledger import doubt, message, observation
from matins.rules.errors import ActionInFlight, Closed
from tests.ledger.factory import LEASE, QUARANTINE, RECEIPT, SEEN, Factory, Scene
from tests.races.race import Act, Race, claim, do, only_lock, touch


def test_a_mail_that_is_accepted_while_the_sweep_waits_is_not_abandoned(race: Race) -> None:
    at = race.first.scene("message/sending_in_flight")
    lost = race.run(
        do("message.accept", at), do("action.abandon:send", at), meanwhile=lambda: race.clock.forward(LEASE + 1)
    )
    assert lost.result() is None
    assert race.tables()["message"][(at.key,)]["status"] == "accepted"


def test_a_mail_that_is_abandoned_while_its_receipt_waits_is_accepted_late(race: Race) -> None:
    at = race.first.scene("message/sending_in_flight_dead")
    won = race.run(do("action.abandon:send", at), do("message.accept", at))
    assert won.exception() is None
    row = race.tables()["message"][(at.key,)]
    assert (row["status"], row["reference"]) == ("accepted", RECEIPT.reference)


@pytest.mark.parametrize(("blocker", "undo"), [(only_lock, False), (touch, True)])
def test_a_receipt_whose_lease_died_while_it_waited_is_taken_as_a_late_one(
    race: Race, blocker: Any, undo: bool
) -> None:
    at = race.first.scene("message/sending_in_flight")
    won = race.run(
        blocker(at.work_key), do("message.accept", at), undo=undo, meanwhile=lambda: race.clock.forward(LEASE + 1)
    )
    assert won.exception() is None
    told = [line["facts"].get("by") for line in race.tables()["audit"].values() if line["event"] == "message.accepted"]
    assert told == ["a late receipt"]


def test_of_two_receipts_of_one_mail_the_second_is_answered_alike(race: Race) -> None:
    at = race.first.scene("message/sending_in_flight")
    alike = race.run(do("message.accept", at), do("message.accept", at))
    assert alike.exception() is None


def test_of_two_that_prove_a_mail_not_sent_one_gives_the_attempt_back(race: Race) -> None:
    at = race.first.scene("message/uncertain_quiet")
    prove = do("doubt.prove_not_sent", at)
    lost = race.run(prove, prove)
    assert lost.result() is False
    assert race.work(at)["attempts"] == 0


def _sent_and_lost_again(at: Scene, *, quarantine: float) -> Act:
    def act(make: Factory) -> None:
        doubt.prove_not_sent(make.conn, at.work_key, reason="not found")
        again = Scene("", at.key, at.work_key, make.claim(at.work_key))
        make.start_sending(again)
        doubt.doubt(make.conn, again.claim, reason="the reply was lost again", quarantine=quarantine)

    return act


def test_a_proof_judged_before_a_whole_second_doubt_does_not_end_the_second_one(race: Race) -> None:
    at = race.first.scene("message/uncertain_quiet")
    lost = race.run(_sent_and_lost_again(at, quarantine=QUARANTINE), do("doubt.prove_not_sent", at))
    assert lost.result() is False
    assert race.tables()["message"][(at.key,)]["status"] == "uncertain"


def test_a_proof_that_waits_for_a_whole_second_doubt_gives_no_second_attempt_back(race: Race) -> None:
    at = race.first.scene("message/uncertain_quiet")
    proved = race.run(_sent_and_lost_again(at, quarantine=0), do("doubt.prove_not_sent", at))
    assert proved.result() is True
    assert race.work(at)["attempts"] == 1


def test_a_mail_found_while_another_look_waits_to_prove_the_opposite_is_accepted(race: Race) -> None:
    at = race.first.scene("message/uncertain_quiet")
    lost = race.run(do("doubt.accept_found", at), do("doubt.prove_not_sent", at))
    assert lost.result() is False
    assert race.tables()["message"][(at.key,)]["status"] == "accepted"


@pytest.mark.parametrize("first", ["doubt.hold", "doubt.let_go", "doubt.accept_found"])
@pytest.mark.parametrize("second", ["doubt.hold", "doubt.let_go", "doubt.accept_found", "doubt.prove_not_sent:waived"])
def test_a_doubt_is_resolved_once(race: Race, first: str, second: str) -> None:
    at = race.first.scene("message/uncertain_quiet")
    lost = race.run(do(first, at), do(second, at))
    assert lost.result() is False


def test_a_mail_that_is_claimed_while_the_sweep_waits_is_not_expired(race: Race) -> None:
    at = race.first.scene("message/pending_late")
    lost = race.run(claim(at), do("message.expire", at))
    assert lost.result() is False
    assert race.tables()["message"][(at.key,)]["status"] == "sending"


def test_a_mail_that_is_expired_while_a_sender_waits_is_not_claimed(race: Race) -> None:
    at = race.first.scene("message/pending_late")
    lost = race.run(do("message.expire", at), claim(at))
    assert type(lost.exception()) is Closed


def test_a_mail_whose_send_began_while_a_second_sender_waited_is_not_sent_twice(race: Race) -> None:
    at = race.first.scene("message/sending")
    race.clock.forward(LEASE - 1)
    lost = race.run(lambda make: make.start_sending(at), claim(at), meanwhile=lambda: race.clock.forward(LEASE))
    assert type(lost.exception()) is ActionInFlight


def test_of_two_looks_one_observes_and_the_other_does_not_set_a_new_look(race: Race) -> None:
    at = race.first.scene("message/accepted")
    again = race.run(
        do("observation.observe", at),
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


def test_of_two_publications_the_second_is_answered_alike_and_there_is_one_mail(race: Race) -> None:
    at = race.first.scene("edition/drafted")
    alike = race.run(do("edition.publish", at), do("edition.publish", at))
    assert alike.exception() is None
    assert len(race.tables()["message"]) == 1


def test_a_queue_id_that_a_server_uses_again_costs_no_mail_its_acceptance(race: Race) -> None:
    race.first.scene("message/accepted", owner="bob")
    at = race.first.scene("message/sending_in_flight")
    for _ in range(2):
        message.accept(race.first.conn, at.claim, RECEIPT)
    row = race.tables()["message"][(at.key,)]
    assert (row["status"], row["reference"], row["reply"]) == ("accepted", row["mail_id"], RECEIPT.evidence["reply"])
