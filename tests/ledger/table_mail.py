"""What each act does to a message."""

from __future__ import annotations

from matins.rules.errors import ActionInFlight, AttemptsSpent, Closed, LeaseHeld, LeaseLost, NotDue
from tests.ledger.case import Alike, On

SCENES: dict[str, tuple[str, ...]] = {
    "message": (
        "pending", "pending_again", "pending_late", "sending", "sending_dead", "sending_late", "sending_spent",
        "sending_spent_dead", "sending_in_flight", "sending_in_flight_dead", "sending_in_flight_late", "uncertain",
        "uncertain_quiet", "uncertain_quiet_spent", "uncertain_quiet_refunded_spent", "held", "let_go", "accepted",
        "observed", "expired", "dead",
    ),
}  # fmt: skip

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
    },
    "work.release": {
        "message": On(
            LeaseLost,
            {"sending_in_flight": ActionInFlight}
            | dict.fromkeys(("sending", "sending_spent"), "message sending -> pending"),
        ),
    },
    "ending.fail": {
        "message": On(
            LeaseLost,
            {
                "sending": "message sending -> pending",
                "sending_spent": "message sending -> dead",
                "sending_in_flight": ActionInFlight,
            },
        ),
    },
    "ending.expire": {
        "message": On(False, {"sending_spent_dead": "message sending -> dead"}),
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
    "doubt.accept_late": {
        "message": On(False, _ACCEPTED_LATE | _FOUND),
    },
    "doubt.accept_found": {
        "message": On(False, _FOUND),
    },
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
    "observation.observe": {
        "message": On(False, {"accepted": "message accepted -> observed"}),
    },
}
