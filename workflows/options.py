"""Every activity by name: its queue, its timeouts and its retries. Nothing of the kind stands anywhere else.

Retries are without limit: the ledger bounds how often an effect is tried. What waits says for how long itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from temporalio.common import RetryPolicy

from activities.messages import Pace
from matins.rules import limits


@dataclass(frozen=True, slots=True)
class Act:
    """One activity that a move stands for."""

    activity: str
    queue: str
    leased: bool = True
    """Whether it claims and beats; one that does not is short and sends no heartbeat."""


ASK = Act("ledger.next_move", "ledger", leased=False)
SWEEP = Act("sweep.run", "ledger", leased=False)

MOVES: dict[str, dict[str, Act]] = {
    "obligation": {
        "polls": Act("obligation.polls", "ledger", leased=False),
        "research": Act("obligation.research", "ledger"),
    },
    "continuation": {
        "compose": Act("continuation.compose", "ai"),
        "publish": Act("continuation.publish", "ledger"),
        "jobs": Act("continuation.jobs", "fetch"),
        "wiki": Act("continuation.wiki", "ledger"),
    },
    "message": {
        "send": Act("message.send", "email"),
        "recover": Act("message.recover", "email", leased=False),
        "look": Act("message.look", "email", leased=False),
        "observe": Act("message.observe", "email", leased=False),
    },
    "ingest": {"read": Act("ingest.read", "fetch")},
    "page": {"publish": Act("page.publish", "ledger")},
}

QUEUES = ("ledger", "ai", "fetch", "email")

SWEEP_TIMEOUT = timedelta(seconds=limits.SWEEP_TIMEOUT)
ONCE = RetryPolicy(maximum_attempts=1)
_LONGEST_BACKOFF = timedelta(seconds=60)


def deadline(act: Act, pace: Pace) -> timedelta:
    """Start-to-close of an activity: the deadline of its claim, or a short one where it makes none."""
    return timedelta(seconds=pace.deadline if act.leased else min(pace.short, pace.deadline))


def heartbeat(act: Act, pace: Pace) -> timedelta | None:
    """The heartbeat timeout of an activity that claims; it agrees with its lease."""
    return timedelta(seconds=pace.heartbeat_timeout) if act.leased else None


def retries(pace: Pace) -> RetryPolicy:
    """Without limit, from the first back-off to a minute."""
    return RetryPolicy(
        initial_interval=timedelta(seconds=pace.first_backoff),
        backoff_coefficient=2.0,
        maximum_interval=_LONGEST_BACKOFF,
        maximum_attempts=0,
    )
