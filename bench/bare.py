"""Temporal without Matins, to compare with: one workflow, one activity that heartbeats until it is let go.

`python -m bench.bare ADDRESS BEAT READY` is one worker of it. Each attempt first writes when it began, in seconds
since the epoch, as a line of the file that it was given, and ends when the file beside it, `.go`, is there.
"""

from __future__ import annotations

import asyncio
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from temporalio import activity, workflow
from temporalio.client import Client
from temporalio.common import RetryPolicy
from temporalio.worker import Worker

QUEUE = "bare"


@dataclass(frozen=True, slots=True)
class Held:
    """What one workflow holds, and the timeouts of its activity, in seconds."""

    file: str
    beat: float
    heartbeat_timeout: float
    first_backoff: float
    deadline: float


@activity.defn
def hold(held: Held) -> None:
    """Write when this attempt began, and heartbeat until let go."""
    file = Path(held.file)
    with file.open("a", encoding="ascii") as lines:
        lines.write(f"{time.time()}\n")
    pause = threading.Event()
    while not file.with_suffix(".go").exists():
        activity.heartbeat()
        pause.wait(held.beat)


@workflow.defn(sandboxed=False)
class Bare:
    """One activity with the retries that Matins' own have."""

    @workflow.run
    async def run(self, held: Held) -> None:
        """Wait until the activity has been let go."""
        await workflow.execute_activity(
            hold,
            held,
            start_to_close_timeout=timedelta(seconds=held.deadline),
            heartbeat_timeout=timedelta(seconds=held.heartbeat_timeout),
            retry_policy=RetryPolicy(
                initial_interval=timedelta(seconds=held.first_backoff),
                maximum_interval=timedelta(seconds=60),
                maximum_attempts=0,
            ),
        )


async def serve(address: str, beat: float, ready: Path) -> None:
    """Serve until killed; `ready` is made when that begins."""
    pace = timedelta(seconds=beat)
    worker = Worker(
        await Client.connect(address),
        task_queue=QUEUE,
        workflows=[Bare],
        activities=[hold],
        activity_executor=ThreadPoolExecutor(4),
        max_concurrent_activities=4,
        max_heartbeat_throttle_interval=pace,
        default_heartbeat_throttle_interval=pace,
    )
    async with worker:
        ready.touch()
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(serve(sys.argv[1], float(sys.argv[2]), Path(sys.argv[3])))
