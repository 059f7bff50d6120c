"""Nothing is stranded: from every state that can be reached, the sweep moves the work on once time has passed."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import nullcontext
from typing import Any

import pytest

from matins.ledger import action, invariants, message, observation, page
from matins.rules import keys
from matins.sweep import Sweeper
from tests.ledger import wiki
from tests.ledger.acts import ACTS, Act
from tests.ledger.explore import Explorer
from tests.ledger.factory import QUARANTINE, Factory, Scene
from tests.ledger.tables import tables

LEASED = ("work.claim", "work.claim:the same holder", "work.release", "ending.fail", "ending.expire")
MESSAGE = (
    "work.claim", "work.release", "ending.fail", "action.start:send", "action.abandon:send", "doubt.doubt",
    "doubt.prove_not_sent", "doubt.hold", "message.accept", "message.expire",
)  # fmt: skip
INGEST = (
    "work.claim", "work.claim:the same holder", "work.release", "ingest.fail", "window.expire", "ingest.settle:empty",
)  # fmt: skip
AFTER = 2000.0
"""Seconds after which every wait is over: the longest spacing, and the pause between two reads of a source."""
AFTER_REST = 4000.0
"""The same for a page, which rests for an hour."""


def _abandon(make: Factory, at: Scene) -> Any:
    for stalled in action.stalled_in(make.conn, at.work_key):
        action.abandon(make.conn, stalled.key, token=stalled.token, quarantine=QUARANTINE)


def _not_done(make: Factory, at: Scene) -> Any:
    (name,) = make.conn.execute("select key from action where work_key = %s", (at.work_key,)).fetchone() or ("",)
    action.record_not_done(make.conn, at.claim, key=name, reason="connection refused")


def _look(make: Factory, at: Scene) -> Any:
    observation.look_again(make.conn, at.work_key, reason="not found yet")


def _expire_own(make: Factory, at: Scene) -> Any:
    message.expire(make.conn, at.work_key, token=at.claim.token)


def _mark_newest(make: Factory, at: Scene) -> Any:
    wiki.mark(make, at, version=page.state(make.conn, at.key).wanted)


def _newer_text(make: Factory, at: Scene) -> Any:
    make.conn.execute("update page set wanted = wanted + 1 where id = %s and wanted <= published", (at.key,))


_OVER = """
select work.closed_at is not null and message.look_at is null
    or page.wanted = page.published and page.recheck_at is null
  from work
  left join message on message.work_key = work.key
  left join page on page.work_key = work.key
 where work.key = %s
"""
_STARTS = "select subject from decision where kind = 'start.failed'"


def _sweep(make: Factory) -> set[str]:
    """One sweep. There is no Temporal, so it writes down each workflow that it would have started."""
    counts = Sweeper(lambda: nullcontext(make.conn), None, QUARANTINE).run("test")
    assert "failed" not in counts
    return {row[0] for row in make.conn.execute(_STARTS)}


def _touched(make: Factory, at: Scene) -> bool:
    before = tables(make.conn)["work"][(at.work_key,)]
    workflow = {"message": f"message/{at.work_key}", "ingest": keys.ingest(at.key)}.get(at.claim.kind, at.work_key)
    return workflow in _sweep(make) or tables(make.conn)["work"][(at.work_key,)] != before


def _explore(make: Factory, at: Scene, acts: Mapping[str, Act], *, budget: int, after: float = AFTER) -> int:
    """Try everything from `at`. Returns how many states there are, none of them stranded."""
    conn = make.conn
    conn.execute("update work set budget = %s where key = %s", (budget, at.work_key))

    def check(here: Scene, path: str) -> None:
        assert invariants.broken(conn) == {}, path
        if conn.execute(_OVER, (here.work_key,)).fetchone() == (True,):
            return
        with conn.transaction(force_rollback=True):
            make.clock.forward(after)
            assert _touched(make, here), f"stranded after: {path}"

    explorer = Explorer(make, acts, check)
    explorer.visit(at)
    return len(explorer.seen)


def _named(*names: str) -> dict[str, Act]:
    return {name: ACTS[name] for name in names}


def test_no_obligation_is_ever_stranded(factory: Factory) -> None:
    acts = _named(*LEASED, "action.start", "action.record_completed", "obligation.complete")
    at = factory.scene("obligation/queued")
    assert _explore(factory, at, acts | {"abandon": _abandon, "not done": _not_done}, budget=2) > 50


def test_no_continuation_is_ever_stranded(factory: Factory) -> None:
    at = factory.scene("continuation/pending")
    assert _explore(factory, at, _named(*LEASED, "continuation.complete_step"), budget=3) > 15


def test_no_message_is_ever_stranded(factory: Factory) -> None:
    own = {"look again": _look, "expire its own": _expire_own, "not done": _not_done}
    at = factory.scene("message/pending")
    assert _explore(factory, at, _named(*MESSAGE) | own, budget=2) > 80


def test_no_window_of_a_source_is_ever_stranded(factory: Factory) -> None:
    at = factory.scene("ingest_run/unclaimed")
    assert _explore(factory, at, _named(*INGEST), budget=3) > 15


def test_no_page_of_the_wiki_is_ever_stranded(factory: Factory) -> None:
    acts = _named("work.claim", "ending.expire", "page_write.open_write:the newest", "page_write.confirm")
    own = {"mark": _mark_newest, "a newer text": _newer_text}
    at = factory.scene("page_write/unclaimed")
    assert _explore(factory, at, acts | own, budget=1, after=AFTER_REST) > 30


def test_a_morning_whose_continuation_was_lost_is_advanced_by_the_sweep(factory: Factory) -> None:
    at = factory.scene("obligation/succeeded_unadvanced")
    assert f"continuation/{at.key}" in _sweep(factory)
    found = factory.conn.execute("select status from continuation where key = %s", (at.key,)).fetchone()
    assert found == ("pending",)


@pytest.mark.parametrize("scene", ["obligation/declared", "obligation/queued"])
def test_a_morning_that_nobody_begins_is_missed_by_the_sweep_and_its_brief_with_it(
    factory: Factory, scene: str
) -> None:
    factory.scene(scene)
    factory.clock.forward(24 * 3600)
    _sweep(factory)
    missed = factory.conn.execute("select product from obligation where status = 'missed' order by product").fetchall()
    assert missed == [("brief",), ("morning",)]
