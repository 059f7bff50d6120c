"""What was measured, and the tables that show it: median and spread, beside the goal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median

_WIDTHS = (62, 36)


@dataclass(frozen=True, slots=True)
class Row:
    """One thing measured, once or several times; `at_most` or `at_least` is its goal, in the same unit."""

    what: str
    values: Sequence[float]
    unit: str = ""
    at_most: float | None = None
    at_least: float | None = None

    @property
    def is_met(self) -> bool | None:
        """Whether the median meets the goal; None if there is none."""
        if self.at_most is not None:
            return median(self.values) <= self.at_most
        return median(self.values) >= self.at_least if self.at_least is not None else None

    def measured(self) -> str:
        """The median, and from how far to how far of how many runs."""
        text = f"{number(median(self.values))} {self.unit}".rstrip()
        if len(self.values) == 1:
            return text
        return f"{text}  ({number(min(self.values))} to {number(max(self.values))}, {len(self.values)} runs)"

    def goal(self) -> str:
        """The goal, and whether the median misses it."""
        if self.at_most is None and self.at_least is None:
            return ""
        sign, wanted = ("<=", self.at_most) if self.at_most is not None else (">=", self.at_least)
        assert wanted is not None
        return f"{sign} {number(wanted)} {self.unit}".rstrip() + ("" if self.is_met else "  MISSED")

    def document(self, command: str) -> dict[str, object]:
        """The row as JSON can hold it, with the command that measures it again."""
        return {
            "what": self.what.strip(),
            "command": command,
            "values": list(self.values),
            "median": median(self.values),
            "unit": self.unit,
            "at_most": self.at_most,
            "at_least": self.at_least,
            "met": self.is_met,
        }


def number(value: float) -> str:
    """Counts whole, all else with one digit, ratios and small values with two, and what is smaller still with three."""
    if float(value).is_integer():
        return f"{value:,.0f}"
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}" if abs(value) >= 0.1 else f"{value:.3f}"


def table(rows: Sequence[Row]) -> str:
    """The rows under a head, one line each."""
    cells = [("what", "measured", "goal"), *((row.what, row.measured(), row.goal()) for row in rows)]
    return "\n".join(_line(*cell) for cell in cells)


def markdown(measured: Mapping[str, Sequence[Row]], commands: Mapping[str, str]) -> str:
    """A table for a page, a block of rows for each measure after the command that makes it."""
    lines = ["| what | measured | goal |", "|---|---|---|"]
    for name, rows in measured.items():
        lines.append(f"| **`{commands[name]}`** | | |")
        lines += [f"| {row.what.strip()} | {row.measured()} | {row.goal()} |" for row in rows]
    return "\n".join(lines)


def _line(what: str, measured: str, goal: str) -> str:
    return f"{what:<{_WIDTHS[0]}} {measured:<{_WIDTHS[1]}} {goal}".rstrip()
