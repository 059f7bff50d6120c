"""The table: what each act does to each scene. A text is the arrows that move; an error refuses; a value is returned.

Where an act and a scene's machine are both named here, the scene is either listed or meets `otherwise`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from matins.rules.errors import (
    ActionInFlight,
    AttemptsSpent,
    Closed,
    EvidenceMissing,
    LeaseHeld,
    LeaseLost,
    NoSuchRow,
    NotDue,
    OutputConflict,
    StepOutOfOrder,
)


class Alike:
    """The same ask was already committed, or there is nothing to do: an answer, no error and no change."""


SCENES: dict[str, tuple[str, ...]] = {
    "obligation": (
        "undeclared", "declared", "declared_open", "declared_late", "queued", "queued_late", "queued_again", "running",
        "running_dead", "running_spent", "running_spent_dead", "running_in_flight", "running_in_flight_dead",
        "running_in_flight_spent_dead", "succeeded", "succeeded_unadvanced", "exhausted", "missed", "missed_queued",
    ),
    "continuation": (
        "pending", "pending_again", "running", "running_dead", "running_spent", "running_spent_dead",
        "running_in_flight", "running_in_flight_dead", "done", "exhausted",
    ),
    "edition": (
        "none", "none_dead", "none_in_flight", "none_spent", "none_spent_dead", "drafted", "drafted_dead",
        "drafted_in_flight", "published",
    ),
    "action": (
        "none", "none_dead", "in_flight", "in_flight_dead", "in_flight_taken", "completed", "refused", "not_done",
        "abandoned", "abandoned_stale",
    ),
    "message": (
        "pending", "pending_again", "pending_late", "sending", "sending_dead", "sending_late", "sending_spent",
        "sending_spent_dead", "sending_in_flight", "sending_in_flight_dead", "sending_in_flight_late", "uncertain",
        "uncertain_quiet", "uncertain_quiet_spent", "uncertain_quiet_refunded_spent", "held", "let_go", "accepted",
        "observed", "expired", "dead",
    ),
    "ingest_run": (
        "unclaimed", "claimed", "claimed_admitted", "claimed_dead", "claimed_spent", "claimed_spent_dead", "new",
        "none", "unreachable", "invalid", "failed",
    ),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class On:
    """What an act does to the scenes of one machine."""

    otherwise: Any
    listed: dict[str, Any] = field(default_factory=dict)


_LIVE = {"running_in_flight": ActionInFlight}
_NO_WORK = dict.fromkeys(("undeclared", "declared", "declared_open", "declared_late", "missed"), NoSuchRow)
_MORNING_ENDS = "obligation running, declared -> exhausted"
_RUN_STARTS = "ingest_run none -> claimed"
_RUN_TAKEN = "ingest_run claimed -> failed; ingest_run none -> claimed"
_ACCEPTED_LATE = {
    "sending_in_flight": "message sending -> accepted; action in_flight -> completed",
    "sending_in_flight_dead": "message sending -> accepted; action in_flight -> completed",
    "sending_in_flight_late": "message sending -> accepted; action in_flight -> completed",
}
_DOUBTED = ("uncertain", "uncertain_quiet", "uncertain_quiet_spent", "uncertain_quiet_refunded_spent")
_FOUND = dict.fromkeys(_DOUBTED, "message uncertain -> accepted; action uncertain -> completed")
_SENT_AGAIN = "message uncertain -> pending; action uncertain -> not_done"
_NO_MORE = {"uncertain_quiet_refunded_spent": "message uncertain -> dead; action uncertain -> not_done"}

TABLE: dict[str, dict[str, On]] = {
    "work.claim": {
        "obligation": On(
            Closed,
            _NO_WORK
            | {
                "queued": "obligation queued -> running",
                "queued_late": "obligation queued -> running",
                "queued_again": NotDue,
                "running": LeaseHeld,
                "running_dead": "obligation running -> running",
                "running_spent": LeaseHeld,
                "running_spent_dead": AttemptsSpent,
                "running_in_flight": LeaseHeld,
                "running_in_flight_dead": "obligation running -> running",
                "running_in_flight_spent_dead": AttemptsSpent,
            },
        ),
        "continuation": On(
            Closed,
            {
                "pending": "continuation pending -> running",
                "pending_again": NotDue,
                "running": LeaseHeld,
                "running_dead": "continuation running -> running",
                "running_spent": LeaseHeld,
                "running_spent_dead": AttemptsSpent,
                "running_in_flight": LeaseHeld,
                "running_in_flight_dead": "continuation running -> running",
            },
        ),
        "message": On(
            Closed,
            {
                "pending": "message pending -> sending",
                "pending_again": NotDue,
                "pending_late": "message pending -> sending",
                "sending": LeaseHeld,
                "sending_dead": "message sending -> sending",
                "sending_late": "message sending -> sending",
                "sending_spent": LeaseHeld,
                "sending_spent_dead": AttemptsSpent,
                "sending_in_flight": LeaseHeld,
                "sending_in_flight_dead": ActionInFlight,
                "sending_in_flight_late": ActionInFlight,
            },
        ),
        "ingest_run": On(
            LeaseHeld,
            {
                "unclaimed": _RUN_STARTS,
                "claimed_dead": _RUN_TAKEN,
                "claimed_spent_dead": AttemptsSpent,
                "new": Closed,
                "none": Closed,
                "unreachable": NotDue,
                "invalid": NotDue,
                "failed": _RUN_STARTS,
            },
        ),
    },
    "work.claim:the same holder": {
        "obligation": On(
            Closed,
            _NO_WORK
            | {
                "queued": "obligation queued -> running",
                "queued_late": "obligation queued -> running",
                "queued_again": NotDue,
                "running": "obligation running -> running",
                "running_dead": "obligation running -> running",
                "running_spent": LeaseHeld,
                "running_spent_dead": AttemptsSpent,
                "running_in_flight": LeaseHeld,
                "running_in_flight_dead": "obligation running -> running",
                "running_in_flight_spent_dead": AttemptsSpent,
            },
        ),
        "ingest_run": On(
            _RUN_TAKEN,
            {
                "unclaimed": _RUN_STARTS,
                "claimed_spent": LeaseHeld,
                "claimed_spent_dead": AttemptsSpent,
                "new": Closed,
                "none": Closed,
                "unreachable": NotDue,
                "invalid": NotDue,
                "failed": _RUN_STARTS,
            },
        ),
    },
    "work.claim:another step": {"continuation": On(StepOutOfOrder, {"done": Closed, "exhausted": Closed})},
    "work.release": {
        "obligation": On(
            LeaseLost,
            _NO_WORK | _LIVE | dict.fromkeys(("running", "running_spent"), "obligation running -> queued"),
        ),
        "continuation": On(
            LeaseLost, _LIVE | dict.fromkeys(("running", "running_spent"), "continuation running -> pending")
        ),
        "message": On(
            LeaseLost,
            {"sending_in_flight": ActionInFlight}
            | dict.fromkeys(("sending", "sending_spent"), "message sending -> pending"),
        ),
        "ingest_run": On(
            LeaseLost,
            dict.fromkeys(("claimed", "claimed_admitted", "claimed_spent"), "ingest_run claimed -> failed"),
        ),
    },
    "ending.fail": {
        "obligation": On(
            LeaseLost,
            _NO_WORK | _LIVE | {"running": "obligation running -> queued", "running_spent": _MORNING_ENDS},
        ),
        "continuation": On(
            LeaseLost,
            _LIVE
            | {"running": "continuation running -> pending", "running_spent": "continuation running -> exhausted"},
        ),
        "edition": On(
            "continuation running -> pending",
            {
                "none_dead": LeaseLost,
                "none_in_flight": ActionInFlight,
                "none_spent": "continuation running -> exhausted; obligation declared -> exhausted",
                "none_spent_dead": LeaseLost,
                "drafted_dead": LeaseLost,
                "drafted_in_flight": ActionInFlight,
            },
        ),
        "message": On(
            LeaseLost,
            {
                "sending": "message sending -> pending",
                "sending_spent": "message sending -> dead",
                "sending_in_flight": ActionInFlight,
            },
        ),
        "ingest_run": On(LeaseLost),
    },
    "ending.fail:for good": {
        "obligation": On(LeaseLost, _NO_WORK | _LIVE | dict.fromkeys(("running", "running_spent"), _MORNING_ENDS)),
    },
    "ending.expire": {
        "obligation": On(False, {"running_spent_dead": _MORNING_ENDS}),
        "continuation": On(False, {"running_spent_dead": "continuation running -> exhausted"}),
        "edition": On(
            False, {"none_spent_dead": "continuation running -> exhausted; obligation declared -> exhausted"}
        ),
        "message": On(False, {"sending_spent_dead": "message sending -> dead"}),
        "ingest_run": On(False),
    },
    "plan.plan": {
        "obligation": On(
            Alike,
            {
                "undeclared": "obligation none -> declared",
                "declared_open": "obligation declared -> queued",
                "declared_late": "obligation declared -> missed",
                "queued_late": "obligation queued, declared -> missed",
            },
        ),
    },
    "today.queue_early": {
        "obligation": On(False, dict.fromkeys(("declared", "declared_open"), "obligation declared -> queued")),
    },
    "obligation.complete": {
        "obligation": On(
            LeaseLost,
            _NO_WORK
            | _LIVE
            | dict.fromkeys(
                ("running", "running_spent"), "obligation running -> succeeded; continuation none -> pending"
            )
            | dict.fromkeys(("succeeded", "succeeded_unadvanced"), Alike),
        ),
    },
    "obligation.advance": {
        "obligation": On(False, {"undeclared": NoSuchRow, "succeeded_unadvanced": "continuation none -> pending"}),
    },
    "continuation.complete_step": {
        "continuation": On(
            LeaseLost,
            _LIVE | {"done": Alike} | dict.fromkeys(("running", "running_spent"), "continuation running -> done"),
        ),
        "edition": On(
            "continuation running -> pending",
            {
                "none_dead": LeaseLost,
                "none_in_flight": ActionInFlight,
                "none_spent_dead": LeaseLost,
                "drafted_dead": LeaseLost,
                "drafted_in_flight": ActionInFlight,
                "published": "continuation running -> done",
            },
        ),
    },
    "continuation.complete_step:written": {
        "continuation": On(
            LeaseLost,
            _LIVE
            | {"done": Alike}
            | dict.fromkeys(("running", "running_spent"), "continuation running -> done; action none -> completed"),
        ),
    },
    "edition.draft": {
        "edition": On(
            StepOutOfOrder,
            {
                "none_dead": LeaseLost,
                "none_in_flight": ActionInFlight,
                "none_spent_dead": LeaseLost,
            }
            | dict.fromkeys(("none", "none_spent"), "edition none -> drafted; continuation running -> pending"),
        ),
    },
    "edition.publish": {
        "edition": On(
            StepOutOfOrder,
            {
                "drafted": "edition drafted -> published; continuation running -> pending; "
                "obligation declared -> succeeded; message none -> pending",
                "drafted_dead": LeaseLost,
                "drafted_in_flight": ActionInFlight,
            },
        ),
    },
    "action.start": {
        "action": On(
            ActionInFlight,
            {
                "none": "action none -> in_flight",
                "none_dead": LeaseLost,
                "completed": Alike,
                "refused": Closed,
                "not_done": "action not_done -> in_flight",
                "abandoned": "action abandoned -> in_flight",
                "abandoned_stale": LeaseLost,
            },
        ),
    },
    "action.start:send": {
        "message": On(
            LeaseLost,
            {
                "sending": "action none -> in_flight",
                "sending_spent": "action none -> in_flight",
                "accepted": Alike,
                "observed": Alike,
            }
            | dict.fromkeys(
                (*_DOUBTED, "held", "let_go", "sending_in_flight", "sending_in_flight_dead", "sending_in_flight_late"),
                ActionInFlight,
            ),
        ),
    },
    "action.record_completed": {
        "action": On(LeaseLost, {"in_flight": "action in_flight -> completed", "completed": Alike}),
    },
    "action.record_refused": {
        "action": On(LeaseLost, {"in_flight": "action in_flight -> refused", "refused": Alike}),
    },
    "action.record_not_done": {
        "action": On(LeaseLost, {"in_flight": "action in_flight -> not_done", "not_done": Alike}),
    },
    "action.abandon": {
        "action": On(None, dict.fromkeys(("in_flight_dead", "in_flight_taken"), "action in_flight -> abandoned")),
    },
    "action.abandon:send": {
        "message": On(
            None,
            dict.fromkeys(
                ("sending_in_flight_dead", "sending_in_flight_late"),
                "action in_flight -> uncertain; message sending -> uncertain",
            ),
        ),
    },
    "message.accept": {
        "message": On(LeaseLost, _ACCEPTED_LATE | _FOUND | {"accepted": Alike, "observed": Alike}),
    },
    "message.expire": {
        "message": On(
            False,
            {"pending_late": "message pending -> expired", "sending_late": "message sending -> expired"},
        ),
    },
    "doubt.accept_late": {"message": On(False, _ACCEPTED_LATE | _FOUND)},
    "doubt.accept_found": {"message": On(False, _FOUND)},
    "doubt.doubt": {
        "message": On(
            LeaseLost,
            {"sending_in_flight": "message sending -> uncertain; action in_flight -> uncertain"},
        ),
    },
    "doubt.prove_not_sent": {
        "message": On(
            False,
            dict.fromkeys(("uncertain_quiet", "uncertain_quiet_spent"), _SENT_AGAIN) | _NO_MORE,
        ),
    },
    "doubt.prove_not_sent:waived": {
        "message": On(False, dict.fromkeys(_DOUBTED, _SENT_AGAIN) | _NO_MORE),
    },
    "doubt.hold": {
        "message": On(False, dict.fromkeys(_DOUBTED, "message uncertain -> held; action uncertain -> held")),
    },
    "doubt.let_go": {
        "message": On(False, dict.fromkeys(_DOUBTED, "message uncertain -> dead; action uncertain -> held")),
    },
    "observation.observe": {"message": On(False, {"accepted": "message accepted -> observed"})},
    "ingest.settle": {
        "ingest_run": On(
            LeaseLost,
            {
                "claimed": EvidenceMissing,
                "claimed_admitted": "ingest_run claimed -> new",
                "claimed_spent": EvidenceMissing,
                "new": Alike,
                "none": OutputConflict,
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
            },
        ),
    },
    "ingest.fail": {
        "ingest_run": On(
            LeaseLost,
            dict.fromkeys(("claimed", "claimed_admitted", "claimed_spent"), "ingest_run claimed -> unreachable"),
        ),
    },
    "ingest.fail:invalid": {
        "ingest_run": On(
            LeaseLost,
            dict.fromkeys(("claimed", "claimed_admitted", "claimed_spent"), "ingest_run claimed -> invalid"),
        ),
    },
    "ingest.expire": {"ingest_run": On(False, {"claimed_spent_dead": "ingest_run claimed -> failed"})},
}


def pairs() -> list[tuple[str, str, Any]]:
    """(scene, act, what happens), by scene."""
    found = []
    for machine, variants in SCENES.items():
        for variant in variants:
            for act, on in TABLE.items():
                if machine in on:
                    happens = on[machine].listed.get(variant, on[machine].otherwise)
                    found.append((f"{machine}/{variant}", act, happens))
    return found
