"""Starting and describing workflows, and keeping Temporal as it should be: namespace, search attributes, Schedules.

Everything is derived from the ledger's keys; a wiped Temporal is made whole again by the keeper. Workflows are named
by strings, so that this floor does not import theirs.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, TypeVar

from google.protobuf.duration_pb2 import Duration
from temporalio.api.enums.v1 import IndexedValueType
from temporalio.api.operatorservice.v1 import AddSearchAttributesRequest, ListSearchAttributesRequest
from temporalio.api.workflowservice.v1 import DescribeNamespaceRequest, RegisterNamespaceRequest
from temporalio.client import (
    Client,
    Schedule,
    ScheduleActionStartWorkflow,
    ScheduleAlreadyRunningError,
    ScheduleIntervalSpec,
    ScheduleOverlapPolicy,
    SchedulePolicy,
    ScheduleSpec,
    ScheduleState,
    ScheduleUpdate,
)
from temporalio.common import (
    SearchAttributeKey,
    SearchAttributePair,
    TypedSearchAttributes,
    WorkflowIDConflictPolicy,
    WorkflowIDReusePolicy,
)
from temporalio.service import RPCError, RPCStatusCode

from matins.rules import keys, limits
from matins.rules.errors import Refused, TemporalUnreachable

log = logging.getLogger(__name__)

QUEUE = "ledger"
OWNER = SearchAttributeKey.for_keyword("MatinsOwner")
PRODUCT = SearchAttributeKey.for_keyword("MatinsProduct")
DATE = SearchAttributeKey.for_keyword("MatinsDate")
ATTRIBUTES = (OWNER, PRODUCT, DATE)
SWEEP = "sweep"
_RPC_TIMEOUT = timedelta(seconds=10)
_RETENTION_SECONDS = 7 * 86400

WORKFLOWS = {
    "obligation": "Obligation",
    "continuation": "Continuation",
    "message": "Delivery",
    "ingest": "Ingest",
    "page": "Page",
}

Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True)
class Orchestrator:
    """Temporal, as the ledger's servant. `loop` runs the client; every method here may be called from any thread."""

    client: Client
    loop: asyncio.AbstractEventLoop
    pace: dict[str, float]
    """The timeouts that ride in each start argument (`activities.messages.Pace`), in seconds."""
    sweep_every: float = limits.SWEEP_EVERY

    def start(self, kind: str, key: str, *, hint: str = "", about: str = "", replace: bool = False) -> None:
        """Start the workflow of `kind` for `key` under its derived id; one that runs already is used.

        It is found by the owner, product and date of `about`, the morning's key, where `key` does not tell them.
        `replace` terminates the running one. Raises TemporalUnreachable.
        """
        self._call(self._start(kind, key, hint, about or key, replace))

    async def _start(self, kind: str, key: str, hint: str, about: str, replace: bool) -> None:
        policy = WorkflowIDConflictPolicy.TERMINATE_EXISTING if replace else WorkflowIDConflictPolicy.USE_EXISTING
        options: dict[str, Any] = {
            "id": workflow_id(kind, key),
            "task_queue": QUEUE,
            "id_conflict_policy": policy,
            "id_reuse_policy": WorkflowIDReusePolicy.ALLOW_DUPLICATE,
            "static_summary": _summary(kind, about),
            "rpc_timeout": _RPC_TIMEOUT,
        }
        argument = {"key": key, "hint": hint, "pace": self.pace}
        try:
            await self.client.start_workflow(WORKFLOWS[kind], argument, search_attributes=_attributes(about), **options)
        except RPCError as error:
            if error.status != RPCStatusCode.INVALID_ARGUMENT:
                raise
            log.warning("search attributes are not there yet, starting %s without them", options["id"])
            await self.client.start_workflow(WORKFLOWS[kind], argument, **options)

    async def ensure(self) -> list[str]:
        """Make namespace, search attributes and Schedules what they should be. Returns what had to be mended."""
        mended: list[str] = []
        for part in (self._ensure_namespace, self._ensure_attributes, self._ensure_schedule):
            if await part():
                mended.append(part.__name__.removeprefix("_ensure_"))
        return mended

    async def _ensure_namespace(self) -> bool:
        name = self.client.namespace
        try:
            await self.client.workflow_service.describe_namespace(
                DescribeNamespaceRequest(namespace=name), timeout=_RPC_TIMEOUT
            )
        except RPCError as error:
            if error.status != RPCStatusCode.NOT_FOUND:
                raise
            retention = Duration(seconds=_RETENTION_SECONDS)
            request = RegisterNamespaceRequest(namespace=name, workflow_execution_retention_period=retention)
            await self.client.workflow_service.register_namespace(request, timeout=_RPC_TIMEOUT)
            return True
        return False

    async def _ensure_attributes(self) -> bool:
        service, name = self.client.operator_service, self.client.namespace
        there = await service.list_search_attributes(ListSearchAttributesRequest(namespace=name), timeout=_RPC_TIMEOUT)
        missing = [key.name for key in ATTRIBUTES if key.name not in there.custom_attributes]
        if not missing:
            return False
        wanted = dict.fromkeys(missing, IndexedValueType.INDEXED_VALUE_TYPE_KEYWORD)
        request = AddSearchAttributesRequest(namespace=name, search_attributes=wanted)
        try:
            await service.add_search_attributes(request, timeout=_RPC_TIMEOUT)
        except RPCError as error:  # a missing attribute never stops a start
            log.warning("search attributes could not be added: %s", error.status.name)
            return False
        return True

    async def _ensure_schedule(self) -> bool:
        wanted = self.schedule()
        handle = self.client.get_schedule_handle(SWEEP)
        try:
            found = (await handle.describe(rpc_timeout=_RPC_TIMEOUT)).schedule
        except RPCError as error:
            if error.status != RPCStatusCode.NOT_FOUND:
                raise
            try:
                await self.client.create_schedule(SWEEP, wanted, trigger_immediately=True, rpc_timeout=_RPC_TIMEOUT)
            except ScheduleAlreadyRunningError:
                return False
            return True
        if _fields(found) == _fields(wanted):
            return False
        log.warning("the sweep's Schedule was not as it should be; mended")
        await handle.update(lambda _: ScheduleUpdate(schedule=wanted), rpc_timeout=_RPC_TIMEOUT)
        return True

    def schedule(self) -> Schedule:
        """The sweep's Schedule as it should be: overlap skipped, missed ones not made up for, a wedged run cut."""
        return Schedule(
            action=ScheduleActionStartWorkflow(
                "Sweep",
                id=SWEEP,
                task_queue=QUEUE,
                execution_timeout=timedelta(seconds=min(limits.SWEEP_TIMEOUT, self.sweep_every * 0.8)),
            ),
            spec=ScheduleSpec(intervals=[ScheduleIntervalSpec(every=timedelta(seconds=self.sweep_every))]),
            policy=SchedulePolicy(
                overlap=ScheduleOverlapPolicy.SKIP, catchup_window=timedelta(seconds=max(self.sweep_every, 10.0))
            ),
            state=ScheduleState(paused=False),
        )

    def describe(self, kind: str, key: str) -> str:
        """The state of a workflow in Temporal's words, or "not there". Raises TemporalUnreachable."""
        return self._call(self._describe(workflow_id(kind, key)))

    async def _describe(self, wanted: str) -> str:
        try:
            found = await self.client.get_workflow_handle(wanted).describe(rpc_timeout=_RPC_TIMEOUT)
        except RPCError as error:
            if error.status != RPCStatusCode.NOT_FOUND:
                raise
            return "not there"
        return found.status.name.lower() if found.status else "unknown"

    def _call(self, question: Coroutine[Any, Any, Answer]) -> Answer:
        future = asyncio.run_coroutine_threadsafe(question, self.loop)
        try:
            return future.result(timeout=30)
        except RPCError as error:
            raise TemporalUnreachable(f"Temporal answered {error.status.name}") from error
        except (TimeoutError, RuntimeError) as error:
            future.cancel()
            raise TemporalUnreachable() from error


