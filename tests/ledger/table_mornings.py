"""What each act does to a morning: its obligation, continuation, edition and effects."""

from __future__ import annotations

from matins.rules.errors import (
    ActionInFlight,
    AttemptsSpent,
    Closed,
    LeaseHeld,
    LeaseLost,
    NoSuchRow,
    NotDue,
    StepOutOfOrder,
)
from tests.ledger.case import Alike, On

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
}  # fmt: skip

_LIVE = {"running_in_flight": ActionInFlight}
_NO_WORK = dict.fromkeys(("undeclared", "declared", "declared_open", "declared_late", "missed"), NoSuchRow)
_MORNING_ENDS = "obligation running, declared -> exhausted"

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
    },
    "work.claim:another step": {
        "continuation": On(StepOutOfOrder, {"done": Closed, "exhausted": Closed}),
    },
    "work.release": {
        "obligation": On(
            LeaseLost,
            _NO_WORK | _LIVE | dict.fromkeys(("running", "running_spent"), "obligation running -> queued"),
        ),
        "continuation": On(
            LeaseLost, _LIVE | dict.fromkeys(("running", "running_spent"), "continuation running -> pending")
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
    "outgoing.queue": {
        "continuation": On(
            LeaseLost,
            dict.fromkeys(("running", "running_spent", "running_in_flight"), "message none -> pending"),
        ),
    },
}
