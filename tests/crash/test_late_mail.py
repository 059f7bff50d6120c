"""A mail that is still on its way when its sender is killed. (The named points are in test_two_lives.py.)"""

from __future__ import annotations

import signal
from dataclasses import replace

import pytest

from tests.crash.gate import Gate
from tests.crash.receiving import assert_happened_once
from tests.crash.scene import LIMITS, Scene

pytestmark = pytest.mark.timeout(300)


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
