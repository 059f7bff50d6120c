"""How a step of the continuation is made: claimed under its name, done, completed; and its messages started."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from activities.desk import Desk, following
from activities.messages import Next
from matins.ledger import continuation, message
from matins.ledger.move import Move
from matins.ledger.work import Claim
from matins.rules import keys
from matins.rules.crash import crashpoint
from matins.rules.errors import Closed, StepOutOfOrder

Act = Callable[[Claim, str, int], Move]
"""One step's work under its claim, for a key and its plan's version. Returns the next move."""


def make(desk: Desk, key: str, step: str, act: Act) -> Next:
    """Claim `step` and do it. A step that is not at hand any more was made by an earlier life: then what it may have
    left is started.
    """
    try:
        with desk.ledger() as conn:
            plan = continuation.plan_of(conn, key)
        with desk.claimed(keys.continuation_work(key), step=step) as claim:
            move = act(claim, key, plan)
            crashpoint("complete.after_commit")
            return following(move)
    except (Closed, StepOutOfOrder):
        with desk.ledger() as conn:
            unsent, move = message.pending_of(conn, key), continuation.next_move(conn, key)
        hand_out(desk, key, unsent)
        return following(move)


def hand_out(desk: Desk, key: str, messages: Sequence[str]) -> None:
    """Start what sends the messages; one that runs already is used."""
    for work_key in messages:
        desk.advance("message", Move(work_key, "send"), about=key)
