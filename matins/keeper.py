"""The keeper: at start and each minute, Temporal is made what it should be, and a sweep that does not come is run here.

So a wiped, paused or edited Temporal heals by itself, and the sweep does not depend on the thing it watches over.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

import psycopg
from psycopg import Connection
from temporalio.service import RPCError

from matins.ledger import sweeps
from matins.orchestrator import Orchestrator
from matins.sweep import Sweeper

log = logging.getLogger(__name__)

EVERY = 60.0
"""Seconds between two rounds of the keeper, at most."""
SOON = 2.0
"""Seconds to the next round when something was mended or could not be: a new namespace is not there at once."""

AT_ONCE = 0.2


@dataclass(frozen=True, slots=True)
class Keeper:
    """Runs for ever in a worker process."""

    orchestrator: Orchestrator
    sweeper: Sweeper
    connect: Callable[[], AbstractContextManager[Connection[Any]]]

    async def settle(self) -> None:
        """Rounds until Temporal is what it should be: a worker cannot serve a namespace that is not there."""
        while not await self.round():
            await asyncio.sleep(AT_ONCE)

    async def run(self) -> None:
        """One round after the other, until cancelled."""
        calm = True
        while True:
            await asyncio.sleep(min(EVERY, self.orchestrator.sweep_every) if calm else SOON)
            calm = await self.round()

    async def round(self) -> bool:
        """Mend Temporal; then sweep here if the last sweep is older than two cadences. Whether Temporal was well."""
        calm = False
        try:
            mended = await self.orchestrator.ensure()
            calm = not mended
            if mended:
                log.info("mended in Temporal: %s", ", ".join(mended))
        except RPCError as error:
            log.warning("Temporal could not be looked after: %s", error.status.name)
        try:
            await asyncio.to_thread(self._sweep_if_overdue)
        except psycopg.Error as error:
            log.warning("the keeper could not sweep: %s", type(error).__name__)
        return calm

    def _sweep_if_overdue(self) -> None:
        with self.connect() as conn:
            since = sweeps.seconds_since_last(conn)
        if since is None or since > 2 * self.orchestrator.sweep_every:
            self.sweeper.run("keeper")
