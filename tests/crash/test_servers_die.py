"""Postgres is killed and Temporal is wiped in mid-morning, and the morning still ends once."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from matins.ledger.migrate import migrate
from matins.local import part, ports, postgres, process, temporal
from tests.crash.gate import Gate
from tests.crash.receiving import assert_happened_once
from tests.crash.scene import LIMITS, Scene

pytestmark = pytest.mark.timeout(300)

PATIENT = replace(LIMITS, provider_timeout=25.0, deadline=40.0, quarantine=27.0, grace=30.0).check()


@pytest.fixture
def own_postgres(tmp_path: Path) -> Iterator[Path]:
    """The directory of a Postgres that this test may kill; it waits for the disk, as a real one does."""
    directory = tmp_path / "own-postgres"
    directory.mkdir()
    try:
        migrate(_start_postgres(directory))
        yield directory
    finally:
        postgres.stop(directory)


@pytest.fixture
def own_temporal(tmp_path: Path) -> Iterator[Path]:
    """The directory of a Temporal that this test may wipe."""
    directory = tmp_path / "own-temporal"
    directory.mkdir()
    try:
        _start_temporal(directory)
        yield directory
    finally:
        part.stop(directory, temporal.NAME, grace=0)


def test_postgres_killed_in_mid_read_and_in_mid_send_costs_no_mail_and_no_second_one(
    scene: Scene, own_postgres: Path
) -> None:
    scene.limits, scene.dsn = PATIENT, _start_postgres(own_postgres)
    with Gate(scene.mailbox.smtp_url, held="ada@example.net") as gate:
        scene.smtp_url = gate.url
        scene.feeds.hold("pier")
        key = scene.owe("ada")
        scene.live()
        scene.wait(lambda: _is_read(scene), seconds=60, why="the feed was never asked")
        _kill(own_postgres, postgres.NAME)
        scene.feeds.free("pier")
        _start_postgres(own_postgres)
        scene.wait(gate.reached.is_set, seconds=90, sweep=True, why="the mail never came to the gate")
        _kill(own_postgres, postgres.NAME)
        gate.open()
        _start_postgres(own_postgres)
        scene.finish(key, sweep=True)
        assert_happened_once(scene, key)


def test_temporal_wiped_in_mid_morning_is_made_whole_and_the_morning_ends_from_postgres(
    scene: Scene, own_temporal: Path
) -> None:
    scene.limits, scene.sweep_every, scene.namespace = PATIENT, 3.0, "mornings"
    scene.temporal = _start_temporal(own_temporal)
    with Gate(scene.mailbox.smtp_url, held="ada@example.net") as gate:
        scene.smtp_url = gate.url
        ada = scene.owe("ada")
        scene.live()
        scene.wait(gate.reached.is_set, seconds=60, why="the mail never came to the gate")
        scene.feeds.hold("quay")
        bo = scene.owe("bo", feed="quay")
        scene.wait(lambda: _is_read(scene), seconds=60, why="the feed was never asked")
        _kill(own_temporal, temporal.NAME)
        for file in own_temporal.glob("temporal.db*"):
            file.unlink()
        gate.open()
        scene.feeds.free("quay")
        _start_temporal(own_temporal)
        for key in (ada, bo):
            scene.finish(key)
        for key in (ada, bo):
            assert_happened_once(scene, key)
    assert _mended(scene) == []


def _start_postgres(directory: Path) -> str:
    return postgres.start(directory, port=_port(directory)).dsn


def _start_temporal(directory: Path) -> str:
    return temporal.start(directory, port=_port(directory)).address


def _port(directory: Path) -> int:
    """The same port each time."""
    kept = directory / "port"
    if not kept.exists():
        kept.write_text(str(ports.search(str(directory))))
    return int(kept.read_text())


def _kill(directory: Path, name: str) -> None:
    running = process.running(part.pid_file(directory, name))
    assert running is not None
    os.kill(running.pid, signal.SIGKILL)
    assert process.wait(lambda: not process.alive(running), seconds=20)


def _is_read(scene: Scene) -> bool:
    with scene.ledger() as conn:
        held = "select 1 from work where kind = 'ingest' and lease_expires_at > ledger_now()"
        return conn.execute(held).fetchone() is not None


def _mended(scene: Scene) -> list[str]:
    """What is still not as it should be in Temporal."""
    return scene.ask(scene.orchestrator().ensure())
