"""What crosses the wire to and from Temporal: keys, names and durations. Never text, mail, addresses or secrets."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Pace:
    """The timeouts of a workflow's activities, in seconds; they agree with the ledger's leases (`rules/limits.py`)."""

    heartbeat_timeout: float = 12.0
    deadline: float = 120.0
    first_backoff: float = 1.0
    short: float = 20.0
    """What an activity without a claim may take: nothing tells of its worker's death but this."""


@dataclass(frozen=True, slots=True)
class Next:
    """The next move for a key; `done` when there is none now."""

    name: str

    @property
    def done(self) -> bool:
        """Whether nothing is to be done now."""
        return self.name == "done"


@dataclass(frozen=True, slots=True)
class Start:
    """What a workflow starts with: its key, a hint of the first move, and its pace."""

    key: str
    hint: str = ""
    pace: Pace = field(default_factory=Pace)


@dataclass(frozen=True, slots=True)
class Ask:
    """One question or act about one key; `kind` is the workflow that asks."""

    kind: str
    key: str


@dataclass(frozen=True, slots=True)
class Ended:
    """What a workflow did, move by move."""

    key: str
    moves: list[str]


@dataclass(frozen=True, slots=True)
class Swept:
    """What a sweep did: a count per pass."""

    counts: dict[str, int]
