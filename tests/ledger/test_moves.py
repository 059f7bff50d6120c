"""The next move of a key, read from its rows; the record of the sweeps; and the stamp that lets one caller restart."""

from __future__ import annotations

import pytest

from matins.ledger import continuation, edition, message, obligation, sweeps, work
from matins.rules import plans
from matins.rules.errors import Closed, EvidenceMissing, NoSuchRow, StepOutOfOrder
from tests.ledger.factory import Factory


@pytest.mark.parametrize(
    ("scene", "name"),
    [
        ("declared", "done"), ("queued", "research"), ("queued_again", "research"), ("running", "research"),
        ("running_dead", "research"), ("succeeded", "done"), ("exhausted", "done"), ("missed", "done"),
    ],
)  # fmt: skip
def test_the_next_move_of_an_obligation(factory: Factory, scene: str, name: str) -> None:
    at = factory.scene(f"obligation/{scene}")
    assert obligation.next_move(factory.conn, at.key).name == name


@pytest.mark.parametrize(
    ("scene", "name"),
    [
        ("edition/none", "compose"), ("edition/drafted", "publish"), ("continuation/pending", "wiki"),
        ("continuation/running_dead", "wiki"), ("continuation/done", "done"), ("continuation/exhausted", "done"),
    ],
)  # fmt: skip
def test_the_next_move_of_a_continuation(factory: Factory, scene: str, name: str) -> None:
    at = factory.scene(scene)
    assert continuation.next_move(factory.conn, at.key).name == name


@pytest.mark.parametrize(
    ("scene", "name"),
    [
        ("pending", "send"), ("sending", "send"), ("sending_dead", "send"), ("sending_in_flight", "send"),
        ("sending_in_flight_dead", "recover"), ("uncertain", "look"), ("accepted", "observe"), ("observed", "done"),
        ("held", "done"), ("expired", "done"), ("dead", "done"),
    ],
)  # fmt: skip
def test_the_next_move_of_a_message(factory: Factory, scene: str, name: str) -> None:
    at = factory.scene(f"message/{scene}")
    assert message.next_move(factory.conn, at.work_key).name == name


def test_a_key_without_a_row_is_refused_by_name(factory: Factory) -> None:
    for ask in (
        lambda: obligation.next_move(factory.conn, "ada/morning/2026-08-17"),
        lambda: obligation.owed(factory.conn, "ada/morning/2026-08-17"),
        lambda: obligation.advance(factory.conn, "ada/morning/2026-08-17"),
        lambda: continuation.next_move(factory.conn, "ada/morning/2026-08-17"),
        lambda: continuation.plan_of(factory.conn, "ada/morning/2026-08-17"),
        lambda: message.next_move(factory.conn, "message/0"),
        lambda: message.envelope(factory.conn, "message/0"),
        lambda: work.claim(factory.conn, "obligation/0", holder="w", lease=1, limit=1),
    ):
        with pytest.raises(NoSuchRow):
            ask()


def test_a_finished_continuation_has_no_plan_to_go_on_with(factory: Factory) -> None:
    at = factory.scene("continuation/done")
    with pytest.raises(Closed):
        continuation.plan_of(factory.conn, at.key)


def test_a_claim_for_another_step_neither_drafts_nor_publishes(factory: Factory) -> None:
    at = factory.scene("edition/none")
    with pytest.raises(StepOutOfOrder):
        factory.publish(at.key, at.claim)
    with pytest.raises(EvidenceMissing):
        edition.find(factory.conn, at.key)


def test_nothing_is_published_that_was_not_drafted(factory: Factory) -> None:
    at = factory.scene("edition/none")
    continuation.complete_step(factory.conn, at.key, at.claim, plan=plans.CURRENT)
    claim = factory.claim(at.work_key, step="publish")
    with pytest.raises(EvidenceMissing):
        edition.publish(
            factory.conn, at.key, claim, plan=plans.CURRENT, bundle_hash="0" * 64, messages=[], send_at=None
        )  # fmt: skip
    assert work.still_mine(factory.conn, at.work_key, token=claim.token) > 0


def test_one_caller_alone_may_restart_what_nobody_has_moved(factory: Factory) -> None:
    at = factory.scene("obligation/running_dead")
    assert not sweeps.stamp_restart(factory.conn, at.work_key, after=900)
    factory.clock.forward(901)
    assert sweeps.stamp_restart(factory.conn, at.work_key, after=900)
    assert not sweeps.stamp_restart(factory.conn, at.work_key, after=900)
    factory.clock.forward(901)
    assert sweeps.stamp_restart(factory.conn, at.work_key, after=900)


@pytest.mark.parametrize("scene", ["obligation/succeeded", "message/held"])
def test_finished_work_is_never_restarted(factory: Factory, scene: str) -> None:
    at = factory.scene(scene)
    factory.clock.forward(10_000)
    assert not sweeps.stamp_restart(factory.conn, at.work_key, after=900)


def test_work_that_is_held_or_postponed_is_never_restarted(factory: Factory) -> None:
    at = factory.scene("obligation/running")
    factory.clock.forward(901)
    factory.conn.execute(
        "update work set lease_expires_at = ledger_now() + interval '9 s', deadline_at = ledger_now() + interval '9 s'"
        " where key = %s",
        (at.work_key,),
    )
    assert not sweeps.stamp_restart(factory.conn, at.work_key, after=900)
    factory.clock.forward(10)
    factory.conn.execute("update work set retry_at = ledger_now() + interval '9 s' where key = %s", (at.work_key,))
    assert not sweeps.stamp_restart(factory.conn, at.work_key, after=900)
    factory.clock.forward(10)
    assert sweeps.stamp_restart(factory.conn, at.work_key, after=900)


def test_the_cadence_is_judged_from_the_last_sweep_that_finished(factory: Factory) -> None:
    assert sweeps.seconds_since_last(factory.conn) is None
    first = sweeps.begin(factory.conn, "test")
    assert sweeps.seconds_since_last(factory.conn) is None
    sweeps.finish(factory.conn, first, {"plan": 1})
    factory.clock.forward(300)
    sweeps.begin(factory.conn, "test")
    since = sweeps.seconds_since_last(factory.conn)
    assert since is not None
    assert 300 <= since < 310
