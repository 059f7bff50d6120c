"""The five-minute check: decides from the database alone, and moves on whatever the fast path missed.

A plain function with three callers: the Schedule's activity, the keeper, and `matins sweep`. Each pass runs by itself
and leaves its own line in the run's row; starts come after the commits, and a failed start changes nothing.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any

import psycopg
from psycopg import Connection

from matins.ledger import (
    action,
    continuation,
    decision,
    ending,
    message,
    obligation,
    page,
    plan,
    source,
    sweeps,
    window,
)
from matins.ledger.work import Conn
from matins.orchestrator import Orchestrator
from matins.rules import keys, limits
from matins.rules.errors import MatinsError, TemporalUnreachable

log = logging.getLogger(__name__)

SILENT_AFTER = 3
"""Starts that may fail one after the other before Temporal is taken to be away."""
PASSES = ("stalled", "expiry", "advance", "messages", "dispatch", "pages", "plan", "poll")


@dataclass(frozen=True, slots=True)
class Due:
    """A workflow to start after the commits: `replace` when its row was stamped as stuck."""

    kind: str
    key: str
    about: str = ""
    replace: bool = False


@dataclass(slots=True)
class _Round:
    conn: Conn
    quarantine: float
    due: list[Due] = field(default_factory=list)
    failed: int = 0
    """Rows that could not be moved; the others were."""

    def stalled(self) -> int:
        """Effects whose worker died: abandoned, or of unknown fate."""
        conn, found = self.conn, {one.key: one.token for one in action.find_stalled(self.conn)}
        return self._each(
            found, lambda key: action.abandon(conn, key, token=found[key], quarantine=self.quarantine) is not None
        )

    def expiry(self) -> int:
        """Work out of attempts, and mail that is no longer useful."""
        conn = self.conn
        spent = self._each(ending.find_spent(conn), lambda key: ending.expire(conn, key))
        read = self._each(window.find_spent(conn), lambda key: window.expire(conn, source.window(conn, key)))
        return spent + read + self._each(message.find_late(conn), lambda key: message.expire(conn, key))

    def advance(self) -> int:
        """Continuations that were never created, and those that nobody moves."""
        created = self._each(obligation.find_unadvanced(self.conn), lambda key: obligation.advance(self.conn, key))
        idle = continuation.find_idle(self.conn)
        for key, work_key in idle:
            self._start("continuation", key, work_key)
        return created + len(idle)

    def messages(self) -> int:
        """Messages never sent, left by the dead, or due to be looked for."""
        idle = message.find_idle(self.conn)
        for waiting in idle:
            self._start("message", waiting.work_key, waiting.work_key, about=waiting.subject)
        return len(idle)

    def dispatch(self) -> int:
        """Mornings that are queued, or left by the dead."""
        idle = obligation.find_idle(self.conn)
        for key, work_key in idle:
            self._start("obligation", key, work_key)
        return len(idle)

    def pages(self) -> int:
        """Pages that do not show what they should, and cards that no page shows."""
        dirty = page.find_dirty(self.conn)
        for page_id in dirty:
            self._start("page", page_id, keys.page_work(page_id))
        return len(dirty) + page.collect_cards(self.conn)

    def plan(self) -> int:
        """What is owed today, declared, queued and missed."""
        planned = plan.plan(self.conn)
        for key in planned.queued:
            self.due.append(Due("obligation", key))
        return len(planned.declared) + len(planned.restamped) + len(planned.queued) + len(planned.missed)

    def poll(self) -> int:
        """Sources whose read is due."""
        found = source.find_due(self.conn)
        self.due.extend(Due("ingest", key) for key in found)
        return len(found)

    def _each(self, found: Iterable[str], act: Callable[[str], bool]) -> int:
        """Do `act` on each key. Returns how many it moved; one that fails is noted, and delays no other."""
        moved = 0
        for key in found:
            try:
                moved += act(key)
            except (MatinsError, psycopg.Error) as error:
                log.warning("%s could not be moved: %s", key, type(error).__name__)
                self.failed += 1
                decision.note(self.conn, key, "sweep.failed", type(error).__name__)
        return moved

    def _start(self, kind: str, key: str, work_key: str, *, about: str = "") -> None:
        replace = sweeps.stamp_restart(self.conn, work_key, after=limits.STUCK_AFTER)
        self.due.append(Due(kind, key, about, replace))


@dataclass(frozen=True, slots=True)
class Sweeper:
    """What a sweep needs: connections to the ledger and, for the starts afterwards, Temporal if it is there."""

    connect: Callable[[], AbstractContextManager[Connection[Any]]]
    orchestrator: Orchestrator | None
    quarantine: float

    def run(self, caller: str) -> dict[str, int]:
        """One sweep by `caller`. Returns a count per pass; `failed` counts passes, `rows_failed` rows, `unstarted`
        workflows.
        """
        counts: dict[str, int] = {}
        with self.connect() as conn:
            run = sweeps.begin(conn, caller)
            round_ = _Round(conn, self.quarantine)
            for name in PASSES:
                try:
                    counts[name] = getattr(round_, name)()
                except (MatinsError, psycopg.Error) as error:
                    log.warning("pass %s failed: %s", name, type(error).__name__)
                    counts["failed"] = counts.get("failed", 0) + 1
                    decision.note(conn, f"sweep/{name}", "pass.failed", type(error).__name__)
            if round_.failed:
                counts["rows_failed"] = round_.failed
            unstarted = self._start_all(conn, round_.due)
            if unstarted:
                counts["unstarted"] = unstarted
            sweeps.finish(conn, run, dict(counts))
        return counts

    def _start_all(self, conn: Conn, due: list[Due]) -> int:
        """Start what is due. Where Temporal does not answer several times in a row, the rest is left to the next
        sweep: each try can take its whole time-out. Returns how many were not started.
        """
        unstarted = in_a_row = 0
        for one in dict.fromkeys(due):
            why = "Temporal is not there"
            if self.orchestrator is not None and in_a_row < SILENT_AFTER:
                try:
                    self.orchestrator.start(one.kind, one.key, about=one.about, replace=one.replace)
                    in_a_row = 0
                    continue
                except TemporalUnreachable as error:
                    in_a_row += 1
                    why = error.message
            unstarted += 1
            decision.note(conn, f"{one.kind}/{one.key}", "start.failed", why)
        return unstarted
