"""Every recorded history replays on the code as it is now. `record.py` says how they are made."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest
from temporalio import workflow
from temporalio.client import WorkflowHistory
from temporalio.worker import Replayer

import worker
from matins.rules import plans

HISTORIES = sorted((Path(__file__).parent / "histories").glob("*.json"))


@pytest.mark.parametrize("file", HISTORIES, ids=[file.stem for file in HISTORIES])
def test_a_recorded_history_replays(file: Path) -> None:
    history = WorkflowHistory.from_json(_started(file)["workflowId"], file.read_text(encoding="utf-8"))
    replayed = asyncio.run(Replayer(workflows=worker.WORKFLOWS).replay_workflow(history))
    assert replayed.replay_failure is None


def test_there_is_a_history_of_every_workflow() -> None:
    recorded = {_started(file)["workflowType"]["name"] for file in HISTORIES}
    assert recorded == {workflow._Definition.must_from_class(one).name for one in worker.WORKFLOWS}


def test_every_plan_has_a_history_of_its_steps() -> None:
    """A morning in flight under an old plan ends under it, whatever code is running by then."""
    recorded = {tuple(_acts(file)) for file in HISTORIES if "-Continuation-" in file.name}
    planned = {tuple(f"continuation.{step}" for step in steps) for steps in plans.STEPS.values()}
    assert planned <= recorded


def _acts(file: Path) -> list[str]:
    """The activities of a history, each once, in order."""
    events = json.loads(file.read_text(encoding="utf-8"))["events"]
    asked = [event.get("activityTaskScheduledEventAttributes") for event in events]
    return list(dict.fromkeys(one["activityType"]["name"] for one in asked if one))


def test_a_history_of_another_shape_does_not_replay() -> None:
    file = next(file for file in HISTORIES if _started(file)["workflowType"]["name"] == "Continuation")
    other = file.read_text(encoding="utf-8").replace("continuation.publish", "continuation.proclaim")
    history = WorkflowHistory.from_json("other", other)
    with pytest.raises(workflow.NondeterminismError):
        asyncio.run(Replayer(workflows=worker.WORKFLOWS).replay_workflow(history))


def _started(file: Path) -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = json.loads(file.read_text(encoding="utf-8"))["events"][0][
        "workflowExecutionStartedEventAttributes"
    ]
    return found
