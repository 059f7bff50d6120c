"""Makes docs/failures.md from a run: `python -m tests.crash.failures` kills a real worker at every named point, and
writes down what it left, who went on, and what that cost.
"""

from __future__ import annotations

import functools
import tempfile
from pathlib import Path

from tests import stack
from tests.crash.aftermath import cost, healer, left_behind
from tests.crash.flows import FLOWS, Flow
from tests.crash.receiving import assert_happened_once
from tests.crash.scene import Scene
from tests.replay.record import make_scene

PAGE = Path(__file__).resolve().parents[2] / "docs" / "failures.md"
HEAD = """# What a death leaves behind

A worker was killed (SIGKILL) once at every named point of `matins/rules/crash.py`, on real Postgres, Temporal, object
store and mail server; another worker then finished the morning, and the mails, objects and rows were counted. In every
case: one mail, one edition, every rule of the ledger holds. This page is written by that run,
`python -m tests.crash.failures`; `tests/crash/test_two_lives.py` kills the resumed worker too, at the same and at the
next point, and compares what was left with this table.

| killed at | left behind | who goes on | what it costs |
|---|---|---|---|
"""
_OVERTAKE = """
create function overtake() returns trigger language plpgsql as
    'begin update page set wanted = wanted + 1 where id = new.page_id; return null; end';
create trigger overtake after insert on page_write
    for each row when (new.version = 1) execute function overtake();
"""


def overtake_every_page(scene: Scene) -> None:
    """Let each page's first write be overtaken while it is put, as a newer summary from elsewhere would."""
    with scene.ledger() as conn:
        conn.execute(_OVERTAKE)


@functools.cache
def documented() -> dict[str, str]:
    """Point -> what its death leaves behind, as the page says."""
    rows = [line.split(" | ") for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("| `")]
    return {row[0].strip("| `"): row[1] for row in rows}


def observe(flow: Flow, point: str) -> str:
    """One row of the table, from one death and the recovery from it."""
    with tempfile.TemporaryDirectory() as own, make_scene(Path(own)) as scene:
        key = scene.owe("ada")
        if flow.overtaken:
            overtake_every_page(scene)
        if flow.queues:
            scene.live(queues=("ledger", "ai", "fetch"))
        scene.die_at(point, queues=flow.queues)
        with scene.ledger() as conn:
            left = left_behind(conn, flow.kind)
        scene.live(queues=flow.queues)
        scene.finish(key)
        assert_happened_once(scene, key)
        with scene.ledger() as conn:
            return f"| `{point.partition('@')[0]}` | {left} | {healer(left)} | {cost(scene, conn)} |\n"


def main() -> None:
    """Run every point, and write the page."""
    directory = stack.make()
    try:
        rows = []
        for flow in FLOWS:
            for point in flow.points:
                rows.append(observe(flow, point))
                print(rows[-1], end="", flush=True)
    finally:
        stack.clear(directory)
    PAGE.write_text(HEAD + "".join(rows), encoding="utf-8")


if __name__ == "__main__":
    main()
