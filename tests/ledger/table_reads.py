"""What each act does to a read of a source."""

from __future__ import annotations

from matins.rules.errors import (
    AttemptsSpent,
    Closed,
    EvidenceMissing,
    LeaseHeld,
    LeaseLost,
    NotDue,
    OutputConflict,
    Refused,
)
from tests.ledger.case import Alike, On, WorkAlone

SCENES: dict[str, tuple[str, ...]] = {
    "ingest_run": (
        "unclaimed", "claimed", "claimed_admitted", "claimed_dead", "claimed_spent", "claimed_spent_dead", "new",
        "none", "unmodified", "unreachable", "invalid",
        "partial", "gone", "failed",
    ),
}  # fmt: skip

_RUN_STARTS = "ingest_run none -> claimed"
_RUN_TAKEN = "ingest_run claimed -> failed; ingest_run none -> claimed"


def _fails(outcome: str) -> On:
    moves = f"ingest_run claimed -> {outcome}"
    return On(LeaseLost, dict.fromkeys(("claimed", "claimed_admitted", "claimed_spent"), moves))


TABLE: dict[str, dict[str, On]] = {
    "work.claim": {
        "ingest_run": On(
            LeaseHeld,
            {
                "unclaimed": _RUN_STARTS,
                "claimed_dead": _RUN_TAKEN,
                "claimed_spent_dead": AttemptsSpent,
                "new": Closed,
                "none": Closed,
                "unmodified": _RUN_STARTS,
                "unreachable": NotDue,
                "invalid": NotDue,
                "partial": NotDue,
                "gone": Closed,
                "failed": _RUN_STARTS,
            },
        ),
    },
    "work.claim:the same holder": {
        "ingest_run": On(
            _RUN_TAKEN,
            {
                "unclaimed": _RUN_STARTS,
                "claimed_spent": LeaseHeld,
                "claimed_spent_dead": AttemptsSpent,
                "new": Closed,
                "none": Closed,
                "unmodified": _RUN_STARTS,
                "unreachable": NotDue,
                "invalid": NotDue,
                "partial": NotDue,
                "gone": Closed,
                "failed": _RUN_STARTS,
            },
        ),
    },
    "work.release": {
        "ingest_run": On(
            LeaseLost,
            dict.fromkeys(("claimed", "claimed_admitted", "claimed_spent"), "ingest_run claimed -> failed"),
        ),
    },
    "ending.fail": {
        "ingest_run": On(LeaseLost),
    },
    "ending.expire": {
        "ingest_run": On(False),
    },
    "ingest.settle": {
        "ingest_run": On(
            LeaseLost,
            {
                "claimed": EvidenceMissing,
                "claimed_admitted": "ingest_run claimed -> new",
                "claimed_spent": EvidenceMissing,
                "new": Alike,
                "none": OutputConflict,
                "unmodified": OutputConflict,
            },
        ),
    },
    "ingest.settle:empty": {
        "ingest_run": On(
            LeaseLost,
            {
                "claimed": "ingest_run claimed -> none",
                "claimed_admitted": EvidenceMissing,
                "claimed_spent": "ingest_run claimed -> none",
                "new": OutputConflict,
                "none": Alike,
                "unmodified": Alike,
            },
        ),
    },
    "ingest.settle:unmodified": {
        "ingest_run": On(
            LeaseLost,
            {
                "claimed": "ingest_run claimed -> none",
                "claimed_admitted": EvidenceMissing,
                "claimed_spent": "ingest_run claimed -> none",
                "new": OutputConflict,
                "none": Alike,
                "unmodified": Alike,
            },
        ),
    },
    "ingest.fail": {"ingest_run": _fails("unreachable")},
    "ingest.fail:invalid": {"ingest_run": _fails("invalid")},
    "ingest.fail:partial": {"ingest_run": _fails("partial")},
    "ingest.fail:gone": {"ingest_run": _fails("gone")},
    "window.expire": {"ingest_run": On(False, {"claimed_spent_dead": "ingest_run claimed -> failed"})},
    "window.skip": {
        "ingest_run": On(
            Refused,
            dict.fromkeys(("claimed_dead", "claimed_spent_dead"), "ingest_run claimed -> failed")
            | dict.fromkeys(("unclaimed", "unmodified", "unreachable", "invalid", "partial", "failed"), WorkAlone),
        ),
    },
}