def workflow_id(kind: str, key: str) -> str:
    """The id of a workflow: derived from the ledger's key, never issued."""
    match kind:
        case "obligation":
            return keys.obligation_work(key)
        case "continuation":
            return keys.continuation_work(key)
        case "ingest":
            return keys.ingest(key)
        case "page":
            return keys.page_work(key)
        case _:
            return key


def _summary(kind: str, key: str) -> str:
    try:
        day = keys.parse(key)
    except Refused:
        return kind
    return f"{day.owner}'s {day.product}, {day.local_date.isoformat()}: {kind}"


def _attributes(key: str) -> TypedSearchAttributes:
    try:
        day = keys.parse(key)
    except Refused:
        return TypedSearchAttributes.empty
    values = (day.owner, day.product, day.local_date.isoformat())
    return TypedSearchAttributes([SearchAttributePair(k, v) for k, v in zip(ATTRIBUTES, values, strict=True)])


def _fields(schedule: Schedule) -> tuple[object, ...]:
    action = schedule.action
    assert isinstance(action, ScheduleActionStartWorkflow)
    return (
        action.workflow,
        action.id,
        action.task_queue,
        action.execution_timeout,
        [one.every for one in schedule.spec.intervals],
        schedule.policy.overlap,
        schedule.policy.catchup_window,
        schedule.state.paused,
    )
