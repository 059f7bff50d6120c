"""Nothing is stranded: from every state that can be reached, the sweep moves the work on once time has passed."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import nullcontext
from typing import Any

import pytest

from matins.ledger import action, invariants, message, observation
from matins.rules import keys
from matins.sweep import Sweeper
from tests.ledger.acts import ACTS, Act
from tests.ledger.explore import Explorer
from tests.ledger.factory import QUARANTINE, Factory, Scene
from tests.ledger.tables import tables

KERNEL = (
    "work.claim",
    "work.claim:the same holder",
    "work.release",
    "ending.fail",
    "ending.fail:for good",
    "ending.expire",
)
DOUBT = (
    "doubt.doubt", "doubt.accept_found", "doubt.prove_not_sent", "doubt.prove_not_sent:waived", "doubt.hold",
    "doubt.let_go", "message.accept", "message.expire", "observation.observe", "action.start:send",
    "action.abandon:send",
)  # fmt: skip


def _abandon(make: Factory, at: Scene) -> Any:
    for stalled in action.stalled_in(make.conn, at.work_key):
        action.abandon(make.conn, stalled.key, token=stalled.token, quarantine=QUARANTINE)


def _not_done(make: Factory, at: Scene) -> Any:
    (name,) = make.conn.execute("select key from action where work_key = %s", (at.work_key,)).fetchone() or ("",)
    action.record_not_done(make.conn, at.claim, key=name, reason="connection refused")


def _expire_own(make: Factory, at: Scene) -> Any:
    message.expire(make.conn, at.work_key, token=at.claim.token)


def _look(make: Factory, at: Scene) -> Any:
    observation.look_again(make.conn, at.work_key, reason="not found yet")


OWN: dict[str, Act] = {"abandon": _abandon, "not done": _not_done}
MAIL: dict[str, Act] = {"look again": _look, "expire own": _expire_own, "not done": _not_done}

_OVER = """
select work.closed_at is not null and coalesce(message.look_at is null, true)
  from work
  left join message on message.work_key = work.key
 where work.key = %s
"""
_STARTS = "select subject from decision where kind = 'start.failed'"


def _touched(make: Factory, at: Scene) -> bool:
    """Whether a sweep moves this work, or would start its workflow: with no Temporal there, it says which."""
    before = tables(make.conn)["work"][(at.work_key,)]
    sweeper = Sweeper(lambda: nullcontext(make.conn), None, QUARANTINE)
    assert "failed" not in sweeper.run("test")
    started = {row[0] for row in make.conn.execute(_STARTS)}
    workflow = {"message": f"message/{at.work_key}", "ingest": keys.ingest(at.key)}.get(at.claim.kind, at.work_key)
    return workflow in started or tables(make.conn)["work"][(at.work_key,)] != before


def _never_stranded(make: Factory, acts: Mapping[str, Act], at: Scene) -> dict[Any, str]:
    conn = make.conn

    def check(here: Scene, path: str) -> None:
        assert invariants.broken(conn) == {}, path
        over = conn.execute(_OVER, (here.work_key,)).fetchone()
        if over == (True,):
            return
        for hours in (0.3, 24):
            with conn.transaction(force_rollback=True):
                make.clock.forward(hours * 3600)
                assert _touched(make, here), f"stranded {hours} hours after: {path}"

    explorer = Explorer(make, acts, check)
    explorer.visit(at)
    return explorer.seen


@pytest.mark.parametrize(
    ("scene", "acts", "states"),
    [
        ("obligation/queued", (*KERNEL, "action.start", "action.record_completed", "obligation.complete"), 40),
        ("continuation/pending", (*KERNEL, "continuation.complete_step"), 20),
    ],
)
def test_no_leased_work_is_ever_stranded(factory: Factory, scene: str, acts: tuple[str, ...], states: int) -> None:
    at = factory.scene(scene)
    factory.conn.execute("update work set budget = 3 where key = %s", (at.work_key,))
    seen = _never_stranded(factory, {**{name: ACTS[name] for name in acts}, **OWN}, at)
    assert len(seen) >= states


def test_no_message_is_ever_stranded(factory: Factory) -> None:
    at = factory.scene("message/pending")
    factory.conn.execute("update work set budget = 2 where key = %s", (at.work_key,))
    seen = _never_stranded(factory, {**{name: ACTS[name] for name in (*KERNEL, *DOUBT)}, **MAIL}, at)
    print(len(seen))
    assert len(seen) >= 60


def test_no_window_of_a_source_is_ever_stranded(factory: Factory) -> None:
    at = factory.scene("ingest_run/unclaimed")
    factory.conn.execute("update work set budget = 3 where key = %s", (at.work_key,))
    acts = (
        "work.claim",
        "work.claim:the same holder",
        "work.release",
        "ingest.fail",
        "ingest.expire",
        "ingest.settle:empty",
    )
    seen = _never_stranded(factory, {name: ACTS[name] for name in acts}, at)
    assert len(seen) >= 15


def test_a_morning_whose_continuation_was_lost_is_advanced_by_the_sweep(factory: Factory) -> None:
    at = factory.scene("obligation/succeeded_unadvanced")
    assert _touched(factory, at)
    assert invariants.broken(factory.conn) == {}
    found = factory.conn.execute("select status from continuation where key = %s", (at.key,)).fetchone()
    assert found == ("pending",)
