"""What was measured, and the table that shows it: median and spread, beside the goal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

_WIDTHS = (57, 33)


@dataclass(frozen=True, slots=True)
class Row:
    """One thing measured, once or several times; `at_most` is its goal, in the same unit."""

    what: str
    values: Sequence[float]
    unit: str = ""
    at_most: float | None = None

    def measured(self) -> str:
        """The median, and from how far to how far of how many runs."""
        text = f"{number(median(self.values))} {self.unit}".rstrip()
        if len(self.values) == 1:
            return text
        return f"{text}  ({number(min(self.values))} to {number(max(self.values))}, {len(self.values)} runs)"

    def goal(self) -> str:
        """The goal, and whether the median misses it."""
        if self.at_most is None:
            return ""
        missed = "" if median(self.values) <= self.at_most else "  MISSED"
        return f"<= {number(self.at_most)} {self.unit}".rstrip() + missed


def number(value: float) -> str:
    """Counts whole, all else with one digit, ratios and small values with two."""
    if float(value).is_integer():
        return f"{value:.0f}"
    return f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}"


def table(rows: Sequence[Row]) -> str:
    """The rows under a head, one line each."""
    cells = [("what", "measured", "goal"), *((row.what, row.measured(), row.goal()) for row in rows)]
    return "\n".join(_line(*cell) for cell in cells)


def _line(what: str, measured: str, goal: str) -> str:
    return f"{what:<{_WIDTHS[0]}} {measured:<{_WIDTHS[1]}} {goal}".rstrip()
