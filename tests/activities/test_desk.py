"""The desk: one claim per activity attempt, effects in three beats, and starts that may fail."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import psycopg
import pytest
from temporalio.testing import ActivityEnvironment

from activities.desk import Desk
from matins.ledger import action, work
from matins.ledger.move import Move
from matins.ledger.work import Claim
from matins.rules import keys
from matins.rules.errors import (
    AttemptsSpent,
    EvidenceMissing,
    LeaseHeld,
    LeaseLost,
    NotDue,
    ProviderUnavailable,
)
from matins.rules.receipt import Receipt
from tests.activities.conftest import LIMITS
from tests.ledger.clock import Clock

Conn = psycopg.Connection[Any]
RECEIPT = Receipt("s3:test", "evidence@1", {"etag": "abc"})


def _as_activity(act: Callable[[], Any]) -> Any:
    return ActivityEnvironment().run(act)


def test_a_claim_names_the_run_and_the_activity_and_is_kept_while_the_block_runs(
    desk: Desk, conn: Conn, morning: str
) -> None:
    def act() -> None:
        with desk.claimed(keys.obligation_work(morning)) as claim:
            assert desk.beats.held() == [(claim.key, 1)]

    _as_activity(act)
    info = ActivityEnvironment().info
    assert _work(conn)["holder"] == f"{info.workflow_run_id}/{info.activity_id}"
    assert desk.beats.held() == []


def test_somebody_elses_live_claim_is_not_taken(desk: Desk, conn: Conn, morning: str) -> None:
    work.claim(conn, keys.obligation_work(morning), holder="another", lease=10, limit=120)
    with pytest.raises(LeaseHeld) as held:
        _as_activity(lambda: desk.claimed(keys.obligation_work(morning)).__enter__())
    assert 9 < held.value.wait <= 10


def test_what_a_dead_holder_left_in_flight_is_abandoned_by_the_next_claim(
    desk: Desk, conn: Conn, morning: str, clock: Clock
) -> None:
    dead = work.claim(conn, keys.obligation_work(morning), holder="dead", lease=10, limit=120)
    _start(conn, dead, morning)
    clock.forward(11)

    def act() -> None:
        with desk.claimed(keys.obligation_work(morning)) as claim:
            assert _action(conn) == ("abandoned", 1, 1)
            _effect(desk, claim, morning, lambda: RECEIPT)

    _as_activity(act)
    assert _action(conn) == ("completed", 2, 2)


def test_the_intent_is_committed_before_the_call(desk: Desk, conn: Conn, morning: str) -> None:
    seen: list[tuple[Any, ...]] = []

    def call() -> Receipt:
        seen.append(_action(conn))
        return RECEIPT

    _as_activity(lambda: _claim_and_do(desk, morning, call))
    assert seen == [("in_flight", 1, 1)]
    assert _action(conn) == ("completed", 1, 1)


def test_an_effect_that_an_earlier_life_recorded_is_not_repeated(
    desk: Desk, conn: Conn, morning: str, clock: Clock
) -> None:
    calls: list[str] = []

    def call() -> Receipt:
        calls.append("called")
        return RECEIPT

    for _ in range(2):
        assert _as_activity(lambda: _claim_and_do(desk, morning, call)) == RECEIPT
        clock.forward(11)
    assert calls == ["called"]
    assert _work(conn)["token"] == 2


def test_a_provider_that_is_not_there_is_recorded_and_says_when_to_come_again(
    desk: Desk, conn: Conn, morning: str
) -> None:
    def call() -> Receipt:
        raise ProviderUnavailable("not put: s3:test: timed out", retry_after=77.0)

    with pytest.raises(NotDue) as refused:
        _as_activity(lambda: _claim_and_do(desk, morning, call))
    assert 76 < refused.value.wait <= 77
    assert _action(conn) == ("not_done", 1, 1)
    assert (_work(conn)["holder"], _work(conn)["attempts"], _work(conn)["in_flight"]) == (None, 1, 0)


def test_content_that_cannot_be_trusted_is_a_failed_attempt_and_the_last_one_ends_it(
    desk: Desk, conn: Conn, morning: str, clock: Clock
) -> None:
    def act() -> None:
        with desk.claimed(keys.obligation_work(morning)):
            raise EvidenceMissing("it is not in the object store")

    for _ in range(4):
        with pytest.raises(NotDue) as refused:
            _as_activity(act)
        clock.forward(refused.value.wait + 1)
    with pytest.raises(AttemptsSpent):
        _as_activity(act)
    status = conn.execute("select status from obligation where key = %s", (morning,)).fetchone()
    assert status == ("exhausted",)


def test_a_call_that_outlives_its_lease_records_nothing(desk: Desk, conn: Conn, morning: str, clock: Clock) -> None:
    def call() -> Receipt:
        clock.forward(LIMITS.lease + 1)
        return RECEIPT

    with pytest.raises(LeaseLost):
        _as_activity(lambda: _claim_and_do(desk, morning, call))
    assert _action(conn) == ("in_flight", 1, 1)


def test_a_start_that_fails_is_a_decision_and_fails_nothing(desk: Desk, conn: Conn, morning: str) -> None:
    for _ in range(2):
        desk.advance("continuation", Move(morning, "compose"))
    found = conn.execute("select subject, kind, count from decision").fetchall()
    assert found == [(f"continuation/{morning}", "start.failed", 2)]


def _claim_and_do(desk: Desk, morning: str, call: Callable[[], Receipt]) -> Receipt:
    with desk.claimed(keys.obligation_work(morning)) as claim:
        return _effect(desk, claim, morning, call)
    raise AssertionError("the claim's end swallowed an error")


def _effect(desk: Desk, claim: Claim, morning: str, call: Callable[[], Receipt]) -> Receipt:
    return desk.effect(
        claim,
        key=keys.action(morning, "research"),
        subject=morning,
        step="research",
        provider="s3:test",
        contents=[b"frozen"],
        call=call,
    )


def _start(conn: Conn, claim: Claim, morning: str) -> None:
    action.start(
        conn,
        claim,
        key=keys.action(morning, "research"),
        subject=morning,
        step="research",
        provider="s3:test",
        contents=[b"frozen"],
    )


def _action(conn: Conn) -> tuple[Any, ...]:
    """Status, token and generation of the one action."""
    [found] = conn.execute("select status, token, generation from action").fetchall()
    return tuple(found)


def _work(conn: Conn) -> dict[str, Any]:
    cursor = conn.cursor(row_factory=psycopg.rows.dict_row)
    [found] = cursor.execute("select * from work where kind = 'obligation'").fetchall()
    return found
