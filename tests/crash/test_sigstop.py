"""A worker is frozen past its lease while another one finishes, and then goes on: it changes nothing any more."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.crash.gate import Gate
from tests.crash.life import Life
from tests.crash.receiving import assert_happened_once
from tests.crash.scene import LIMITS, Scene

pytestmark = pytest.mark.timeout(300)

TABLES = (
    "work", "obligation", "continuation", "action", "message", "edition", "edition_current", "evidence_set",
    "evidence_item", "source", "ingest_run", "event", "evidence", "frozen", "audit", "decision",
)  # fmt: skip


def test_a_sender_frozen_before_it_connects_sends_nothing_afterwards(scene: Scene) -> None:
    key = scene.owe("ada")
    scene.live(queues=("ledger", "ai", "fetch"))
    zombie = scene.freeze_at("send.before_connect", queues=["email"])
    _let_another_finish(scene, key, queues=["email"])
    _go_on(scene, zombie)
    assert_happened_once(scene, key)


def test_a_sender_that_thaws_while_another_sends_does_not_send_as_well(scene: Scene) -> None:
    scene.limits = replace(LIMITS, provider_timeout=7.0, quarantine=7.5, deadline=9.0, grace=8.0).check()
    with Gate(scene.mailbox.smtp_url, held="ada@example.net") as gate:
        scene.smtp_url = gate.url
        key = scene.owe("ada")
        scene.live(queues=("ledger", "ai", "fetch"))
        zombie = scene.freeze_at("send.before_connect", queues=["email"])
        scene.live(queues=["email"])
        scene.wait(gate.reached.is_set, seconds=90, why="nobody else sent the mail")
        zombie.thaw()
        assert zombie.end(seconds=scene.limits.grace + 10) == 0
        gate.open()
        scene.finish(key)
        assert_happened_once(scene, key)
        assert _tokens(scene) == sorted(_tokens(scene))


def test_a_sender_frozen_at_the_prompt_sends_nothing_afterwards(scene: Scene) -> None:
    key = scene.owe("ada")
    scene.live(queues=("ledger", "ai", "fetch"))
    zombie = scene.freeze_at("send.after_prompt", queues=["email"])
    _let_another_finish(scene, key, queues=["email"])
    _go_on(scene, zombie)
    assert_happened_once(scene, key)


def test_a_writer_frozen_before_it_completes_completes_nothing_afterwards(scene: Scene) -> None:
    key = scene.owe("ada")
    scene.live(queues=("ledger", "fetch", "email"))
    zombie = scene.freeze_at("complete.before_commit", queues=["ai"])
    _let_another_finish(scene, key, queues=["ai"])
    _go_on(scene, zombie)
    assert_happened_once(scene, key)


def test_a_publisher_frozen_before_its_put_leaves_one_bundle(scene: Scene) -> None:
    key = scene.owe("ada")
    scene.live(queues=("ai", "fetch", "email"))
    zombie = scene.freeze_at("put.before", queues=["ledger"])
    _let_another_finish(scene, key, queues=["ledger"])
    _go_on(scene, zombie)
    assert_happened_once(scene, key)


def _let_another_finish(scene: Scene, key: str, *, queues: list[str]) -> None:
    scene.live(queues=queues)
    scene.finish(key, seconds=90)


def _go_on(scene: Scene, zombie: Life) -> None:
    """Thaw the frozen worker, let it end what it is at, and see that no row of the ledger is another one."""
    before = _rows(scene)
    zombie.thaw()
    assert zombie.end(seconds=LIMITS.grace + 10) == 0
    assert _rows(scene) == before


def _rows(scene: Scene) -> dict[str, list[Any]]:
    with scene.ledger() as conn:
        found = {name: conn.execute(f"select {name}::text from {name}").fetchall() for name in TABLES}
    return {name: sorted(rows) for name, rows in found.items()}


def _tokens(scene: Scene) -> list[int]:
    """The tokens under which the mail was moved, in the order of the audit."""
    with scene.ledger() as conn:
        acts = conn.execute("select token from audit where subject like 'message/%' and token is not null order by id")
        return [token for (token,) in acts.fetchall()]
