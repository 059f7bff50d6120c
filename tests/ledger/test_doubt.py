"""Mail of unknown fate: looked for, given back once, never sent again blindly, and never forgotten."""

from __future__ import annotations

import pytest

from matins.ledger import action, doubt, ending, message, observation
from matins.rules import limits
from matins.rules.errors import ActionInFlight, LeaseLost, NotDue, TooLate
from tests.ledger.factory import LATE, QUARANTINE, RECEIPT, SEEN, Factory, Scene


def _attempts(make: Factory, at: Scene) -> int:
    found = make.conn.execute("select attempts from work where key = %s", (at.work_key,)).fetchone()
    assert found is not None
    return int(found[0])


def _status(make: Factory, at: Scene) -> tuple[str, str]:
    found = make.conn.execute(
        "select message.status, action.status from message left join action on action.key = message.key"
        " where message.key = %s",
        (at.key,),
    ).fetchone()
    assert found is not None
    return found[0], found[1]


def _send_and_lose(make: Factory, at: Scene) -> Scene:
    claim = make.claim(at.work_key)
    again = Scene("", at.key, at.work_key, claim)
    make.start_sending(again)
    doubt.doubt(make.conn, claim, reason="the reply was lost", quarantine=QUARANTINE)
    make.clock.forward(QUARANTINE + 1)
    return again


def test_an_attempt_that_proves_not_sent_is_given_back_once_per_key(factory: Factory) -> None:
    at = factory.scene("message/pending")
    _send_and_lose(factory, at)
    assert doubt.prove_not_sent(factory.conn, at.work_key, reason="not found")
    assert _attempts(factory, at) == 0
    _send_and_lose(factory, at)
    assert doubt.prove_not_sent(factory.conn, at.work_key, reason="not found")
    assert _attempts(factory, at) == 1


def test_a_mail_that_proves_not_sent_on_its_last_attempt_is_dead_and_not_stranded(factory: Factory) -> None:
    at = factory.scene("message/uncertain_quiet_refunded_spent")
    assert doubt.prove_not_sent(factory.conn, at.work_key, reason="not found")
    assert _status(factory, at) == ("dead", "not_done")
    found = factory.conn.execute("select closed_at is not null from work where key = %s", (at.work_key,)).fetchone()
    assert found == (True,)


def test_not_found_proves_nothing_before_the_quarantine_is_over(factory: Factory) -> None:
    at = factory.scene("message/uncertain")
    factory.clock.forward(QUARANTINE - 1)
    assert not doubt.prove_not_sent(factory.conn, at.work_key, reason="not found")
    factory.clock.forward(2)
    assert doubt.prove_not_sent(factory.conn, at.work_key, reason="not found")


def test_each_doubt_has_a_quarantine_of_its_own(factory: Factory) -> None:
    at = factory.scene("message/pending")
    _send_and_lose(factory, at)
    doubt.prove_not_sent(factory.conn, at.work_key, reason="not found")
    claim = factory.claim(at.work_key)
    factory.start_sending(Scene("", at.key, at.work_key, claim))
    doubt.doubt(factory.conn, claim, reason="the reply was lost", quarantine=QUARANTINE)
    assert not doubt.prove_not_sent(factory.conn, at.work_key, reason="not found")


@pytest.mark.parametrize("scene", ["message/sending_in_flight_dead", "message/uncertain"])
def test_a_late_receipt_resolves_the_mail_that_its_dead_worker_sent(factory: Factory, scene: str) -> None:
    at = factory.scene(scene)
    message.accept(factory.conn, at.claim, RECEIPT)
    assert _status(factory, at) == ("accepted", "completed")
    found = factory.conn.execute("select facts ->> 'by' from audit order by id desc limit 1").fetchone()
    assert found == ("a late receipt",)


def test_a_late_receipt_does_not_resolve_a_later_attempt(factory: Factory) -> None:
    at = factory.scene("message/pending")
    first = _send_and_lose(factory, at)
    doubt.prove_not_sent(factory.conn, at.work_key, reason="not found")
    _send_and_lose(factory, at)
    with pytest.raises(LeaseLost):
        message.accept(factory.conn, first.claim, RECEIPT)
    assert _status(factory, at) == ("uncertain", "uncertain")


def test_a_dead_sender_says_nothing_of_the_send_that_came_after_its_own(factory: Factory) -> None:
    at = factory.scene("message/pending")
    first = _send_and_lose(factory, at)
    doubt.prove_not_sent(factory.conn, at.work_key, reason="not found")
    second = Scene("", at.key, at.work_key, factory.claim(at.work_key))
    factory.start_sending(second)
    with pytest.raises(LeaseLost):
        message.accept(factory.conn, first.claim, RECEIPT)
    with pytest.raises((LeaseLost, ActionInFlight)):
        doubt.doubt(factory.conn, first.claim, reason="the reply was lost", quarantine=QUARANTINE)
    assert not doubt.accept_late(factory.conn, first.claim, RECEIPT)
    assert _status(factory, at) == ("sending", "in_flight")
    message.accept(factory.conn, second.claim, RECEIPT)


