"""Temporal's share of one morning: events in its histories, and actions as Temporal's cloud would bill them.

Counted over the Obligation, Continuation and Delivery workflows; reading the sources apart. An action is a workflow's
start or one attempt of an activity, so each wait of an activity for its own retry counts as one. Heartbeats would count
too; no step of this morning lasts as long as a beat.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import dataclass

from temporalio.api.history.v1 import HistoryEvent
from temporalio.client import Client

from bench.ground import Ground, Observed
from bench.table import Row

POLLS = "obligation.polls"
"""The activity that waits for the sources by its own retry."""


@dataclass(frozen=True, slots=True)
class Told:
    """What one morning's histories hold."""

    events: int
    starts: int
    attempts: Counter[str]

    @property
    def actions(self) -> int:
        """Starts and attempts, without the waits for sources."""
        return self.starts + sum(self.attempts.values()) - self.waits

    @property
    def waits(self) -> int:
        """Attempts beyond the first of the activity that waits for sources."""
        return max(self.attempts[POLLS] - 1, 0)


def measure(ground: Ground) -> list[Row]:
    """Events and actions of each morning of `ground`."""
    found = asyncio.run(_all(ground.running.settings.temporal_address, ground.mornings))
    return [
        Row("Temporal: events in one morning's histories", [one.events for one in found], at_most=70),
        Row("Temporal: actions of one morning", [one.actions for one in found], at_most=12),
        Row("  more, waiting for the sources to be read", [one.waits for one in found]),
    ]


async def _all(address: str, mornings: list[Observed]) -> list[Told]:
    client = await Client.connect(address)
    return [await _told(client, one) for one in mornings]


async def _told(client: Client, one: Observed) -> Told:
    events: list[HistoryEvent] = []
    for workflow_id in one.works():
        handle = client.get_workflow_handle(workflow_id)
        await handle.result()
        events += (await handle.fetch_history()).events
    starts = sum(event.HasField("workflow_execution_started_event_attributes") for event in events)
    return Told(len(events), starts, _attempts(events))


def _attempts(events: list[HistoryEvent]) -> Counter[str]:
    """Attempts by activity: a started event tells how many there were until the one that ended."""
    scheduled: dict[int, str] = {}
    attempts: Counter[str] = Counter()
    for event in events:
        if event.HasField("activity_task_scheduled_event_attributes"):
            name = event.activity_task_scheduled_event_attributes.activity_type.name
            scheduled[event.event_id] = name
        elif event.HasField("activity_task_started_event_attributes"):
            told = event.activity_task_started_event_attributes
            attempts[scheduled[told.scheduled_event_id]] += told.attempt
    return attempts
