"""Workers are killed at every named point of a morning, one life after the other, and the morning still ends once.

A chain names the point at which each life dies; that it died there is the proof that the point was reached. At most two
lives die in one step: from the third claim on, crashes are spaced by half a minute.
"""

from __future__ import annotations

import signal
from dataclasses import replace

import pytest

from matins.rules import crash
from tests.crash.gate import Gate
from tests.crash.receiving import assert_happened_once
from tests.crash.scene import LIMITS, Scene

pytestmark = pytest.mark.timeout(300)

CHAINS = {
    "planned, fetched, begun": (
        "plan.after_insert", "fetch.after_claim", "fetch.after_page", "action.before_row", "action.after_row",
    ),
    "settled, kept": ("settle.before_commit", "settle.after_commit", "call.after_reply", "record.after_commit"),
    "claimed, put": ("claim.after_commit", "complete.before_commit", "put.before", "complete.before_commit"),
    "completed": ("complete.after_commit", "complete.after_commit", "put.after", "complete.after_commit"),
    "started": ("complete.before_commit", "advance.before_start", "advance.after_start"),
}  # fmt: skip
"""Points of a worker that serves every queue."""

MAIL_CHAINS = {
    "claimed, frozen": ("claim.after_commit", "action.before_row"),
    "begun, connecting": ("action.after_row", "send.before_connect"),
    "at the prompt": ("send.after_prompt", "observe.before_record"),
    "taken, not heard": ("send.after_reply", "observe.before_record"),
    "accepted, looked for": ("send.after_accepted", "observe.before_record"),
}
"""Points of a worker that serves the mail only, while another one does the rest."""


def test_every_named_point_is_one_that_a_worker_dies_at() -> None:
    armed = [point for chain in (*CHAINS.values(), *MAIL_CHAINS.values()) for point in chain]
    assert {point.partition("@")[0] for point in armed} == set(crash.POINTS)


@pytest.mark.parametrize("chain", CHAINS.values(), ids=CHAINS)
def test_a_morning_whose_workers_are_killed_is_finished_once(scene: Scene, chain: tuple[str, ...]) -> None:
    key = scene.owe("ada")
    for point in chain:
        scene.die_at(point)
    scene.live()
    scene.finish(key)
    assert_happened_once(scene, key)


@pytest.mark.parametrize("chain", MAIL_CHAINS.values(), ids=MAIL_CHAINS)
def test_a_mail_whose_senders_are_killed_is_sent_once(scene: Scene, chain: tuple[str, ...]) -> None:
    key = scene.owe("ada")
    scene.live(queues=("ledger", "ai", "fetch"))
    for point in chain:
        scene.die_at(point, queues=["email"])
    scene.live(queues=["email"])
    scene.finish(key)
    assert_happened_once(scene, key)


def test_a_mail_that_arrives_long_after_its_sender_died_is_not_sent_again(scene: Scene) -> None:
    """It is on the wire and in no mailbox yet: "not found" proves nothing before the quarantine is over."""
    scene.limits = replace(LIMITS, smtp_idle=40.0, quarantine=45.0).check()
    scene.mailbox.end(signal.SIGTERM)
    scene.mailbox.idle = scene.limits.smtp_idle
    scene.mailbox.start()
    with Gate(scene.mailbox.smtp_url, held="ada@example.net", late=True) as gate:
        scene.smtp_url = gate.url
        key = scene.owe("ada")
        sender = scene.live()
        scene.wait(gate.reached.is_set, seconds=60, why="the mail never came to the gate")
        sender.kill()
        scene.live()
        scene.wait(lambda: _looks(scene) >= 2, seconds=38, sweep=True, why="nobody looked for the mail")
        gate.open()
        scene.finish(key)
        assert_happened_once(scene, key)


def _looks(scene: Scene) -> int:
    with scene.ledger() as conn:
        [(looks,)] = conn.execute("select looks from message").fetchall()
    return int(looks)
