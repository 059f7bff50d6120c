"""The mark-up of arrows, as `matins/rules/states.py` describes it, read from docstrings and from tables of cases."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
from collections.abc import Callable, Iterator
from typing import Any

import matins.ledger
from matins.rules.states import STATES

Arrow = tuple[str, str | None, str]

_PART = re.compile(r"(?P<machine>[a-z_]+) (?P<left>[a-z_]+(?:, [a-z_]+)*) -> (?P<right>[a-z_]+(?:, [a-z_]+)*)")


def parse(text: str) -> set[Arrow]:
    """The arrows in `machine state, state -> state; machine state -> state`. Raises ValueError for anything else."""
    found: set[Arrow] = set()
    for part in " ".join(text.split()).split("; "):
        match = _PART.fullmatch(part)
        if match is None or match["machine"] not in STATES:
            raise ValueError(f"not an arrow: {part}")
        for left in match["left"].split(", "):
            for right in match["right"].split(", "):
                before = None if left == "none" else str(STATES[match["machine"]](left))
                found.add((match["machine"], before, str(STATES[match["machine"]](right))))
    return found


def of(function: Callable[..., Any]) -> set[Arrow]:
    """The arrows that open the docstring of a transition."""
    return parse((function.__doc__ or "").partition(":")[0])


def transitions() -> Iterator[tuple[str, Callable[..., Any]]]:
    """(module.function, function) of everything public in the ledger whose docstring opens with a machine's arrow."""
    for module_info in pkgutil.iter_modules(matins.ledger.__path__):
        module = importlib.import_module(f"matins.ledger.{module_info.name}")
        for name, function in inspect.getmembers(module, inspect.isfunction):
            first = (function.__doc__ or "").partition("\n\n")[0]
            opens = first.partition(" ")[0] in STATES and "->" in first
            if function.__module__ == module.__name__ and not name.startswith("_") and opens:
                yield f"{module_info.name}.{name}", function
