"""A worker is killed at every named point, and its successor at the same and at the next one; the morning still ends
once. What the first death left behind is what docs/failures.md says.

One scene holds a pair of deaths for each piece of work, since at most two lives may die in one step: from the third
claim on, crashes are spaced by half a minute.
"""

from __future__ import annotations

from itertools import zip_longest

import pytest

from matins.rules import crash
from tests.crash import failures
from tests.crash.aftermath import left_behind
from tests.crash.flows import FLOWS, Flow, named
from tests.crash.receiving import assert_happened_once
from tests.crash.scene import Scene

pytestmark = pytest.mark.timeout(300)

BY_ALL = [flow for flow in FLOWS if not flow.queues and not flow.overtaken]
OVERTAKEN = [(flow, pair) for flow in FLOWS if flow.overtaken for pair in flow.pairs]
OF_ONE_QUEUE = [(flow, pair) for flow in FLOWS if flow.queues for pair in flow.pairs]
MORNINGS = [
    [(flow, pair) for flow, pair in zip(BY_ALL, pairs, strict=True) if pair]
    for pairs in zip_longest(*(flow.pairs for flow in BY_ALL))
]
"""Every pair of deaths of each piece, the n-th pair of all pieces in one morning."""


def _names(deaths: list[tuple[Flow, tuple[str, str]]]) -> str:
    return ", ".join(f"{first} then {second}" for _, (first, second) in deaths)


def test_every_named_point_is_one_that_a_worker_dies_at() -> None:
    assert named() == set(crash.POINTS)


@pytest.mark.parametrize("deaths", MORNINGS, ids=_names)
def test_a_morning_whose_workers_are_killed_twice_is_finished_once(
    scene: Scene, deaths: list[tuple[Flow, tuple[str, str]]]
) -> None:
    key = scene.owe("ada")
    for number, (flow, (first, second)) in enumerate(deaths):
        scene.die_at(first)
        _assert_left(scene, flow, first, ahead=number > 0)
        scene.die_at(second)
    scene.live()
    scene.finish(key)
    assert_happened_once(scene, key)


@pytest.mark.parametrize(("flow", "pair"), OF_ONE_QUEUE, ids=lambda found: str(getattr(found, "name", found)))
def test_a_mail_whose_senders_are_killed_twice_is_sent_once(scene: Scene, flow: Flow, pair: tuple[str, str]) -> None:
    key = scene.owe("ada")
    scene.live(queues=("ledger", "ai", "fetch"))
    scene.die_at(pair[0], queues=flow.queues)
    _assert_left(scene, flow, pair[0])
    scene.die_at(pair[1], queues=flow.queues)
    scene.live(queues=flow.queues)
    scene.finish(key)
    assert_happened_once(scene, key)


@pytest.mark.parametrize(("flow", "pair"), OVERTAKEN, ids=lambda found: str(getattr(found, "name", found)))
def test_a_page_whose_repairers_are_killed_twice_shows_the_winner(
    scene: Scene, flow: Flow, pair: tuple[str, str]
) -> None:
    key = scene.owe("ada")
    failures.overtake_every_page(scene)
    scene.die_at(pair[0])
    _assert_left(scene, flow, pair[0])
    scene.die_at(pair[1])
    scene.live()
    scene.finish(key)
    assert_happened_once(scene, key)


def _assert_left(scene: Scene, flow: Flow, point: str, *, ahead: bool = False) -> None:
    """What was left is what the page says. A life that died `ahead` may have done this piece beside its own: then the
    point was reached by a later piece, and nothing is left of this one.
    """
    with scene.ledger() as conn:
        left = left_behind(conn, flow.kind)
    documented = failures.documented()[point.partition("@")[0]]
    assert left == documented or (ahead and left == "nothing")
