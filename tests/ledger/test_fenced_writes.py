"""Writes that move no machine are fenced as well: without the live lease under its newest token they change nothing."""

from __future__ import annotations

from typing import Any

import pytest

from matins.ledger import admission, openings, outgoing, page, summary
from matins.rules.canonical import sha256
from matins.rules.errors import LeaseLost
from tests.ledger import wiki
from tests.ledger.acts import Act
from tests.ledger.factory import Factory, Scene, item
from tests.ledger.scene import DAY
from tests.ledger.tables import tables

PIECE = ("0" * 40, "0" * 64)


def _keep(make: Factory, at: Scene) -> Any:
    return openings.keep(make.conn, at.key, at.claim, content_hash=sha256(b"bundle"), facts={})


def _want(make: Factory, at: Scene) -> Any:
    return page.want(make.conn, at.claim, "ada", DAY, [wiki.telling(PIECE)])


def _admit(make: Factory, at: Scene) -> Any:
    assert at.window is not None
    return admission.admit(make.conn, at.claim, at.window, [item("a")], baseline=True)


WRITES: dict[str, tuple[str, Act]] = {
    "admission.admit": ("ingest_run/claimed", _admit),
    "summary.accept": ("continuation/running", lambda make, at: summary.accept(make.conn, at.claim, [])),
    "page.want": ("continuation/running", _want),
    "openings.keep": ("continuation/running", _keep),
    "outgoing.queue": (
        "continuation/running",
        lambda make, at: outgoing.queue(make.conn, at.key, at.claim, messages=[], send_at=None),
    ),
}
"""Each upon the scene where it may be done."""


@pytest.mark.parametrize(("scene", "act"), WRITES.values(), ids=WRITES)
def test_under_its_own_live_lease_a_write_goes_through(factory: Factory, scene: str, act: Act) -> None:
    act(factory, factory.scene(scene))


@pytest.mark.parametrize("taken_over", [False, True], ids=["its lease is dead", "it was taken over"])
@pytest.mark.parametrize(("scene", "act"), WRITES.values(), ids=WRITES)
def test_a_worker_that_lost_its_lease_writes_nothing(factory: Factory, scene: str, act: Act, taken_over: bool) -> None:
    at = factory.scene(scene)
    factory.die()
    if taken_over:
        factory.claim(at.work_key, step=at.claim.step, holder="worker-2")
    before = tables(factory.conn)
    with pytest.raises(LeaseLost):
        act(factory, at)
    assert tables(factory.conn) == before
