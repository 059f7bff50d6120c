"""Each transition upon each state: legal pairs move and are noted; every other is refused and changes nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import pytest
from psycopg import Connection

from matins.ledger import invariants
from tests.ledger import arrows
from tests.ledger.acts import ACTS
from tests.ledger.clock import Clock
from tests.ledger.factory import Factory, Scene
from tests.ledger.table import SCENES, TABLE, Alike, WorkAlone, pairs
from tests.ledger.tables import Tables, machines_noted, moved, tables

PAIRS = pairs()


@dataclass(frozen=True, slots=True)
class Placed:
    """A scene, set once for all acts upon it, and the whole tables as it left them."""

    make: Factory
    at: Scene
    before: Tables


class Stage:
    """Sets one scene at a time, and keeps it as long as the same one is asked for."""

    def __init__(self, conn: Connection[Any]) -> None:
        self._conn, self._set, self._name = conn, ExitStack(), ""
        self._placed: Placed | None = None

    def place(self, name: str) -> Placed:
        """The scene called `name`."""
        if self._placed is None or name != self._name:
            self.clear()
            self._set.enter_context(self._conn.transaction(force_rollback=True))
            make = Factory(self._conn, Clock(self._conn))
            self._name, self._placed = name, Placed(make, make.scene(name), tables(self._conn))
        return self._placed

    def clear(self) -> None:
        """Take the scene away."""
        self._set.close()


@pytest.fixture(scope="module")
def stage(_ledger: Connection[Any]) -> Iterator[Stage]:
    """Where scenes are set; the cases come ordered by scene."""
    made = Stage(_ledger)
    yield made
    made.clear()


@pytest.mark.parametrize(
    ("scene", "act", "happens"), PAIRS, ids=[f"{act} on {scene}".replace(" ", "_") for scene, act, _ in PAIRS]
)
def test_a_transition_moves_what_it_may_and_nothing_else(stage: Stage, scene: str, act: str, happens: Any) -> None:
    placed = stage.place(scene)
    conn = placed.make.conn
    with conn.transaction(force_rollback=True):
        if isinstance(happens, type) and issubclass(happens, Exception):
            with pytest.raises(happens) as refused:
                ACTS[act](placed.make, placed.at)
            assert refused.type is happens
        else:
            answer = ACTS[act](placed.make, placed.at)
            if not isinstance(happens, str) and happens not in (Alike, WorkAlone):
                assert answer == happens
        after = tables(conn)
        if isinstance(happens, str):
            _check_move(placed, after, act, happens)
            assert invariants.broken(conn) == {}
        elif happens is WorkAlone:
            _check_work(placed, after)
            assert invariants.broken(conn) == {}
        else:
            assert after == placed.before


def _check_move(placed: Placed, after: Tables, act: str, happens: str) -> None:
    done = moved(placed.before, after)
    assert set(done.arrows) == arrows.parse(happens)
    rows: Counter[str] = Counter()
    for (machine, before, state), count in done.arrows.items():
        if (machine, before, state) != ("ingest_run", None, "claimed"):  # a read has one audit row in all: its end
            rows[machine] += count
    assert machines_noted(done.audit) == rows, "one audit row for each row moved"
    assert len(done.stamps) == 1, "every stamp is the one instant of the statement"
    if act.startswith("work.claim"):
        assert all(new == old + 1 for old, new in done.tokens.values())
        assert len(done.tokens) == 1
    else:
        assert done.tokens == {}


def _check_work(placed: Placed, after: Tables) -> None:
    done = moved(placed.before, after)
    assert not done.arrows
    assert len(done.audit) == 1
    assert len(done.stamps) == 1, "every stamp is the one instant of the statement"


def test_every_transition_of_the_ledger_is_in_the_table() -> None:
    assert {name for name, _ in arrows.transitions()} == {act.partition(":")[0] for act in TABLE}


@pytest.mark.parametrize("name", [name for name, _ in arrows.transitions()])
def test_the_docstring_of_a_transition_names_exactly_the_arrows_it_was_seen_to_move(name: str) -> None:
    seen: set[arrows.Arrow] = set()
    for _, act, happens in PAIRS:
        if act.partition(":")[0] == name and isinstance(happens, str):
            seen |= arrows.parse(happens)
    assert arrows.of(dict(arrows.transitions())[name]) == seen


def test_every_state_of_every_machine_has_a_scene() -> None:
    from matins.rules.states import STATES

    special = {"queued_again": "queued", "let_go": "dead", "missed_queued": "missed", "unmodified": "none"}
    for machine, states in STATES.items():
        found = {special.get(variant, variant) for variant in SCENES[machine]}
        missing = {str(state) for state in states if not any(name.startswith(str(state)) for name in found)}
        assert missing <= ({"uncertain", "held"} if machine == "action" else set())
