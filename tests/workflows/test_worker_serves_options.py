"""What `workflows/options.py` names is what `worker.py` serves: a replay would not notice."""

from __future__ import annotations

import ast
import asyncio
from datetime import timedelta
from pathlib import Path
from typing import Any, cast

import pytest
from temporalio import workflow
from temporalio.activity import _Definition
from temporalio.client import Client

import worker
from activities.clerk import Clerk
from activities.delivery import Delivery
from activities.failures import translate
from activities.ingest import Ingest
from activities.openings import Openings
from activities.pages import Pages
from activities.research import Research
from activities.steps import Steps
from activities.wiki import Wiki
from matins import orchestrator
from matins.orchestrator import Orchestrator
from matins.rules import errors
from matins.rules.limits import Limits
from matins.settings import CHECKOUT
from matins.sources.fetch import Fetcher
from workflows import options

NOBODY: Any = None


def _served() -> worker.Activities:
    pages = Pages(NOBODY, NOBODY, put_timeout=1.0)
    return worker.activities_by_queue(
        worker.Rooms(
            research=Research(NOBODY, NOBODY, poll_wait=1.0),
            steps=Steps(NOBODY, NOBODY, sender=""),
            openings=Openings(NOBODY, NOBODY, sender=""),
            wiki=Wiki(NOBODY, NOBODY, pages),
            pages=pages,
            delivery=Delivery(NOBODY, NOBODY, None, sender=""),
            ingest=Ingest(NOBODY, Fetcher()),
            clerk=Clerk(NOBODY, NOBODY),
        )
    )


def test_every_queue_serves_exactly_the_activities_named_for_it() -> None:
    named: dict[str, set[str]] = {queue: set() for queue in options.QUEUES}
    acts = [act for moves in options.MOVES.values() for act in moves.values()]
    for act in (options.ASK, options.SWEEP, *acts):
        named[act.queue].add(act.activity)
    served = {
        queue: {cast(str, _Definition.must_from_callable(one).name) for one in activities}
        for queue, activities in _served().items()
    }
    assert served == named


def test_no_activity_has_a_cancel_thrown_into_its_thread() -> None:
    definitions = [_Definition.must_from_callable(one) for served in _served().values() for one in served]
    assert [one.name for one in definitions if not one.no_thread_cancel_exception] == []
    assert [one.name for one in definitions if one.is_async] == []


def test_every_queue_is_polled_with_a_thread_for_each_slot_and_beats_as_often_as_the_lease_needs(
    temporal_address: str,
) -> None:
    limits = Limits()

    async def configured() -> list[Any]:
        client = await Client.connect(temporal_address)
        made = worker.workers(client, limits, _served(), options.QUEUES)
        return [one.config() for one in made]

    found = asyncio.run(configured())
    assert [one["task_queue"] for one in found] == list(options.QUEUES)
    for one in found:
        slots = worker.SLOTS[one["task_queue"]]
        assert (one["max_concurrent_activities"], one["activity_executor"]._max_workers) == (slots, slots)
        assert one["max_heartbeat_throttle_interval"] == timedelta(seconds=limits.beat)
        assert one["default_heartbeat_throttle_interval"] == timedelta(seconds=limits.beat)
        assert one["graceful_shutdown_timeout"] > timedelta(seconds=limits.provider_timeout)


def test_every_workflow_that_is_started_by_name_is_served() -> None:
    served = {workflow._Definition.must_from_class(one).name for one in worker.WORKFLOWS}
    scheduled = cast(Any, Orchestrator(NOBODY, NOBODY, {}).schedule().action)
    assert served == {*orchestrator.WORKFLOWS.values(), scheduled.workflow}
    assert set(orchestrator.WORKFLOWS) == set(options.MOVES)
    assert {orchestrator.QUEUE, scheduled.task_queue} == {"ledger"}


def _tree() -> dict[str, type[errors.MatinsError]]:
    return {
        name: one for name, one in vars(errors).items() if isinstance(one, type) and issubclass(one, errors.MatinsError)
    }


@pytest.mark.parametrize("name", sorted(_tree()))
def test_every_class_of_the_tree_leaves_an_activity_under_its_own_name(name: str) -> None:
    made = _tree()[name].__new__(_tree()[name])
    made.message, made.key = "a sentence", "a/key"
    made.wait = 1.0  # type: ignore[attr-defined]
    failure = translate(made)
    assert failure.type == name
    assert failure.__cause__ is None
    waits = name in ("LeaseHeld", "NotDue")
    assert (failure.next_retry_delay is not None) == waits
    again = {"LeaseHeld", "NotDue", "ActionInFlight", "LeaseLost", "ProviderUnavailable", "ObjectChanged",
             "OutcomeUnknown"}  # fmt: skip
    outside = {"MatinsError", "TemporalUnreachable", "ProviderError", "ProviderRefused"}
    assert failure.non_retryable == (name not in again | outside)


def test_every_error_type_that_a_workflow_names_is_a_class_of_the_tree() -> None:
    named: set[str] = set()
    for path in sorted((CHECKOUT / "workflows").glob("*.py")):
        named |= _error_types(path)
    assert named <= set(_tree())


def _error_types(path: Path) -> set[str]:
    """Strings given as `type=` or in `non_retryable_error_types=`, or compared with `.type`."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.keyword) and node.arg in ("type", "non_retryable_error_types"):
            found |= {one.value for one in ast.walk(node.value) if isinstance(one, ast.Constant)}
        if isinstance(node, ast.Compare) and isinstance(node.left, ast.Attribute) and node.left.attr == "type":
            found |= {one.value for one in ast.walk(node) if isinstance(one, ast.Constant)}
    return found
