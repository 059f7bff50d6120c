"""What every activity works with: the ledger, the beat, the orchestrator, and the three beats of an effect.

One activity attempt = one claim = one lease life. No token crosses an activity's border.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import Any

from psycopg import Connection
from psycopg_pool import ConnectionPool
from temporalio import activity

from activities.beats import Beats
from activities.messages import Next
from matins.ledger import action, decision, ending, work
from matins.ledger.move import Move
from matins.ledger.work import Claim
from matins.orchestrator import Orchestrator
from matins.rules.crash import crashpoint
from matins.rules.errors import (
    AttemptsSpent,
    CopyRefused,
    EvidenceMissing,
    IntentConflict,
    NotDue,
    ProviderError,
    TemporalUnreachable,
)
from matins.rules.limits import Limits
from matins.rules.receipt import Receipt

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Desk:
    """The dependencies of all activities."""

    pool: ConnectionPool[Connection[Any]]
    beats: Beats
    limits: Limits
    orchestrator: Orchestrator

    def ledger(self) -> AbstractContextManager[Connection[Any]]:
        """A connection to the ledger; each transition on it is one commit."""
        return self.pool.connection()

    @contextmanager
    def claimed(self, work_key: str, *, step: str | None = None) -> Iterator[Claim]:
        """Hold the work at `work_key` for the block: claimed, beaten, and rid of what a dead holder left in flight.

        A refusal of the content itself (evidence, copy, intent), and a provider's error in a mere read, are recorded as
        a failed attempt before they leave.
        """
        info = activity.info()
        with self.ledger() as conn:
            claim = work.claim(
                conn,
                work_key,
                holder=f"{info.workflow_run_id}/{info.activity_id}",
                lease=self.limits.lease,
                limit=self.limits.deadline,
                step=step,
            )
            crashpoint("claim.after_commit")
            for stalled in action.stalled_in(conn, claim.key):
                action.abandon(conn, stalled.key, token=stalled.token, quarantine=self.limits.quarantine)
        with self.beats.keep(claim):
            try:
                yield claim
            except (CopyRefused, EvidenceMissing, IntentConflict) as refused:
                self.fail(claim, reason=str(refused))
            except ProviderError as error:
                self.fail(claim, reason=error.message, retry_after=getattr(error, "retry_after", None))

    def fail(self, claim: Claim, *, reason: str, retry_after: float | None = None) -> None:
        """Record a failed attempt and raise NotDue with the wait until the next, or AttemptsSpent after the last."""
        with self.ledger() as conn:
            failed = ending.fail(conn, claim.key, token=claim.token, reason=reason, retry_after=retry_after)
        if failed.wait is None:
            raise AttemptsSpent(key=claim.key)
        raise NotDue(reason, key=claim.key, at=claim.deadline_at, wait=failed.wait)

    def effect(
        self,
        claim: Claim,
        *,
        key: str,
        subject: str,
        step: str,
        provider: str,
        contents: Sequence[bytes],
        call: Callable[[], Receipt],
    ) -> Receipt:
        """Do one harmless effect: start (commit), call, record (commit). What an earlier life recorded is not repeated.

        A provider's error is recorded as not done and as a failed attempt; raises as `fail` does.
        """
        crashpoint("action.before_row")
        with self.ledger() as conn:
            started = action.start(
                conn, claim, key=key, subject=subject, step=step, provider=provider, contents=contents
            )
        crashpoint("action.after_row")
        if started.receipt is not None:
            return started.receipt
        try:
            receipt = call()
        except ProviderError as error:
            with self.ledger() as conn:
                action.record_not_done(conn, claim, key=key, reason=error.message)
            self.fail(claim, reason=error.message, retry_after=getattr(error, "retry_after", None))
            raise
        crashpoint("call.after_reply")
        with self.ledger() as conn:
            action.record_completed(conn, claim, key=key, receipt=receipt)
        crashpoint("record.after_commit")
        return receipt

    def advance(self, kind: str, move: Move, *, about: str = "") -> None:
        """Start what follows by its derived id. A failed start is a decision row and fails nothing."""
        crashpoint("advance.before_start")
        try:
            self.orchestrator.start(kind, move.key, hint=move.name, about=about)
        except TemporalUnreachable as error:
            log.warning("%s/%s was not started: %s", kind, move.key, error.message)
            with self.ledger() as conn:
                decision.note(conn, f"{kind}/{move.key}", "start.failed", error.message)
        crashpoint("advance.after_start")


def following(move: Move) -> Next:
    """A ledger's move as the wire carries it."""
    return Next(move.name)
