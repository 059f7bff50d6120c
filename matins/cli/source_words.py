"""How a read of a source went, in the words of the person who asks."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from matins.cli.telling import counted
from matins.cli.times import moment
from matins.rules import limits

if TYPE_CHECKING:
    from matins.ledger.source import Subscribed
    from matins.ledger.source_facts import Facts
    from matins.ledger.window import Run, UnreadWindow

NETWORK_FRESH = 900.0
"""Seconds for which it is said that this machine's network is down."""
OUR_NETWORK = "most likely it is this machine's network"
LEFT = {
    "spent": "gave up after {tries}",
    "gone": "is gone for good",
    "died": "its readers died, after {tries}",
    "skipped": "skipped by you",
}
"""How a window was left that was not read to its end."""


@dataclass(frozen=True, slots=True)
class Viewer:
    """Where and when somebody looks, and what is known about all sources at once."""

    zone: str
    now: datetime
    network_down: bool
    """Most sources failed at once, just now."""
    skipped: frozenset[str]
    """Keys of sources whose last window was given up by a person."""

    def at(self, at: datetime | None) -> str:
        """An instant as the viewer's clock shows it; "" for none."""
        return moment(at, self.zone, now=self.now) if at else ""


def viewer(conn: Any, owner: str) -> Viewer:
    """The owner as somebody who looks at sources now. Raises ProfileMissing."""
    from matins.ledger import decision, profile, source_facts, standing

    zone = profile.current(conn, owner).document["zone"]
    return Viewer(
        zone=zone,
        now=standing.last_check(conn)[1],
        network_down=bool(decision.of(conn, "network", within=NETWORK_FRESH)),
        skipped=source_facts.skipped(conn, owner),
    )


def went(one: Subscribed, seen: Viewer) -> str:
    """How the last read of a source went, in one sentence without a full stop."""
    at = seen.at(one.tried_at)
    if one.key in seen.skipped:
        return f"skipped by you {at}: {one.reason}"
    since = f" since {seen.at(one.failing_since)}" if one.failing_since else ""
    match one.outcome:
        case None:
            return "not read yet"
        case "new" | "none":
            return f"{counted(one.items_read, 'item')}, read {at}"
        case "partial":
            return f"read only in part {at}: {one.reason}"
        case "gone":
            return f"says it is gone for good (410){since}; asked again rarely"
        case "unreachable" if seen.network_down:
            return f"could not look{since}: {OUR_NETWORK} ({one.reason})"
    return f"could not look{since}: {one.reason}"


def following(one: Subscribed, facts: Facts, seen: Viewer) -> str:
    """Whose move is next with a source, and when."""
    if facts.read_until:
        return "It is being read right now."
    left = facts.budget - facts.attempts
    tries = f"; {counted(left, 'try', 'tries')} left before the next window" if facts.attempts else ""
    if facts.waits:
        return f"Matins tries again at {seen.at(facts.retry_at)}{tries}."
    when = f"at {seen.at(one.due_at)}" if one.due_at > facts.now else "with the next check"
    return f"Matins reads it {when}{tries}."


def address(one: Subscribed, seen: Viewer) -> list[tuple[str, str]]:
    """(label, text) of where a source is read, and where it says it moved."""
    told = [("address", one.url)]
    if one.fetch_url:
        told.append(("read at", f"{one.fetch_url} (it moved there for good)"))
    if one.moved_to and one.moved_since and one.moved_to != one.fetch_url:
        days = round(limits.REDIRECT_HELD / 86400)
        believed = seen.at(one.moved_since + timedelta(seconds=limits.REDIRECT_HELD))
        since = seen.at(one.moved_since)
        told.append(("moves to", f"{one.moved_to} since {since}; believed after {days} days, {believed}"))
    return told


def run(one: Run) -> str:
    """What one read came to."""
    match one.status:
        case "claimed":
            return "being read"
        case "none" if one.reads > 1:
            return f"nothing new, {one.reads} times"
        case "none":
            return "nothing new"
        case "new":
            renamed = f", {one.renamed} under another name" if one.renamed else ""
            return f"{one.fresh} new of {counted(one.items, 'item')}{renamed}"
        case "partial":
            return f"only in part: {one.reason}; {one.fresh} new of {counted(one.items, 'item')}"
        case "gone":
            return "says it is gone for good (410)"
    return f"could not look: {one.reason}"


def left(one: UnreadWindow) -> str:
    """Why one window was not read to its end."""
    how = LEFT[one.how].format(tries=counted(one.attempts, "try", "tries"))
    return f"{how}: {one.reason}" if one.how in ("spent", "skipped") else how
