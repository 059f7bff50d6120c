"""Sources, and reads of them in any state, by the real transitions."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from matins.ledger import admission, ingest, source, work
from matins.rules import keys
from matins.rules.evidence import ReadOutcome
from tests.ledger.scene import EVENING, URL, Scene, failure, item, reading, unclaimed

if TYPE_CHECKING:
    from tests.ledger.factory import Factory


def ingest_run(make: Factory, variant: str, owner: str = "ada") -> Scene:
    """unclaimed, claimed[_admitted, _dead, _spent...], new, none, unmodified, unreachable, invalid, partial, gone,
    failed.
    """
    make.clock.set(EVENING)
    make.owner(owner)
    source.add(make.conn, owner, url=URL, name="gazette")
    window = source.window(make.conn, keys.source(URL))
    none = unclaimed(window.work_key, kind="ingest")
    if variant == "unclaimed":
        return Scene("", window.source_key, window.work_key, none, window)
    if "spent" in variant:
        make.on_last_attempt(window.work_key)
    claim = make.claim(window.work_key)
    made = Scene("", window.source_key, window.work_key, claim, window)
    if "admitted" in variant or variant == "new":
        admission.admit(make.conn, claim, window, [item("a"), item("b")], baseline=True)
    match variant:
        case "new":
            ingest.settle(make.conn, claim, window, reading(item("a"), item("b")), declared=2)
        case "none":
            ingest.settle(make.conn, claim, window, reading())
        case "unmodified":
            ingest.settle(make.conn, claim, window, replace(reading(), unmodified=True))
        case "unreachable" | "invalid" | "partial" | "gone":
            ingest.fail(make.conn, claim, window, failure(ReadOutcome(variant)))
        case "failed":
            work.release(make.conn, window.work_key, token=claim.token)
    if variant.endswith("_dead"):
        make.die()
    return made
