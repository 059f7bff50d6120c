"""The lease kernel: tokens, attempts, budgets, spacing and deadlines, by the database's clock alone."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from matins.ledger import action, continuation, ending, work
from matins.rules import keys, limits
from matins.rules.errors import ActionInFlight, AttemptsSpent, LeaseHeld, LeaseLost, NotDue
from tests.ledger.acts import ACTS
from tests.ledger.factory import LEASE, LIMIT, PUT, QUARANTINE, Factory, Scene
from tests.ledger.tables import tables


def _work(make: Factory, at: Scene) -> dict[str, Any]:
    found = make.conn.execute("select to_jsonb(work) from work where key = %s", (at.work_key,)).fetchone()
    assert found is not None
    return dict(found[0])


def test_a_token_only_grows_whatever_happens_between_two_claims(factory: Factory) -> None:
    at = factory.scene("obligation/queued")
    tokens = []
    for _ in range(3):
        claim = factory.claim(at.work_key)
        tokens.append(claim.token)
        work.release(factory.conn, at.work_key, token=claim.token)
        claim = factory.claim(at.work_key)
        tokens.append(claim.token)
        ending.fail(factory.conn, at.work_key, token=claim.token, reason="down", retry_after=1)
        factory.clock.forward(1000)
    assert tokens == [1, 2, 3, 4, 5, 6]


def test_granting_attempts_again_does_not_issue_an_old_token_again(factory: Factory) -> None:
    at = factory.scene("obligation/running_dead")
    factory.conn.execute("update work set attempts = 0, budget_token = token where key = %s", (at.work_key,))
    assert factory.claim(at.work_key).token == at.claim.token + 1
    with pytest.raises(LeaseLost):
        work.release(factory.conn, at.work_key, token=at.claim.token)


def test_an_attempt_is_counted_when_it_is_claimed_and_not_when_it_fails(factory: Factory) -> None:
    at = factory.scene("obligation/queued")
    claim = factory.claim(at.work_key)
    assert claim.attempts == _work(factory, at)["attempts"] == 1
    ending.fail(factory.conn, at.work_key, token=claim.token, reason="down")
    assert _work(factory, at)["attempts"] == 1


def test_a_released_claim_gives_its_attempt_back(factory: Factory) -> None:
    at = factory.scene("obligation/running")
    work.release(factory.conn, at.work_key, token=at.claim.token)
    assert _work(factory, at)["attempts"] == 0
    assert factory.claim(at.work_key).attempts == 1


def test_a_dead_lease_does_not_give_its_attempt_back(factory: Factory) -> None:
    at = factory.scene("obligation/running_dead")
    assert factory.claim(at.work_key, holder="worker-2").attempts == 2


def test_the_same_holder_re_enters_at_once_and_pays_an_attempt(factory: Factory) -> None:
    at = factory.scene("obligation/running")
    again = factory.claim(at.work_key)
    assert (again.token, again.attempts) == (2, 2)


def test_work_that_kills_its_workers_runs_out_of_attempts(factory: Factory) -> None:
    at = factory.scene("obligation/queued")
    for attempt in range(1, limits.BUDGET + 1):
        assert factory.claim(at.work_key, holder=f"worker-{attempt}").attempts == attempt
        factory.clock.forward(1000)
    with pytest.raises(AttemptsSpent):
        factory.claim(at.work_key)
    assert ending.find_spent(factory.conn) == [at.work_key]
    assert ending.expire(factory.conn, at.work_key)
    found = factory.conn.execute("select product, status from obligation order by product").fetchall()
    assert found == [("brief", "exhausted"), ("morning", "exhausted")]


def test_two_crashes_follow_each_other_at_once_and_from_the_third_claim_on_they_are_spaced(factory: Factory) -> None:
    at = factory.scene("obligation/queued")
    for _ in range(3):
        factory.claim(at.work_key)
        factory.die()
    with pytest.raises(NotDue) as early:
        factory.claim(at.work_key)
    assert 18 < early.value.wait < 20  # 30 s from the third claim, of which the lease took 11
    factory.clock.forward(20)
    factory.claim(at.work_key)
    factory.die()
    with pytest.raises(NotDue) as later:
        factory.claim(at.work_key)
    assert 108 < later.value.wait < 110


@pytest.mark.parametrize(("attempt", "seconds"), [(1, 30), (2, 120), (3, 300), (4, 900)])
def test_failures_are_spaced_by_their_number(factory: Factory, attempt: int, seconds: float) -> None:
    at = factory.scene("obligation/queued")
    factory.conn.execute("update work set attempts = %s where key = %s", (attempt - 1, at.work_key))
    claim = factory.claim(at.work_key)
    failed = ending.fail(factory.conn, at.work_key, token=claim.token, reason="down")
    assert (failed.exhausted, failed.wait) == (False, seconds)
    factory.clock.forward(seconds - 1)
    with pytest.raises(NotDue):
        factory.claim(at.work_key)
    factory.clock.forward(1.1)
    factory.claim(at.work_key)


def test_a_provider_may_ask_for_another_wait(factory: Factory) -> None:
    at = factory.scene("obligation/running")
    failed = ending.fail(factory.conn, at.work_key, token=1, reason="busy", retry_after=77)
    assert failed.wait == 77


def test_the_last_failure_ends_it_and_leaves_no_wait(factory: Factory) -> None:
    at = factory.scene("obligation/running_spent")
    failed = ending.fail(factory.conn, at.work_key, token=1, reason="down")
    assert (failed.exhausted, failed.wait) == (True, None)


def test_no_beat_carries_a_lease_past_the_deadline_of_its_claim(factory: Factory) -> None:
    at = factory.scene("obligation/running")
    for _ in range(int(LIMIT / 5) - 1):
        factory.clock.forward(5)
        assert work.beat(factory.conn, [(at.work_key, 1)], lease=LEASE) == {at.work_key}
    row = _work(factory, at)
    assert row["lease_expires_at"] == row["deadline_at"]
    factory.clock.forward(6)
    assert work.beat(factory.conn, [(at.work_key, 1)], lease=LEASE) == set()
    assert factory.claim(at.work_key, holder="worker-2").token == 2


def test_a_lease_is_never_longer_than_the_claim_may_take(factory: Factory) -> None:
    at = factory.scene("obligation/queued")
    claim = work.claim(factory.conn, at.work_key, holder="w", lease=LEASE, limit=4)
    row = _work(factory, at)
    assert row["lease_expires_at"] == row["deadline_at"]
    assert claim.deadline_at - factory.clock.now() < timedelta(seconds=4)


def test_a_beat_renews_what_lives_and_nothing_else(factory: Factory) -> None:
    alive, other = factory.scene("obligation/running"), factory.scene("obligation/running", owner="bob")
    taken = factory.claim(other.work_key)
    asked = [(alive.work_key, 1), (other.work_key, 1), ("obligation/nobody", 1)]
    assert work.beat(factory.conn, asked, lease=LEASE) == {alive.work_key}
    assert work.beat(factory.conn, [(other.work_key, taken.token)], lease=LEASE) == {other.work_key}
    factory.die()
    assert work.beat(factory.conn, asked, lease=LEASE) == set()


def test_a_beat_leaves_no_line_in_the_audit_and_moves_nothing_but_the_lease(factory: Factory) -> None:
    at = factory.scene("obligation/running")
    before, lines = _work(factory, at), factory.conn.execute("select count(*) from audit").fetchone()
    factory.clock.forward(3)
    work.beat(factory.conn, [(at.work_key, 1)], lease=LEASE)
    after = _work(factory, at)
    assert {name for name in before if before[name] != after[name]} == {"lease_expires_at"}
    assert factory.conn.execute("select count(*) from audit").fetchone() == lines


def test_who_is_held_is_told_until_when(factory: Factory) -> None:
    at = factory.scene("obligation/running")
    with pytest.raises(LeaseHeld) as held:
        factory.claim(at.work_key, holder="worker-2")
    assert 9 < held.value.wait <= LEASE
    assert held.value.until > factory.clock.now()


def test_still_mine_tells_the_seconds_left_or_that_it_is_lost(factory: Factory) -> None:
    at = factory.scene("obligation/running")
    assert 9 < work.still_mine(factory.conn, at.work_key, token=1) <= LEASE
    with pytest.raises(LeaseLost):
        work.still_mine(factory.conn, at.work_key, token=1, reserve=LEASE + 1)
    with pytest.raises(LeaseLost):
        work.still_mine(factory.conn, at.work_key, token=2)
    factory.die()
    with pytest.raises(LeaseLost):
        work.still_mine(factory.conn, at.work_key, token=1)


def test_each_step_has_a_budget_of_its_own(factory: Factory) -> None:
    at = factory.scene("edition/none_spent")
    factory.draft(at.key, at.claim)
    row = _work(factory, at)
    assert (row["step"], row["attempts"], row["budget_token"]) == ("publish", 0, at.claim.token)
    assert factory.claim(at.work_key, step="publish").attempts == 1


def test_a_claim_takes_over_work_whose_dead_holder_left_an_effect_in_flight(factory: Factory) -> None:
    at = factory.scene("obligation/running_in_flight_dead")
    taken = factory.claim(at.work_key, holder="worker-2")
    assert taken.in_flight == 1
    with pytest.raises(ActionInFlight):
        work.release(factory.conn, at.work_key, token=taken.token)
    (stalled,) = action.stalled_in(factory.conn, at.work_key)
    assert action.abandon(factory.conn, stalled.key, token=stalled.token, quarantine=QUARANTINE) == "abandoned"
    factory.start_research(at.key, taken)
    found = factory.conn.execute("select generation, token, status from action").fetchone()
    assert found == (2, taken.token, "in_flight")
    action.record_completed(factory.conn, taken, key=keys.action(at.key, "research"), receipt=PUT)


def test_an_abandoned_effect_leaves_the_lease_of_whoever_took_over(factory: Factory) -> None:
    at = factory.scene("action/abandoned")
    assert work.still_mine(factory.conn, at.work_key, token=at.claim.token) > 9


def test_an_effect_is_not_abandoned_by_a_token_that_is_not_its_own(factory: Factory) -> None:
    at = factory.scene("action/in_flight_dead")
    name = keys.action(at.key, "research")
    assert action.abandon(factory.conn, name, token=at.claim.token + 1, quarantine=QUARANTINE) is None
    assert action.abandon(factory.conn, name, token=at.claim.token, quarantine=QUARANTINE) == "abandoned"


def test_the_audit_of_a_take_over_names_the_old_token_holder_and_expiry(factory: Factory) -> None:
    at = factory.scene("obligation/running_dead")
    expiry = _work(factory, at)["lease_expires_at"]
    factory.claim(at.work_key, holder="worker-2")
    found = factory.conn.execute("select facts from audit order by id desc limit 1").fetchone()
    assert found is not None
    assert found[0] == {
        "attempt": 2, "holder": "worker-2", "old_token": 1, "old_holder": "worker-1", "old_expiry": expiry,
    }  # fmt: skip


def test_finds_return_the_oldest_first_and_no_more_than_asked_for(factory: Factory) -> None:
    ages = {"ada": 12, "bob": 11, "cleo": 13}
    for owner in ages:
        at = factory.scene("continuation/pending", owner=owner)
        factory.conn.execute(
            "update continuation set created_at = %s where key = %s", (f"2026-08-{ages[owner]}T00:00Z", at.key)
        )
    found = [key.partition("/")[0] for key, _ in continuation.find_idle(factory.conn)]
    assert found == ["bob", "ada", "cleo"]
    assert len(continuation.find_idle(factory.conn, limit=2)) == 2


def test_a_live_lease_is_in_no_find(factory: Factory) -> None:
    factory.scene("obligation/running_spent")
    factory.scene("continuation/running", owner="bob")
    assert ending.find_spent(factory.conn) == []
    assert continuation.find_idle(factory.conn) == []
    assert action.find_stalled(factory.conn) == []


@pytest.mark.parametrize("act", ["action.record_completed", "action.record_refused", "action.record_not_done"])
def test_a_dead_worker_records_nothing_upon_the_effect_that_replaced_its_own(factory: Factory, act: str) -> None:
    stale = factory.scene("action/abandoned_stale")
    factory.start_research(stale.key, replace(stale.claim, token=stale.claim.token + 1))
    before = tables(factory.conn)
    with pytest.raises(LeaseLost):
        ACTS[act](factory, stale)
    assert tables(factory.conn) == before
