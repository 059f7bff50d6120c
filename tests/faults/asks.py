"""Every kind of write of the ledger as one act upon a scene: the transitions, what is no transition, and what a second
ask is told after the first one was done and its answer lost.
"""

from __future__ import annotations

import inspect
import pkgutil
import re
from collections.abc import Iterator
from importlib import import_module
from typing import Any

import matins.ledger
from matins.ledger import (
    decision,
    evidence,
    observation,
    page,
    profile,
    source,
    summary,
    sweeps,
    window,
    work,
)
from matins.rules import keys
from matins.rules.canonical import sha256
from matins.rules.errors import ActionInFlight, LeaseLost, Refused
from matins.rules.profile import parse
from tests.ledger.acts import ACTS, Act
from tests.ledger.case import WorkAlone
from tests.ledger.factory import Factory
from tests.ledger.scene import LEASE, URL, Scene, unclaimed
from tests.ledger.table import pairs
from tests.ledger.test_fenced_writes import WRITES


class Alike:
    """The same answer, and nothing changed."""


class Anew:
    """It is done a second time, and the rows say so: a claim with the next token, a count, a second run."""


def _freeze(make: Factory, at: Scene) -> Any:
    return evidence.freeze(
        make.conn, at.key, at.claim, owner="ada", content_hash=sha256(b"{}"), content=b"{}", coverage={}, items=[]
    )


def _profile(make: Factory, _: Scene) -> Any:
    inbox = {"name": "inbox", "address": "ada@example.org"}
    asked = {"owner": "ada", "zone": "Asia/Tokyo", "window": "05:00-09:00", "destinations": [inbox]}
    return profile.apply(make.conn, parse(asked, where="this test")).version


def _ask(make: Factory, at: Scene) -> Any:
    source.add(make.conn, "ada", url=URL, name="gazette")
    return source.ask(make.conn, at.key)


def _reject(make: Factory, _: Scene) -> Any:
    found = make.clock.conn.execute("select key from summary order by key limit 1").fetchone()
    assert found is not None
    return summary.reject(make.conn, found[0], reason="it is wrong")


def _renew(make: Factory, at: Scene) -> Any:
    assert at.window is not None
    window.renew(make.conn, at.window, budget=True)


def _beat(make: Factory, at: Scene) -> Any:
    return work.beat(make.conn, [(at.work_key, at.claim.token)], lease=LEASE)


def _restart(make: Factory, at: Scene) -> Any:
    return sweeps.stamp_restart(make.conn, at.work_key, after=900)


_NO_TRANSITIONS: dict[str, tuple[str, Act]] = {
    "evidence.freeze": ("obligation/running", _freeze),
    "profile.apply": ("obligation/undeclared", _profile),
    "profile.end": ("obligation/queued", lambda make, at: profile.end(make.conn, at.key.partition("/")[0])),
    "source.add, source.ask": ("obligation/queued", _ask),
    "work.beat": ("obligation/running", _beat),
    "observation.look_again": (
        "message/uncertain", lambda make, at: observation.look_again(make.conn, at.work_key, reason="not there"),
    ),
    "decision.note": (
        "obligation/queued", lambda make, at: decision.note(make.conn, at.work_key, "start.failed", "no answer"),
    ),
    "sweeps.begin": ("obligation/queued", lambda make, _: sweeps.begin(make.conn, "test") > 0),
    "sweeps.finish": ("sweep_run/begun", lambda make, at: sweeps.finish(make.conn, int(at.key), {"plan": 1})),
    "sweeps.stamp_restart": ("message/pending_late", _restart),
    "source.remove": (
        "ingest_run/unclaimed", lambda make, _: source.remove(make.conn, "ada", keys.source(URL)),
    ),
    "window.renew": ("ingest_run/unreachable", _renew),
    "summary.reject": ("page_write/none", _reject),
    "page.doubt": ("page_write/closed", lambda make, at: page.doubt(make.conn, at.key)),
    "page.collect_cards": ("page_write/closed", lambda make, _: page.collect_cards(make.conn, kept=0)),
    **WRITES,
}  # fmt: skip

SECOND: dict[str, Any] = {
    "work.claim": Anew,
    "work.release": LeaseLost,
    "ending.fail": LeaseLost,
    "ending.expire": False,
    "profile.end": False,
    "today.queue_early": False,
    "obligation.advance": False,
    "action.start": ActionInFlight,
    "action.abandon": None,
    "message.expire": False,
    "doubt.accept_late": False,
    "doubt.accept_found": False,
    "doubt.doubt": LeaseLost,
    "doubt.prove_not_sent": False,
    "doubt.hold": False,
    "doubt.let_go": False,
    "observation.observe": False,
    "observation.look_again": Anew,
    "ingest.fail": LeaseLost,
    "window.expire": False,
    "decision.note": Anew,
    "sweeps.begin": Anew,
    "sweeps.stamp_restart": False,
    "source.remove": False,
    "summary.reject": False,
    "window.skip": Refused,
    "window.renew": Anew,
    "page_write.confirm": LeaseLost,
}
"""What the second ask is told, where it is not `Alike`: an error, `Anew`, or a value. All of these change nothing but
`Anew`, and each is what a worker that died there leaves as well.
"""


def cases() -> list[tuple[str, str]]:
    """(act, scene): each way in which each transition moves something, once, and each other write."""
    found: dict[tuple[str, str], tuple[str, str]] = {}
    for scene, act, happens in pairs():
        if isinstance(happens, str) or happens is WorkAlone:
            found.setdefault((act, happens), (act, scene))
    others = ((act, scene) for act, (scene, _) in _NO_TRANSITIONS.items())
    return list(dict.fromkeys([*found.values(), *others]))


def place(make: Factory, scene: str) -> Scene:
    """The rows that `scene` names."""
    if scene == "sweep_run/begun":
        return Scene(scene, str(sweeps.begin(make.conn, "test")), "", unclaimed("", kind="sweep"))
    return make.scene(scene)


def act(name: str) -> Act:
    """The act of this name."""
    return ACTS[name] if name in ACTS else _NO_TRANSITIONS[name][1]


_WRITES = re.compile(
    r"^\s*(insert into|update|delete from)\b|\((?=\s*(insert into|update|delete from)\b)", re.MULTILINE
)


def writers() -> Iterator[str]:
    """module.function of everything public in the ledger that runs a statement which writes."""
    for found in pkgutil.iter_modules(matins.ledger.__path__):
        module = import_module(f"matins.ledger.{found.name}")
        statements = {name for name, text in vars(module).items() if isinstance(text, str) and _WRITES.search(text)}
        own = [one for _, one in inspect.getmembers(module, inspect.isfunction) if one.__module__ == module.__name__]
        private = {one.__name__ for one in own if one.__name__.startswith("_") and statements & _named(one)}
        for one in own:
            if not one.__name__.startswith("_") and (statements | private) & _named(one):
                yield f"{found.name}.{one.__name__}"


def _named(function: Any) -> set[str]:
    return set(function.__code__.co_names)
