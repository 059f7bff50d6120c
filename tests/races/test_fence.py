"""A worker whose lease dies while its statement waits for a lock writes nothing, whatever it was that blocked it."""

from __future__ import annotations

from typing import Any

import pytest

from matins.ledger import action, evidence, work
from matins.rules.canonical import sha256
from matins.rules.errors import LeaseLost
from tests.ledger.acts import ACTS
from tests.ledger.factory import LEASE, QUARANTINE, Factory, Scene
from tests.ledger.test_fenced_writes import WRITES
from tests.races.race import Race, only_lock, touch


def _freeze(make: Factory, at: Scene) -> Any:
    return evidence.freeze(
        make.conn, at.key, at.claim, owner="ada", content_hash=sha256(b"{}"), content=b"{}", coverage={}, items=[]
    )


MORE = {"evidence.freeze": _freeze, **{name: act for name, (_, act) in WRITES.items()}}
FENCED = {
    "work.release": "obligation/running",
    "ending.fail": "obligation/running",
    "obligation.complete": "obligation/running",
    "evidence.freeze": "obligation/running",
    "continuation.complete_step": "continuation/running",
    "edition.draft": "edition/none",
    "edition.publish": "edition/drafted",
    "action.start": "action/none",
    "action.record_completed": "action/in_flight",
    "action.record_refused": "action/in_flight",
    "action.record_not_done": "action/in_flight",
    "doubt.doubt": "message/sending_in_flight",
    "admission.admit": "ingest_run/claimed",
    "ingest.settle": "ingest_run/claimed_admitted",
    "ingest.settle:empty": "ingest_run/claimed",
    "ingest.fail": "ingest_run/claimed",
}
ALIKE = {name: scene for name, (scene, _) in WRITES.items() if name not in FENCED} | {
    "ingest.settle:unmodified": "ingest_run/claimed",
    "page_write.open_write": "page_write/none",
    "page_write.mark": "page_write/open",
    "page_write.confirm": "page_write/open",
}
"""Those that open with the same clauses, and are tried in one way."""
CASES = pytest.mark.parametrize(("act", "scene"), FENCED.items(), ids=list(FENCED))


def _act(name: str, at: Scene) -> Any:
    done = MORE.get(name) or ACTS[name]
    return lambda make: done(make, at)


def _take_over(at: Scene) -> Any:
    """What another worker does to work whose holder is dead: a new claim, or the end of a mail in flight."""

    def act(make: Factory) -> None:
        if at.claim.kind == "message":
            assert action.abandon(make.conn, at.key, token=at.claim.token, quarantine=QUARANTINE) == "uncertain"
        else:
            make.claim(at.work_key, step=at.claim.step, holder="worker-2")

    return act


@pytest.mark.parametrize(("act", "scene"), (FENCED | ALIKE).items(), ids=list(FENCED | ALIKE))
def test_blocked_by_one_who_only_locked_it_is_refused_if_its_lease_died_meanwhile(
    race: Race, act: str, scene: str
) -> None:
    at = race.first.scene(scene)
    before = race.tables()
    lost = race.run(only_lock(at.work_key), _act(act, at), meanwhile=lambda: race.clock.forward(LEASE + 1))
    assert type(lost.exception()) is LeaseLost
    assert race.tables() == before


@CASES
def test_blocked_by_one_who_rolled_back_it_is_refused_if_its_lease_died_meanwhile(
    race: Race, act: str, scene: str
) -> None:
    at = race.first.scene(scene)
    before = race.tables()
    lost = race.run(touch(at.work_key), _act(act, at), undo=True, meanwhile=lambda: race.clock.forward(LEASE + 1))
    assert type(lost.exception()) is LeaseLost
    assert race.tables() == before


@CASES
def test_blocked_by_one_who_took_over_it_is_refused_and_the_new_holder_keeps_the_work(
    race: Race, act: str, scene: str
) -> None:
    at = race.first.scene(scene)
    race.clock.forward(LEASE - 1)
    with race.held_by(only_lock(at.work_key)):
        racing = race.pool.submit(_act(act, at), race.second)
        race.waiting(1)
        race.clock.forward(2)
        _take_over(at)(race.first)
        expected = race.first.conn.execute("select token, holder, in_flight from work where key = %s", (at.work_key,))
        left = expected.fetchone()
    assert type(racing.exception()) is LeaseLost
    now = race.clock.conn.execute("select token, holder, in_flight from work where key = %s", (at.work_key,)).fetchone()
    assert now == left


@CASES
def test_blocked_by_one_who_only_locked_it_goes_on_if_its_lease_still_lives(race: Race, act: str, scene: str) -> None:
    at = race.first.scene(scene)
    before = race.tables()
    won = race.run(only_lock(at.work_key), _act(act, at), meanwhile=lambda: race.clock.forward(LEASE - 2))
    assert won.exception() is None
    assert race.tables() != before


def test_a_beat_does_not_renew_a_lease_that_died_in_another_beat(race: Race) -> None:
    at = race.first.scene("obligation/running")
    race.first.die()
    assert work.beat(race.second.conn, [(at.work_key, 1)], lease=LEASE) == set()


def test_one_locked_row_does_not_keep_a_beat_from_renewing_the_others(race: Race) -> None:
    ours = [race.first.scene("obligation/running", owner=name) for name in ("ada", "bob", "cleo")]
    race.clock.forward(5)
    with race.held_by(only_lock(ours[1].work_key)):
        renewed = work.beat(race.second.conn, [(at.work_key, 1) for at in ours], lease=LEASE)
    assert renewed == {ours[0].work_key, ours[2].work_key}
    assert work.beat(race.second.conn, [(at.work_key, 1) for at in ours], lease=LEASE) == {at.work_key for at in ours}


@CASES
def test_after_somebody_else_took_over_it_is_refused_and_changes_nothing(race: Race, act: str, scene: str) -> None:
    at = race.first.scene(scene)
    race.first.die()
    _take_over(at)(race.first)
    before = race.tables()
    with pytest.raises(LeaseLost):
        _act(act, at)(race.second)
    assert race.tables() == before
