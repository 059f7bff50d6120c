"""What a morning's rows amount to: its state in a word, what is missing, and whose move is next. Pure.

READY needs evidence for every piece; nothing is concluded from the absence of an error.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

from matins.rules import plans


class State(StrEnum):
    """Every word that a person sees for a morning's state."""

    NOT_YET = "NOT YET"
    DUE = "DUE"
    READY = "READY"
    LATE = "LATE"
    HELD = "HELD"
    MISSED = "MISSED"
    CANNOT = "CANNOT"


@dataclass(frozen=True, slots=True)
class StepFacts:
    """One step: research, and then the plan's."""

    step: str
    status: str
    provider: str | None
    reference: str | None
    attempts: int


@dataclass(frozen=True, slots=True)
class MessageFacts:
    """One message and how far it got."""

    work_key: str
    kind: str
    channel: str
    destination: str
    status: str
    proof: str
    provider: str | None
    reference: str | None
    reply: str | None
    mechanism: str | None
    placement: str | None
    reason: str | None
    created_at: datetime
    accepted_at: datetime | None
    observed_at: datetime | None
    look_at: datetime | None
    looks: int
    send_at: datetime | None

    @property
    def proved(self) -> bool:
        """Whether it is at the proof its destination asks for."""
        return self.status == "observed" or (self.status == "accepted" and self.proof == "none")


@dataclass(frozen=True, slots=True)
class Morning:
    """The rows of one morning, read at `now`."""

    key: str
    owner: str
    product: str
    local_date: str
    zone: str
    status: str
    profile_version: int
    opens_at: datetime
    ready_by_at: datetime
    useful_until_at: datetime
    declared_at: datetime
    queued_at: datetime | None
    started_at: datetime | None
    ended_at: datetime | None
    token: int | None
    continuation_status: str | None
    continuation_ended_at: datetime | None
    retry_at: datetime | None
    reason: str | None
    edition_kind: str | None
    edition_title: str | None
    published_at: datetime | None
    facts: dict[str, Any]
    coverage: dict[str, Any]
    steps: tuple[StepFacts, ...]
    messages: tuple[MessageFacts, ...]
    now: datetime
    openings: dict[str, Any] = field(default_factory=dict)
    """What was kept of the report of open roles; empty if there is none."""
    reported_at: datetime | None = None
    pages: int = 0
    """Pages of the wiki that this edition touched."""
    pages_due: int = 0
    """Those of them that do not show yet what they should."""


def missing(morning: Morning) -> list[str]:
    """The pieces of evidence that are not there yet, in order; empty when everything owed is proved."""
    lacks = [step.step for step in morning.steps if step.status != "completed"]
    for message in morning.messages:
        if not message.proved:
            piece = "accepted" if message.accepted_at is None else "observed"
            kind = f"{message.kind} " if message.kind == plans.OPENINGS else ""
            lacks.append(f"message {kind}{message.channel}/{message.destination}: {piece}")
    return lacks


def gave_up(morning: Morning) -> bool:
    """Whether something ended that will not be tried again by itself."""
    ended = morning.status == "exhausted" or morning.continuation_status == "exhausted"
    return ended or any(message.status in ("dead", "expired") for message in morning.messages)


def state(morning: Morning) -> State:
    """The one word for a morning."""
    if any(message.status == "held" for message in morning.messages):
        return State.HELD
    if morning.status == "missed" or gave_up(morning):
        return State.MISSED
    if not missing(morning):
        return State.READY
    if morning.now >= morning.ready_by_at:
        return State.LATE
    return State.NOT_YET if morning.status == "declared" else State.DUE


def openings_state(morning: Morning) -> State:
    """The one word for the openings of a morning that has its report: whether their own mail is where it should be."""
    mails = [message for message in morning.messages if message.kind == plans.OPENINGS]
    if any(message.status == "held" for message in mails):
        return State.HELD
    if any(message.status in ("dead", "expired") for message in mails):
        return State.MISSED
    if all(message.proved for message in mails):
        return State.READY
    return State.LATE if morning.now >= morning.ready_by_at else State.DUE


def since(morning: Morning) -> datetime | None:
    """Since when the state is what it is."""
    match state(morning):
        case State.READY:
            return max(at for at in _proofs(morning) if at is not None)
        case State.LATE:
            return morning.ready_by_at
        case State.DUE:
            return morning.queued_at
        case State.MISSED:
            return morning.ended_at or morning.continuation_ended_at
        case _:
            return None


def _proofs(morning: Morning) -> list[datetime | None]:
    seen = [message.observed_at or message.accepted_at for message in morning.messages]
    return [*seen, morning.published_at, morning.continuation_ended_at]


def at_hand(morning: Morning) -> str | None:
    """The piece that is being worked on now: the first that is missing."""
    lacks = missing(morning)
    return lacks[0] if lacks else None
