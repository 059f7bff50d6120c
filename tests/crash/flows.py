"""Every named point, in the order in which one piece of work reaches it, and how a life is armed to die there.

A point that several pieces reach is taken at the first of them, `point@n` at the n-th time.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise


@dataclass(frozen=True, slots=True)
class Flow:
    """One piece of work and the points on its way."""

    name: str
    kind: str
    """Of its work row; "" where the work is not leased."""
    points: tuple[str, ...]
    queues: tuple[str, ...] = ()
    """What its workers serve; another one serves the rest. None: every queue."""
    overtaken: bool = False
    """Whether each write of a page is overtaken by a newer version, so that its loser repairs."""
    once: tuple[str, ...] = ()
    """Points that no second life reaches, because the first one's effect is found: it goes on at the last point."""

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """(where a life dies, where the resumed life dies): at the same point, and at the next one."""
        again = [(point, self.points[-1] if point in self.once else point) for point in self.points]
        following = [pair for pair in pairwise(self.points) if pair[0] not in self.once]
        return list(dict.fromkeys(again + following))


MAIL = ("email",)
FLOWS = (
    Flow("planning", "", ("plan.after_insert",)),
    Flow(
        "reading a source",
        "ingest",
        ("fetch.after_claim", "fetch.after_page", "settle.before_commit", "settle.after_commit"),
    ),
    Flow(
        "research and the steps",
        "obligation",
        (
            "claim.after_commit@2",
            "action.before_row",
            "action.after_row",
            "call.after_reply",
            "record.after_commit",
            "complete.before_commit",
            "complete.after_commit",
            "advance.before_start",
            "advance.after_start",
        ),
    ),
    Flow("publishing", "continuation", ("put.before", "put.after")),
    Flow(
        "a page of the wiki",
        "page",
        (
            "summary.after_accept",
            "page.after_write",
            "page.after_put",
            "page.after_read_back",
            "page.after_mark",
        ),
    ),
    Flow("an overtaken page", "page", ("repair.before_put", "repair.after_put"), overtaken=True),
    Flow(
        "sending",
        "message",
        (
            "send.before_connect",
            "send.after_prompt",
            "send.after_reply",
            "send.after_accepted",
            "observe.before_record",
        ),
        queues=MAIL,
        once=("send.after_reply", "send.after_accepted"),
    ),
)


def named() -> set[str]:
    """The points of all flows."""
    return {point.partition("@")[0] for flow in FLOWS for point in flow.points}
