"""What a case of the table says: a text is the arrows that move; an error refuses; a value is returned."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


class Alike:
    """The same ask was already committed, or there is nothing to do: an answer, no error and no change."""


class WorkAlone:
    """The right to write moved, with one audit row; no machine did."""


@dataclass(frozen=True, slots=True)
class On:
    """What an act does to the scenes of one machine."""

    otherwise: Any
    listed: dict[str, Any] = field(default_factory=dict)
