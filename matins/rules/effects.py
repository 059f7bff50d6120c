"""What repeating each effect would cost. The sweep and every retry decide by this table and by nothing else."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Repeat(StrEnum):
    """What it costs to do an effect again whose outcome is not known."""

    HARMLESS = "harmless"
    """Same bytes at the same content address, or a local write: do it again."""
    ASKABLE = "askable"
    """Look whether it happened; a negative answer proves nothing before the quarantine is over."""


@dataclass(frozen=True, slots=True)
class Effect:
    """One effect of one step."""

    step: str
    repeat: Repeat


EFFECTS: dict[str, Effect] = {
    "research": Effect("research", Repeat.HARMLESS),
    "compose": Effect("compose", Repeat.HARMLESS),
    "publish": Effect("publish", Repeat.HARMLESS),
    "jobs": Effect("jobs", Repeat.HARMLESS),
    "wiki": Effect("wiki", Repeat.HARMLESS),
    "send": Effect("send", Repeat.ASKABLE),
}
