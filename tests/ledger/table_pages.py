"""What each act does to a page of the wiki and its writes."""

from __future__ import annotations

from matins.rules.errors import AttemptsSpent, LeaseHeld, LeaseLost, Superseded
from tests.ledger.case import Alike, On, WorkAlone

SCENES: dict[str, tuple[str, ...]] = {
    "page_write": (
        "unclaimed", "none", "none_dead", "none_spent", "none_spent_dead", "none_superseded", "open", "open_dead",
        "open_superseded", "open_taken", "open_stale", "closed", "abandoned",
    ),
}  # fmt: skip

_HELD = ("none", "none_spent", "none_superseded", "open", "open_superseded", "open_taken")
_OPENS = "page_write none -> open"
_TAKES_OVER = "page_write open -> abandoned; page_write none -> open"

TABLE: dict[str, dict[str, On]] = {
    "work.claim": {
        "page_write": On(
            LeaseHeld,
            {"none_spent_dead": AttemptsSpent}
            | dict.fromkeys(("unclaimed", "none_dead", "open_dead", "closed"), WorkAlone),
        ),
    },
    "work.release": {"page_write": On(LeaseLost, dict.fromkeys(_HELD, WorkAlone))},
    "ending.fail": {"page_write": On(LeaseLost, dict.fromkeys(_HELD, WorkAlone))},
    "ending.fail:for good": {"page_write": On(LeaseLost, dict.fromkeys(_HELD, WorkAlone))},
    "ending.expire": {"page_write": On(False, {"none_spent_dead": WorkAlone})},
    "page_write.open_write": {
        "page_write": On(
            LeaseLost,
            {"open": Alike, "open_taken": _TAKES_OVER}
            | dict.fromkeys(("none", "none_spent"), _OPENS)
            | dict.fromkeys(("none_superseded", "open_superseded"), Superseded),
        ),
    },
    "page_write.open_write:the newest": {
        "page_write": On(
            LeaseLost,
            {"open": Alike, "open_superseded": _TAKES_OVER, "open_taken": _TAKES_OVER}
            | dict.fromkeys(("none", "none_spent", "none_superseded"), _OPENS),
        ),
    },
    "page_write.mark": {
        "page_write": On(
            LeaseLost,
            {"open": "page_write open -> closed", "closed": Alike}
            | dict.fromkeys(("none", "none_spent", "none_superseded", "open_superseded", "open_taken"), Superseded),
        ),
    },
    "page_write.confirm": {
        "page_write": On(
            LeaseLost,
            dict.fromkeys(("none", "none_spent", "none_superseded"), WorkAlone)
            | dict.fromkeys(("open", "open_superseded", "open_taken"), "page_write open -> abandoned"),
        ),
    },
}
