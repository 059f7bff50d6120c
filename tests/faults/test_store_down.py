"""The object store is slow, goes down in the middle of a morning and comes back, and is cut off amid a bundle."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo

import pytest
from temporalio.api.common.v1 import WorkflowExecution
from temporalio.api.workflowservice.v1 import ResetActivityRequest

from matins.cli import telling
from matins.ledger import standing
from matins.local import objects, part, ports
from matins.local.objects import Store
from matins.rules import keys
from matins.rules.verdict import Morning, State, state
from tests.crash.receiving import assert_happened_once
from tests.crash.relay import Relay
from tests.crash.scene import Scene, a_zone_by_day

pytestmark = pytest.mark.timeout(300)

SLOW = 0.03
"""Seconds by which each piece that goes to the store or comes from it is late."""


class OwnStore:
    """A store of this test's own, which it may stop, and a slow line to it, which it may cut."""

    def __init__(self, directory: Path) -> None:
        self._directory, self._port = directory, ports.search(str(directory), width=objects.WIDTH)
        started = self.start()
        self.line = Relay(urlsplit(started.endpoint).netloc, delay=SLOW)
        self.settings = {
            "endpoint": f"http://{self.line.address}",
            "access_key": started.access_key,
            "secret_key": started.secret_key,
            "bucket": started.bucket,
        }

    def start(self) -> Store:
        """Start it, on its own port and with what it had."""
        return objects.start(self._directory, port=self._port, bucket="mornings")

    def stop(self) -> None:
        """Stop it as a power cut does."""
        part.stop(self._directory, objects.NAME, grace=0)
        objects.clear_sockets()


@pytest.fixture
def store(tmp_path: Path) -> Iterator[OwnStore]:
    """A running store."""
    directory = tmp_path / "own-store"
    directory.mkdir()
    made = OwnStore(directory)
    yield made
    made.line.close()
    made.stop()


def test_a_morning_whose_store_goes_down_twice_is_published_when_it_is_back_and_mailed_only_then(
    scene: Scene, store: OwnStore
) -> None:
    scene.store = store.settings
    scene.feeds.hold("pier")
    key = scene.owe("ada")
    life = scene.live("put.before:stop")
    scene.wait(lambda: _is_read(scene), seconds=60, why="the feed was never asked")
    store.stop()
    scene.feeds.free("pier")
    scene.wait(lambda: _trouble(scene) == ("reading the sources", "no answer"), seconds=30, why="it was not told")
    store.start()
    hasten = partial(_hasten, scene, keys.obligation_work(key), "obligation.research")
    scene.wait(lambda: hasten() and life.is_frozen(), seconds=60, why="it never came to the bundle")
    store.line.refuses = True
    store.line.cut()
    life.thaw()
    scene.wait(lambda: _trouble(scene) == ("publishing", "no answer"), seconds=30, why="it was not told")
    assert scene.mailbox.ledger() == []
    store.line.refuses = False
    hasten = partial(_hasten, scene, keys.continuation_work(key), "continuation.publish")
    scene.wait(lambda: hasten() and scene.is_finished(key), seconds=60, why="it was never finished")
    assert state(_morning(scene)) is State.READY
    assert_happened_once(scene, key)
    assert life.end(seconds=scene.limits.grace + 5) == 0


def _is_read(scene: Scene) -> bool:
    with scene.ledger() as conn:
        held = "select 1 from work where kind = 'ingest' and lease_expires_at > ledger_now()"
        return conn.execute(held).fetchone() is not None


def _morning(scene: Scene) -> Morning:
    today = datetime.now(UTC).astimezone(ZoneInfo(a_zone_by_day())).date()
    with scene.ledger() as conn:
        [found] = standing.mornings(conn, today, owner="ada")
    return found


def _trouble(scene: Scene) -> tuple[str, str]:
    """What `matins owed` and `matins why` say was at hand and did not work, and why, without the details."""
    doing, _, why = telling.standing(_morning(scene), viewer="UTC").partition(": did not work (s3:mornings: ")
    return doing, why.partition(" (")[0]


def _hasten(scene: Scene, work_key: str, activity: str) -> bool:
    """Let the half minute pass at once that follows a failure: for the ledger, and for Temporal's own timer."""
    with scene.ledger() as conn:
        waited = conn.execute(
            "update work set retry_at = ledger_now() where key = %s and retry_at > ledger_now() and holder is null",
            (work_key,),
        ).rowcount
    if waited:
        scene.ask(_reset(scene, work_key, activity))
    return True


async def _reset(scene: Scene, workflow: str, activity: str) -> None:
    client = await scene.connect()
    asked = ResetActivityRequest(
        namespace=scene.namespace, execution=WorkflowExecution(workflow_id=workflow), type=activity
    )
    await client.workflow_service.reset_activity(asked)
