"""A race with a fixed end: one side holds a lock, the other is seen to wait for it, and only then the first lets go."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from tests.ledger.acts import ACTS
from tests.ledger.clock import Clock
from tests.ledger.factory import Factory, Scene
from tests.ledger.tables import Row, Tables, tables

Act = Callable[[Factory], Any]


@dataclass(frozen=True, slots=True)
class Race:
    """Two sides on connections of their own, and a clock that can be moved while one of them waits."""

    first: Factory
    second: Factory
    clock: Clock
    pool: ThreadPoolExecutor
    waiting: Callable[[int], None]

    @contextmanager
    def held_by(self, blocker: Act, *, undo: bool = False) -> Iterator[None]:
        """The first side does `blocker` and keeps its locks for the block; `undo` rolls it back in the end."""
        with self.first.conn.transaction(force_rollback=undo):
            blocker(self.first)
            yield

    def run(
        self, blocker: Act, act: Act, *, undo: bool = False, meanwhile: Callable[[], Any] | None = None
    ) -> Future[Any]:
        """Let `act` wait for `blocker`; `meanwhile` happens during the wait. Returns what came of `act`."""
        with self.held_by(blocker, undo=undo):
            racing = self.pool.submit(act, self.second)
            self.waiting(1)
            if meanwhile is not None:
                meanwhile()
        racing.exception()
        return racing

    def tables(self) -> Tables:
        """Whole tables, as a third party sees them."""
        return tables(self.clock.conn)

    def work(self, at: Scene) -> Row:
        """The work row of a scene, as a third party sees it."""
        return self.tables()["work"][(at.work_key,)]


def claim(at: Scene, holder: str = "worker-2") -> Act:
    """A claim of the scene's work."""
    return lambda make: make.claim(at.work_key, step=at.claim.step, holder=holder)


def do(name: str, at: Scene) -> Act:
    """The act of this name upon the scene."""
    return lambda make: ACTS[name](make, at)


def only_lock(work_key: str) -> Act:
    """Hold the work row and change nothing."""
    return lambda make: make.conn.execute("select 1 from work where key = %s for no key update", (work_key,))


def touch(work_key: str) -> Act:
    """Write the work row, its lease and token unchanged."""
    return lambda make: make.conn.execute("update work set moved_at = ledger_now() where key = %s", (work_key,))
