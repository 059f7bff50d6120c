"""The next move of a key, as the ledger sees it: what the loop in a workflow asks for until it is done."""

from __future__ import annotations

from dataclasses import dataclass

DONE = "done"
"""Nothing more is to be done now: finished, or the sweep will say when."""


@dataclass(frozen=True, slots=True)
class Move:
    """One activity to run next for a key."""

    key: str
    name: str
    """`polls`, `research`, a step of the plan, `send`, `recover`, `look`, `observe`, `read`, or `done`."""
    work_key: str = ""

    @property
    def done(self) -> bool:
        """Whether nothing is to be done now."""
        return self.name == DONE
