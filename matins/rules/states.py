"""The one list of states and arrows. The CHECK constraints, the drawing and the transitions' docstrings follow it.

`None` stands for "no row yet". An arrow from a state to itself is a take-over: a new token on the same state.

A transition's docstring opens with its arrows, then a colon, then what it means:

    machine state, state -> state, state; machine state -> state: the sentence.

Each state on the left goes to each state on the right; `none` on the left is "no row yet". A function that moves
several machines names the arrows of each. A test compares them with `ARROWS`, and with what the statements really do.
"""

from __future__ import annotations

from enum import StrEnum


class Obligation(StrEnum):
    DECLARED = "declared"
    QUEUED = "queued"
    RUNNING = "running"
    SUCCEEDED = "succeeded"
    EXHAUSTED = "exhausted"
    MISSED = "missed"


class Continuation(StrEnum):
    PENDING = "pending"
    RUNNING = "running"
    DONE = "done"
    EXHAUSTED = "exhausted"


class Action(StrEnum):
    IN_FLIGHT = "in_flight"
    COMPLETED = "completed"
    REFUSED = "refused"
    NOT_DONE = "not_done"
    UNCERTAIN = "uncertain"
    ABANDONED = "abandoned"
    HELD = "held"


class Message(StrEnum):
    PENDING = "pending"
    SENDING = "sending"
    UNCERTAIN = "uncertain"
    HELD = "held"
    ACCEPTED = "accepted"
    OBSERVED = "observed"
    EXPIRED = "expired"
    DEAD = "dead"


class Edition(StrEnum):
    DRAFTED = "drafted"
    PUBLISHED = "published"


class IngestRun(StrEnum):
    CLAIMED = "claimed"
    NEW = "new"
    NONE = "none"
    UNREACHABLE = "unreachable"
    INVALID = "invalid"
    PARTIAL = "partial"
    GONE = "gone"
    FAILED = "failed"


class PageWrite(StrEnum):
    OPEN = "open"
    CLOSED = "closed"
    ABANDONED = "abandoned"


Arrow = tuple[str | None, str]

ARROWS: dict[str, frozenset[Arrow]] = {
    "obligation": frozenset({
        (None, "declared"),
        ("declared", "queued"),
        ("declared", "succeeded"),
        ("declared", "missed"),
        ("declared", "exhausted"),
        ("queued", "running"),
        ("queued", "missed"),
        ("running", "running"),
        ("running", "queued"),
        ("running", "succeeded"),
        ("running", "exhausted"),
    }),
    "continuation": frozenset({
        (None, "pending"),
        ("pending", "running"),
        ("running", "running"),
        ("running", "pending"),
        ("running", "done"),
        ("running", "exhausted"),
    }),
    "action": frozenset({
        (None, "in_flight"),
        (None, "completed"),
        ("in_flight", "completed"),
        ("in_flight", "refused"),
        ("in_flight", "not_done"),
        ("in_flight", "uncertain"),
        ("in_flight", "abandoned"),
        ("abandoned", "in_flight"),
        ("not_done", "in_flight"),
        ("uncertain", "completed"),
        ("uncertain", "not_done"),
        ("uncertain", "held"),
    }),
    "message": frozenset({
        (None, "pending"),
        ("pending", "sending"),
        ("pending", "expired"),
        ("sending", "sending"),
        ("sending", "pending"),
        ("sending", "accepted"),
        ("sending", "uncertain"),
        ("sending", "expired"),
        ("sending", "dead"),
        ("uncertain", "accepted"),
        ("uncertain", "pending"),
        ("uncertain", "held"),
        ("uncertain", "dead"),
        ("accepted", "observed"),
    }),
    "edition": frozenset({
        (None, "drafted"),
        ("drafted", "published"),
    }),
    "ingest_run": frozenset({
        (None, "claimed"),
        ("claimed", "new"),
        ("claimed", "none"),
        ("claimed", "unreachable"),
        ("claimed", "invalid"),
        ("claimed", "partial"),
        ("claimed", "gone"),
        ("claimed", "failed"),
    }),
    "page_write": frozenset({
        (None, "open"),
        ("open", "closed"),
        ("open", "abandoned"),
    }),
}  # fmt: skip

STATES: dict[str, type[StrEnum]] = {
    "obligation": Obligation,
    "continuation": Continuation,
    "action": Action,
    "message": Message,
    "edition": Edition,
    "ingest_run": IngestRun,
    "page_write": PageWrite,
}


def allowed(machine: str, before: str | None, after: str) -> bool:
    """Whether `machine` has an arrow from `before` to `after`."""
    return (before, after) in ARROWS[machine]
