"""From the SIGKILL of a worker in mid-step to the next claim of that step, beside bare Temporal killed alike.

Two workers serve each contender (`bench/contenders.py`), under the same heartbeat timeout, beat and retries. As soon as
Temporal has heard a heartbeat of the step, the worker that holds it is killed, and the clock runs until the step was
begun again: Matins' second claim by the ledger, bare Temporal's second attempt by its own clock.
"""

from __future__ import annotations

import asyncio
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from statistics import median
from typing import Any

from temporalio.client import Client

from bench.contenders import BareTemporal, Contender, MatinsWorkers
from bench.ground import Ground, wait
from bench.table import Row
from matins.rules.errors import Refused
from matins.rules.limits import Limits

RUNS = 3
SHORT = Limits(lease=3.0, beat=1.0, heartbeat_timeout=4.0).check()
DEFAULTS = Limits().check()


def measure(ground: Ground) -> list[Row]:
    """Matins and bare Temporal, RUNS times with a heartbeat timeout of four seconds and once at the defaults, all at
    once: what each does most of the time is wait."""
    ours, defaults = MatinsWorkers(ground, "short", SHORT), MatinsWorkers(ground, "defaults", DEFAULTS)
    bare = BareTemporal(ground, "bare", SHORT)
    with ExitStack() as stack, ThreadPoolExecutor(3) as pool:
        for contender in (ours, bare, defaults):
            stack.enter_context(contender)
        runs = [pool.submit(_trials, ground, *one) for one in ((ours, RUNS), (bare, RUNS), (defaults, 1))]
        matins_took, bare_took, defaults_took = (run.result() for run in runs)
    timeout = f"heartbeat timeout {SHORT.heartbeat_timeout:.0f} s"
    return [
        Row(f"SIGKILL to resumed, {timeout}", matins_took, "s"),
        Row("  bare Temporal, killed alike", bare_took, "s"),
        Row("  ratio of the medians", [median(matins_took) / median(bare_took)], at_most=1.2),
        Row(f"SIGKILL to resumed, defaults ({DEFAULTS.heartbeat_timeout:.0f} s)", defaults_took, "s", at_most=15),
    ]


def _trials(ground: Ground, contender: Contender, runs: int) -> list[float]:
    with Crew(contender, ground.running.settings.temporal_address) as crew:
        return [crew.trial(number) for number in range(runs)]


class Crew:
    """Two living workers of one contender, and what Temporal says about them."""

    def __init__(self, contender: Contender, address: str) -> None:
        self._contender, self._address = contender, address
        self._living: dict[int, tuple[int, subprocess.Popen[bytes]]] = {}
        self._spawned = 0
        self._runner = asyncio.Runner()
        self._connected: Client | None = None

    def __enter__(self) -> Crew:
        for _ in range(2):
            self._spawn()
        return self

    def __exit__(self, *_: object) -> None:
        for pid in list(self._living):
            self._kill(pid)
        self._runner.close()

    def _spawn(self) -> None:
        worker = self._contender.spawn(self._spawned)
        self._living[worker.pid] = (self._spawned, worker)
        self._spawned += 1

    def _kill(self, pid: int) -> float:
        """Kill a worker. Returns when, in seconds since the epoch."""
        _, worker = self._living.pop(pid)
        at = time.time()
        worker.kill()
        worker.wait(timeout=20)
        return at

    def trial(self, number: int) -> float:
        """Seconds from the kill of the worker that holds a step until that step was begun again."""
        wait(self._is_complete, seconds=60, otherwise=lambda: self._told("its workers did not come to serve"))
        workflow_id = self._contender.begin(number)
        first = self._heard(workflow_id, since=0.0)
        self._heard(workflow_id, since=first)
        killed = self._kill(self._holder(workflow_id))
        self._spawn()
        wait(
            lambda: self._contender.begun_again(number) is not None,
            seconds=60,
            otherwise=lambda: self._told("nobody took over its step"),
        )
        again = self._contender.begun_again(number) or 0.0
        self._contender.let_go(number)
        return again - killed

    def _told(self, what: str) -> str:
        return f"{self._contender.name}: {what}. Their last words: {self._contender.said()}"

    def _is_complete(self) -> bool:
        """Whether every living worker serves. Raises Refused if one ended."""
        if ended := [number for number, worker in self._living.values() if worker.poll() is not None]:
            raise Refused(self._told(f"worker {ended[0]} ended"))
        return all(self._contender.is_ready(number) for number, _ in self._living.values())

    def _heard(self, workflow_id: str, *, since: float) -> float:
        """Wait for a heartbeat of the step after `since`. Returns when Temporal had it."""
        heard = since

        def newer() -> bool:
            nonlocal heard
            for pending in self._runner.run(self._pending(workflow_id)):
                heard = max(heard, pending.last_heartbeat_time.ToNanoseconds() / 1e9)
            return heard > since

        wait(newer, seconds=30, otherwise=lambda: self._told("no heartbeat came"))
        return heard

    def _holder(self, workflow_id: str) -> int:
        """The process that works at the step; a worker's identity is pid@host."""
        [pending] = self._runner.run(self._pending(workflow_id))
        return int(pending.last_worker_identity.partition("@")[0])

    async def _pending(self, workflow_id: str) -> list[Any]:
        client = await self._client()
        described = await client.get_workflow_handle(workflow_id).describe()
        return list(described.raw_description.pending_activities)

    async def _client(self) -> Client:
        if self._connected is None:
            self._connected = await Client.connect(self._address, namespace=self._contender.namespace)
        return self._connected
