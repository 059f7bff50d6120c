"""A worker that is told to stop, and calls that never come back."""

from __future__ import annotations

import signal
from dataclasses import replace
from datetime import datetime

import pytest

from tests.crash.gate import Gate
from tests.crash.receiving import assert_happened_once
from tests.crash.scene import LIMITS, Scene

pytestmark = pytest.mark.timeout(300)

PATIENT = replace(LIMITS, provider_timeout=25.0, deadline=40.0, quarantine=27.0, grace=30.0).check()


def test_told_to_stop_it_finishes_the_mail_in_flight_and_gives_back_what_is_idle(scene: Scene) -> None:
    scene.limits = PATIENT
    with Gate(scene.mailbox.smtp_url, held="ada@example.net") as gate:
        scene.smtp_url = gate.url
        ada = scene.owe("ada")
        life = scene.live()
        scene.wait(gate.reached.is_set, seconds=60, why="the mail never came to the gate")
        scene.feeds.hold("quay")
        bo = scene.owe("bo", feed="quay")
        scene.wait(lambda: _quay(scene) == (1, True), seconds=60, sweep=True, why="the feed was never asked")
        life.send(signal.SIGTERM)
        scene.wait(lambda: _quay(scene) == (0, False), why="the idle claim was not given back")
        assert _mail_status(scene, ada) == "sending"
        assert life.code is None
        gate.open()
        scene.feeds.free("quay")
        assert life.wait(seconds=PATIENT.grace) == 0
        assert _mail_status(scene, ada) == "accepted"
        scene.live()
        for key in (ada, bo):
            scene.finish(key, sweep=True)
            assert_happened_once(scene, key)


def test_told_to_stop_with_an_answer_that_never_comes_it_leaves_the_mail_in_doubt(scene: Scene) -> None:
    with Gate(scene.mailbox.smtp_url, held="ada@example.net") as gate:
        scene.smtp_url = gate.url
        key = scene.owe("ada")
        life = scene.live()
        scene.wait(gate.reached.is_set, seconds=60, why="the mail never came to the gate")
        assert life.end(seconds=LIMITS.grace + 5) == 0
        assert _mail_status(scene, key) == "uncertain"
        scene.live()
        scene.finish(key, sweep=True)
        assert_happened_once(scene, key)


def test_told_to_stop_it_also_finishes_what_temporal_has_given_up(scene: Scene) -> None:
    scene.limits = PATIENT
    with Gate(scene.mailbox.smtp_url, held="ada@example.net") as gate:
        scene.smtp_url = gate.url
        key = scene.owe("ada")
        life = scene.live()
        scene.wait(gate.reached.is_set, seconds=60, why="the mail never came to the gate")
        scene.ask(_terminate(scene))
        for _ in range(3):
            before = _mail_lease(scene)
            scene.wait(lambda: _mail_lease(scene) > before, why="the mail's lease was not renewed")  # noqa: B023
        life.send(signal.SIGTERM)
        scene.wait(lambda: "stopping" in life.said(), why="it did not hear that it should stop")
        gate.open()
        assert life.wait(seconds=PATIENT.grace) == 0
        assert _mail_status(scene, key) == "accepted"


def test_a_worker_that_cannot_end_in_its_grace_ends_itself(scene: Scene) -> None:
    scene.feeds.hold("pier")
    scene.owe("ada")
    life = scene.live()
    scene.wait(lambda: _held(scene, "ingest"), seconds=60, why="the feed was never asked")
    life.send(signal.SIGTERM)
    assert life.wait(seconds=LIMITS.grace + 10) == 1
    assert not _held(scene, "ingest")


def test_a_hung_call_is_ended_by_its_deadline_while_others_go_on(scene: Scene) -> None:
    with Gate(scene.mailbox.smtp_url, held="ada@example.net") as gate:
        scene.smtp_url = gate.url
        ada, bo = scene.owe("ada"), scene.owe("bo", feed="quay")
        scene.live()
        scene.wait(gate.reached.is_set, seconds=60, why="the mail never came to the gate")
        scene.finish(bo)
        scene.finish(ada)
        for key in (ada, bo):
            assert_happened_once(scene, key)
        assert _doubts(scene) == ["ada"]


def _quay(scene: Scene) -> tuple[int, bool] | None:
    """Attempts at the second feed's window, and whether somebody holds it."""
    with scene.ledger() as conn:
        found: tuple[int, bool] | None = conn.execute(
            """
            select attempts, holder is not null
              from work
              join source on source.window_key = work.key
             where source.url like '%/quay.xml'
            """
        ).fetchone()
    return found


def _held(scene: Scene, kind: str) -> bool:
    with scene.ledger() as conn:
        held = "select 1 from work where kind = %s and lease_expires_at > ledger_now()"
        return conn.execute(held, (kind,)).fetchone() is not None


def _mail_status(scene: Scene, key: str) -> str:
    with scene.ledger() as conn:
        [(status,)] = conn.execute("select status from message where subject = %s", (key,)).fetchall()
    return str(status)


def _doubts(scene: Scene) -> list[str]:
    """The owners whose mail was of unknown fate."""
    with scene.ledger() as conn:
        found = conn.execute(
            """
            select split_part(message.subject, '/', 1)
              from audit
              join message on message.work_key = audit.subject
             where audit.event = 'message.uncertain'
            """
        ).fetchall()
    return [owner for (owner,) in found]


def _mail_lease(scene: Scene) -> datetime:
    with scene.ledger() as conn:
        [(until,)] = conn.execute("select lease_expires_at from work where kind = 'message'").fetchall()
    assert isinstance(until, datetime)
    return until


async def _terminate(scene: Scene) -> None:
    """End the mail's workflow, as an operator may."""
    with scene.ledger() as conn:
        [(work_key,)] = conn.execute("select work_key from message").fetchall()
    await (await scene.connect()).get_workflow_handle(work_key).terminate()
