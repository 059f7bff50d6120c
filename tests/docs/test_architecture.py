"""docs/architecture.md says what pyproject.toml, worker.py and the rules say."""

import re
import tomllib

from matins.rules import plans
from matins.rules.limits import POLL_WAIT, Limits
from matins.sweep import PASSES
from tests.docs.pages import ROOT, page, quoted
from worker import SLOTS
from workflows.options import ASK, MOVES, SWEEP

ARCHITECTURE = page("docs/architecture.md")


def test_the_floors_are_the_layers_of_the_import_contract() -> None:
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    layers = next(contract["layers"] for contract in contracts if contract["type"] == "layers")
    drawn = [set(quoted(row[1])) for row in ARCHITECTURE.rows("floor")]
    assert drawn == [set(re.split(r" *[|:] *", layer)) for layer in layers]


def test_the_numbers_of_the_floors_only_go_down() -> None:
    numbers = [int(row[0]) for row in ARCHITECTURE.rows("floor")]
    assert numbers == sorted(numbers, reverse=True)
    assert set(numbers) == {1, 2, 3, 4, 5}


def test_the_queues_have_the_threads_that_the_worker_gives_them() -> None:
    assert {quoted(row[0])[0]: int(row[2]) for row in ARCHITECTURE.rows("queue")} == SLOTS


def test_each_move_is_named_at_its_queue() -> None:
    said = {quoted(row[0])[0]: row[1] for row in ARCHITECTURE.rows("queue")}
    names = {"read": "reading sources"}
    for moves in MOVES.values():
        for move, act in moves.items():
            assert names.get(move, move) in said[act.queue]
    assert {ASK.queue, SWEEP.queue} == {"ledger"}
    assert "sweep" in said["ledger"]


def test_the_passes_of_the_sweep_are_named_in_their_order() -> None:
    told = re.search(r"the passes of `matins/sweep\.py`, (?P<names>.*?), find rows", ARCHITECTURE.text, re.DOTALL)
    assert told
    assert tuple(quoted(told["names"].replace("\n", " "))) == PASSES


def test_the_steps_of_the_plan_are_told_in_their_order() -> None:
    told = [name.lower() for name in re.findall(r"^\d\. \*\*(\w+)\*\*", ARCHITECTURE.text, re.MULTILINE)]
    assert told == [plans.RESEARCH, *plans.STEPS[plans.CURRENT]]


def test_its_durations_are_the_defaults() -> None:
    limits, text = Limits(), " ".join(ARCHITECTURE.text.split())
    assert f"a *lease* of {limits.lease:.0f} s, renewed by a beat each {limits.beat:.0f} s" in text
    assert f"*deadline* of {limits.deadline:.0f} s" in text
    assert f"a quarantine of {limits.quarantine:.0f} s" in text
    assert f"or {POLL_WAIT:.0f} s pass" in text
