"""A worker with three connections to Postgres, all of which are caught in slow queries for longer than a lease."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import Any

import psycopg
import pytest

from tests.crash.gate import Gate
from tests.crash.receiving import assert_happened_once
from tests.crash.scene import LIMITS, Scene

pytestmark = pytest.mark.timeout(300)

PATIENT = replace(LIMITS, provider_timeout=25.0, deadline=40.0, quarantine=27.0, grace=30.0).check()
POOL = 3
OTHERS = 8
"""As many as a worker researches at once: five of them wait for a connection."""


def test_a_worker_of_three_connections_loses_no_lease_to_slow_queries_and_finishes_every_morning(
    scene: Scene,
) -> None:
    scene.limits, scene.pool = PATIENT, POOL
    with Gate(scene.mailbox.smtp_url, held="ada@example.net") as gate:
        scene.smtp_url = gate.url
        ada = scene.owe("ada")
        scene.live()
        scene.wait(gate.reached.is_set, seconds=60, why="the mail never came to the gate")
        others = [scene.owe(f"owner-{number}") for number in range(OTHERS)]
        with psycopg.connect(scene.dsn) as slow:
            slow.execute("lock table evidence_set in access exclusive mode")
            scene.sweep()
            scene.wait(lambda: _caught(scene) == POOL, seconds=30, why="the pool was never used up")
            held = _held(scene)
            scene.wait(lambda: _all_renewed(scene, held), seconds=20, why="a lease was not renewed, or was taken")
        gate.open()
        for key in (ada, *others):
            scene.finish(key)
        assert len(scene.mailbox.ledger()) == 1 + OTHERS
        assert_happened_once(scene, ada)


def _caught(scene: Scene) -> int:
    """Connections that wait for a lock; asked on one that the test keeps."""
    with scene.ledger() as conn:
        found = conn.execute(
            """
            select count(*)
              from pg_stat_activity
             where datname = current_database()
               and wait_event_type = 'Lock'
            """
        ).fetchone()
    assert found is not None
    return int(found[0])


def _held(scene: Scene) -> dict[Any, datetime]:
    """(key, token) of the work that somebody holds, and until when."""
    with scene.ledger() as conn:
        found = conn.execute("select key, token, lease_expires_at from work where lease_expires_at > ledger_now()")
        held = {(key, token): until for key, token, until in found.fetchall()}
    assert len(held) >= POOL
    return held


def _all_renewed(scene: Scene, held: dict[Any, datetime]) -> bool:
    """Whether each of these leases has outlived its term; fails if one was lost."""
    with scene.ledger() as conn:
        found = conn.execute("select key, token, lease_expires_at, ledger_now() from work where holder is not null")
        now_held = {(key, token): (until, now) for key, token, until, now in found.fetchall()}
    assert held.keys() <= now_held.keys()
    assert all(until > now for until, now in (now_held[one] for one in held))
    return all(now_held[one][1] > until for one, until in held.items())