def test_a_mail_in_flight_is_claimed_by_nobody_even_after_its_worker_died(factory: Factory) -> None:
    at = factory.scene("message/sending_in_flight_dead")
    with pytest.raises(ActionInFlight):
        factory.claim(at.work_key, holder="worker-2")
    assert message.next_move(factory.conn, at.work_key).name == "recover"


def test_a_second_send_needs_the_first_one_ended(factory: Factory) -> None:
    at = factory.scene("message/sending_in_flight_dead")
    assert action.find_stalled(factory.conn) == [action.Stalled(at.key, at.claim.token)]
    assert action.abandon(factory.conn, at.key, token=1, quarantine=QUARANTINE) == "uncertain"
    assert message.next_move(factory.conn, at.work_key).name == "look"
    assert _status(factory, at) == ("uncertain", "uncertain")


def test_a_doubt_says_what_the_owner_decided_and_whether_it_may_be_judged(factory: Factory) -> None:
    at = factory.scene("message/uncertain")
    found = doubt.doubted(factory.conn, at.work_key)
    assert found is not None
    assert (found.key, found.proof, found.if_unknown) == (at.key, "mailbox", "ask")
    assert (found.quarantine_over, found.late) == (False, False)
    factory.clock.set(LATE)
    later = doubt.doubted(factory.conn, at.work_key)
    assert later is not None
    assert (later.quarantine_over, later.late) == (True, True)
    assert doubt.doubted(factory.conn, factory.scene("message/accepted", owner="bob").work_key) is None


def test_looks_are_spaced_farther_and_farther_and_a_doubt_is_looked_for_without_end(factory: Factory) -> None:
    at = factory.scene("message/uncertain")
    for number, wait in enumerate((*limits.OBSERVE_AFTER, limits.OBSERVE_AFTER[-1])):
        observation.due_to_look(factory.conn, at.work_key)
        observation.look_again(factory.conn, at.work_key, reason="not found yet")
        with pytest.raises(NotDue) as early:
            observation.due_to_look(factory.conn, at.work_key)
        assert wait - 1 < early.value.wait <= wait, number
        factory.clock.forward(wait + 1)
    factory.clock.set(LATE)
    observation.look_again(factory.conn, at.work_key, reason="not found yet")
    factory.clock.forward(301)
    assert [one.work_key for one in message.find_idle(factory.conn)] == [at.work_key]


def test_an_accepted_mail_is_looked_for_until_it_is_no_longer_useful(factory: Factory) -> None:
    at = factory.scene("message/accepted")
    factory.clock.forward(2)
    assert [one.work_key for one in message.find_idle(factory.conn)] == [at.work_key]
    factory.clock.set(LATE)
    observation.look_again(factory.conn, at.work_key, reason="not in the mailbox")
    factory.clock.forward(1000)
    assert message.find_idle(factory.conn) == []
    assert message.next_move(factory.conn, at.work_key).done
    assert _status(factory, at)[0] == "accepted"


def test_a_mail_that_nobody_can_see_is_accepted_and_never_looked_for(factory: Factory) -> None:
    at = factory.message("accepted", proof="none")
    factory.clock.forward(1000)
    assert message.find_idle(factory.conn) == []
    assert message.next_move(factory.conn, at.work_key).done
    assert observation.observe(factory.conn, at.work_key, SEEN)


def test_a_mail_is_sent_only_while_it_is_useful(factory: Factory) -> None:
    at = factory.scene("message/sending")
    message.still_useful(factory.conn, at.work_key)
    factory.clock.set(LATE)
    with pytest.raises(TooLate):
        message.still_useful(factory.conn, at.work_key)


@pytest.mark.parametrize(
    ("scene", "late"),
    [
        ("pending", False), ("pending_late", True), ("sending_late", True), ("sending_in_flight_late", False),
        ("uncertain", False), ("accepted", False), ("expired", False),
    ],
)  # fmt: skip
def test_the_sweep_finds_the_mail_that_is_no_longer_useful_and_not_in_flight(
    factory: Factory, scene: str, late: bool
) -> None:
    at = factory.scene(f"message/{scene}")
    assert message.find_late(factory.conn) == ([at.work_key] if late else [])


def test_a_worker_expires_the_mail_that_it_holds_itself_and_nobody_elses(factory: Factory) -> None:
    at = factory.scene("message/sending")
    factory.conn.execute("update message set useful_until_at = ledger_now() where key = %s", (at.key,))
    assert not message.expire(factory.conn, at.work_key)
    assert not message.expire(factory.conn, at.work_key, token=at.claim.token + 1)
    assert message.expire(factory.conn, at.work_key, token=at.claim.token)


def test_a_mail_refused_for_good_is_dead_at_once_and_its_line_says_so(factory: Factory) -> None:
    at = factory.scene("message/sending_in_flight")
    action.record_refused(factory.conn, at.claim, key=at.key, reason="no such mailbox")
    ending.fail(factory.conn, at.work_key, token=at.claim.token, reason="no such mailbox", final=True)
    assert _status(factory, at) == ("dead", "refused")
    found = factory.conn.execute("select event from audit order by id desc limit 1").fetchone()
    assert found == ("message.dead",)
