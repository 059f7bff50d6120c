"""How much is measured: the options of `python -m bench`. The defaults end within four minutes on two cores."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass, fields


@dataclass(frozen=True, slots=True)
class Sizes:
    """The options, each with the measure that it belongs to."""

    feeds: int = 1_000
    """feeds: sources that are polled."""
    changed: float = 1.0
    """feeds: percent of them that change before the second round."""
    small: int = 100_000
    """sweep: finished rows that the large ledger is compared with."""
    large: int = 1_000_000
    """sweep: finished rows of the large one."""
    churn: int = 20
    """sweep: batches of 500 rows that come, move and finish without vacuum."""
    owners: int = 10_000
    """plan: owners that are planned for."""
    pipelines: int = 10
    """pgbench: pipelines of each of the clients in each run."""
    clients: int = 16
    """pgbench: connections at once."""
    runs: int = 5
    """How often what is timed is done."""

    def options(self) -> str:
        """What has to be said on the command line to have these sizes; "" for the defaults."""
        return "".join(
            f" --{field.name} {getattr(self, field.name)}"
            for field in fields(self)
            if getattr(self, field.name) != field.default
        )


FULL = Sizes(feeds=10_000, large=10_000_000, small=1_000_000, owners=100_000, pipelines=60)
"""The sizes that the goals speak of."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """An option for each size; one that is not given is None."""
    for field in fields(Sizes):
        kind = type(field.default)
        parser.add_argument(f"--{field.name}", type=kind, metavar="N", help=f"default: {field.default}")


def chosen(asked: argparse.Namespace, base: Sizes) -> Sizes:
    """The sizes that were asked for, all others from `base`. Raises ValueError for one that cannot be."""
    given = {field.name: getattr(asked, field.name) for field in fields(Sizes)}
    wanted = {field.name: getattr(base, field.name) for field in fields(Sizes)}
    wanted |= {name: value for name, value in given.items() if value is not None}
    if wrong := _wrong(wanted):
        raise ValueError(wrong)
    return Sizes(**wanted)


def _wrong(wanted: dict[str, float]) -> str:
    too_small: Sequence[str] = [name for name, value in wanted.items() if value < 1 and name != "changed"]
    if too_small:
        return f"--{too_small[0]} must be at least 1"
    if not 0 <= wanted["changed"] <= 100:
        return "--changed is a share in percent, from 0 to 100"
    return "" if wanted["small"] < wanted["large"] else "--small must be less than --large"
