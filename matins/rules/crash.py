"""Named points at which a test, or `matins morning --crash`, may end the process. Off unless armed.

`MATINS_CRASH` names points, comma separated: `send.after_reply` kills the process there (SIGKILL: nothing is cleaned
up), `send.after_prompt:stop` freezes it there (SIGSTOP). `point@2` acts on the second time the point is reached.
"""

from __future__ import annotations

import os
import signal
from collections import Counter

POINTS = (
    "claim.after_commit",
    "action.before_row",
    "action.after_row",
    "call.after_reply",
    "record.after_commit",
    "complete.before_commit",
    "complete.after_commit",
    "advance.before_start",
    "advance.after_start",
    "fetch.after_claim",
    "fetch.after_page",
    "settle.before_commit",
    "settle.after_commit",
    "send.before_connect",
    "send.after_prompt",
    "send.after_reply",
    "send.after_accepted",
    "put.before",
    "put.after",
    "summary.after_accept",
    "page.after_write",
    "page.after_put",
    "page.after_read_back",
    "page.after_mark",
    "repair.before_put",
    "repair.after_put",
    "observe.before_record",
    "plan.after_insert",
)

SETTING = "MATINS_CRASH"
_seen: Counter[str] = Counter()


def crashpoint(name: str) -> None:
    """End or freeze this process here if `name` is armed. Raises KeyError for a point that is not listed."""
    armed = os.environ.get(SETTING)
    if armed is None:
        return
    if name not in POINTS:
        raise KeyError(name)
    _seen[name] += 1
    for entry in armed.split(","):
        point, _, mode = entry.strip().partition(":")
        point, _, nth = point.partition("@")
        if point == name and _seen[name] == int(nth or 1):
            os.kill(os.getpid(), signal.SIGSTOP if mode == "stop" else signal.SIGKILL)
