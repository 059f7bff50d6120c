"""The drawing equals the list of arrows, and both equal what the transitions' docstrings say."""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path

from matins.rules.states import ARROWS, STATES
from tests.ledger import arrows

DRAWING = Path(__file__).resolve().parents[2] / "docs" / "state_machine.md"
_DIAGRAM = re.compile(r"^## (?P<machine>[^\n]+)\n.*?```mermaid\nstateDiagram-v2\n(?P<lines>.*?)```", re.M | re.S)
_LINE = re.compile(r" {4}(?P<before>\S+) --> (?P<after>\S+) : (?P<functions>\S.*)")

Drawn = dict[arrows.Arrow, list[str]]


def drawn() -> Drawn:
    """(machine, before or None, after) -> the functions named beside the arrow."""
    found: Drawn = {}
    for diagram in _DIAGRAM.finditer(DRAWING.read_text(encoding="utf-8")):
        machine = diagram["machine"].lower().replace(" ", "_")
        for line in diagram["lines"].splitlines():
            arrow = _LINE.fullmatch(line)
            assert arrow is not None, f"not an arrow in the drawing: {line}"
            before = None if arrow["before"] == "[*]" else arrow["before"]
            assert (machine, before, arrow["after"]) not in found, f"drawn twice: {line}"
            found[machine, before, arrow["after"]] = arrow["functions"].split(", ")
    return found


def told() -> Drawn:
    """The same, as the docstrings tell it."""
    found: Drawn = defaultdict(list)
    for name, function in arrows.transitions():
        for arrow in arrows.of(function):
            found[arrow].append(name)
    return {arrow: sorted(names) for arrow, names in found.items()}


def listed() -> set[arrows.Arrow]:
    """Every arrow of `rules/states.py`."""
    return {
        (machine, None if before is None else str(before), str(after))
        for machine, found in ARROWS.items()
        for before, after in found
    }


def test_the_drawing_has_exactly_the_arrows_that_the_rules_list() -> None:
    assert set(drawn()) == listed()


def test_the_docstrings_tell_exactly_the_arrows_that_the_rules_list() -> None:
    assert set(told()) == listed()


def test_the_drawing_names_beside_each_arrow_the_functions_that_move_along_it() -> None:
    assert drawn() == told()


def test_every_state_of_every_machine_is_reached_by_an_arrow() -> None:
    for machine, states in STATES.items():
        assert {after for _, after in ARROWS[machine]} == {str(state) for state in states}
        assert {before for before, _ in ARROWS[machine]} <= {None, *(str(state) for state in states)}
