"""A morning in the words of the person at the terminal: where it stands, what was done, what comes next."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from matins.cli.times import ago, clock, place, second
from matins.ledger.standing import Recorded
from matins.rules.verdict import MessageFacts, Morning, State, at_hand, state

VERBS = {"research": "read", "compose": "write", "publish": "publish", "jobs": "openings", "send": "send"}
PIECES = {
    "research": "what the sources say",
    "compose": "the edition, written",
    "publish": "the edition, published",
    "jobs": "the openings",
}
DOING = {"research": "reading the sources", "compose": "writing", "publish": "publishing", "jobs": "openings"}
WRITER = "quoted from the sources, no model used"


def counted(number: int, one: str, many: str = "") -> str:
    """`1 story`, `2 stories`."""
    return f"{number} {one if number == 1 else many or one + 's'}"


def coverage(morning: Morning) -> str:
    """`8 of 9 sources`."""
    found = morning.coverage
    return f"{found['reached']} of {counted(found['sources'], 'source')}" if found else ""


def stories(morning: Morning) -> str:
    """`9 stories`, or what kind of edition it is instead."""
    match morning.edition_kind:
        case "empty":
            return "nothing new"
        case "blind":
            return "could not look"
    return counted(int(morning.facts.get("stories", 0)), "story", "stories")


def written(morning: Morning) -> str:
    """What was written: `9 stories, quoted from the sources, no model used`, or the edition that says why not."""
    match morning.edition_kind:
        case "empty":
            return 'an edition that says "nothing new"'
        case "blind":
            return 'an edition that says "could not look"'
    return f"{stories(morning)}, {WRITER}"


def mail(message: MessageFacts) -> str:
    """Where one mail stands, with the words that its proof allows."""
    match message.status:
        case "pending" if message.reason:
            return f"not sent yet ({message.reason})"
        case "pending":
            return "not sent yet"
        case "sending":
            return "being sent"
        case "uncertain":
            return "may have been sent"
        case "held":
            return "may have been sent; waits for you"
        case "accepted" if message.proof == "none":
            return "sent (server said yes)"
        case "accepted":
            return "sent, not seen in the inbox yet"
        case "observed":
            return "in the inbox" if message.placement == "inbox" else f"in {message.placement}"
        case "expired":
            return "not sent in time"
    return f"could not be sent ({message.reason})" if message.reason else "could not be sent"


def standing(morning: Morning, *, viewer: str) -> str:
    """The last column of `owed`."""
    match state(morning):
        case State.NOT_YET:
            there = clock(morning.opens_at, morning.zone)
            here = clock(morning.opens_at, viewer)
            return f"opens {here}" + (f" ({there} in {place(morning.zone)})" if here != there else "")
        case State.MISSED if morning.status == "missed":
            return "nothing was begun before its time was over"
        case State.MISSED if "exhausted" in (morning.status, morning.continuation_status):
            return f"gave up after 5 tries: {PIECES.get(at_hand(morning) or '', 'it')}"
        case State.DUE | State.LATE if morning.published_at is None:
            return _doing(morning, viewer)
    return ", ".join([stories(morning), coverage(morning), *(mail(one) for one in morning.messages)])


def _doing(morning: Morning, viewer: str) -> str:
    doing = DOING.get(at_hand(morning) or "", "")
    if morning.retry_at and morning.retry_at > morning.now and morning.reason:
        return f"{doing}: did not work ({morning.reason}), tried again at {clock(morning.retry_at, viewer)}"
    return doing if morning.status in ("running", "succeeded") else "waits to be begun"


def first_missing(morning: Morning) -> str | None:
    """The first piece of evidence that is not there, in words, or None."""
    piece = at_hand(morning)
    if piece is None:
        return None
    if piece in PIECES:
        return PIECES[piece]
    unproved = next(one for one in morning.messages if not one.proved)
    told = f"the mail to {unproved.destination}"
    return f"{told}, sent" if unproved.accepted_at is None else f"{told}, seen in the inbox"


def following(morning: Morning, *, checked: float | None = None, every: float = 300.0) -> str:
    """Whose move is next, and when. `checked`: seconds since the last check; `every`: seconds between two."""
    zone = morning.zone
    match state(morning):
        case State.READY:
            return "Nothing. Everything owed was done, with evidence."
        case State.NOT_YET:
            return f"Matins begins at {clock(morning.opens_at, zone)}."
        case State.HELD:
            return "Yours: look whether the mail came. Matins will not send a second one."
        case State.MISSED:
            return "Nothing more is tried for this date; the next morning is not affected."
    if checked is not None and checked > 2 * every:
        return f"Yours: nothing moves here, the last check was {ago(checked)}. Start it:  matins up --detach"
    return _next_of_open(morning, zone)


def _next_of_open(morning: Morning, zone: str) -> str:
    unproved = [one for one in morning.messages if not one.proved]
    if at_hand(morning) in PIECES or not unproved:
        if morning.retry_at and morning.retry_at > morning.now:
            return f"Matins tries again at {second(morning.retry_at, zone)}."
        return "Matins is at it; what died is taken over within five minutes."
    message = unproved[0]
    if message.status == "uncertain":
        return f"Matins looks for the mail {_at(message.look_at, morning, zone)}. It will not send a second one."
    if message.status == "accepted":
        return (
            f"Matins looks again {_at(message.look_at, morning, zone)}, until {clock(morning.useful_until_at, zone)}."
        )
    if message.send_at and message.send_at > morning.now:
        return f"Matins sends it at {clock(message.send_at, zone)}."
    return "Matins is sending it."


def _at(at: datetime | None, morning: Morning, zone: str) -> str:
    return f"at {second(at, zone)}" if at and at > morning.now else "now"


def lines(morning: Morning, recorded: Iterable[Recorded]) -> list[dict[str, Any]]:
    """The evidence in order: when, which act, what came of it; plumbing that says nothing to a person is left out."""
    told = []
    for one in recorded:
        step = VERBS.get(one.facts.get("step") or _step_of(one), "owed")
        what = _what(morning, one)
        if what:
            told.append(
                {"at": one.at, "act": step, "what": what, "event": one.event, "token": one.token, **_proof(one)}
            )
    return told


_STEPS = {
    "edition.drafted": "compose",
    "edition.published": "publish",
    "evidence_set.frozen": "research",
    "obligation.declared": "",
    "obligation.queued": "",
    "obligation.missed": "",
}


def _step_of(one: Recorded) -> str:
    if one.event in _STEPS:
        return _STEPS[one.event]
    kind = one.subject.split("/")[0]
    name = str(one.facts.get("action", "")).rpartition("/")[2]
    if kind == "message":
        return "send"
    return name if name in VERBS else {"obligation": "research"}.get(kind, "")


def _proof(one: Recorded) -> dict[str, Any]:
    names = (
        "hash",
        "output_hash",
        "bundle_hash",
        "draft_hash",
        "provider",
        "reference",
        "reply",
        "mechanism",
        "placement",
    )
    return {name: one.facts[name] for name in names if one.facts.get(name)}


def _what(morning: Morning, one: Recorded) -> str:
    facts, zone = one.facts, morning.zone
    match one.event:
        case "obligation.declared" if one.subject.endswith(morning.key):
            opens, closes = clock(morning.opens_at, zone), clock(morning.useful_until_at, zone)
            ready = clock(morning.ready_by_at, zone)
            return f"profile {facts['profile']}, window {opens}-{closes}, ready by {ready}"
        case "obligation.queued":
            return "asked for by hand" if facts.get("early") else "its window opened"
        case "obligation.claimed" | "continuation.claimed" if facts.get("old_holder"):
            return f"try {facts['attempt']} took over: the worker before it was silent since {_cut(facts, zone)}"
        case "obligation.claimed" | "continuation.claimed" | "message.claimed" if facts["attempt"] > 1:
            return f"try {facts['attempt']}"
        case "evidence_set.frozen":
            return f"{coverage(morning)}, {counted(morning.coverage['new'], 'new item')}{_unseen(morning)}"
        case "obligation.failed" | "continuation.failed" | "message.failed":
            return f"did not work: {facts['reason']}"
        case "obligation.exhausted" | "continuation.exhausted" if "with" not in facts:
            return f"gave up after 5 tries: {facts['reason']}"
        case "obligation.missed" if one.subject.endswith(morning.key):
            return "missed: nothing was begun before its time was over"
        case "edition.drafted":
            return written(morning)
        case "edition.published":
            return "published, every file read back and compared"
        case "continuation.step_completed" if facts["step"] == "jobs":
            return "none asked for"
        case _:
            return _what_of_mail(one)


def _what_of_mail(one: Recorded) -> str:
    facts = one.facts
    match one.event:
        case "action.abandoned":
            return "taken over: its worker was dead"
        case "action.uncertain":
            return "its worker died during the send: the mail may have been sent"
        case "message.uncertain" if facts["reason"] != "its worker died during the send":
            return f"may have been sent: {facts['reason']}"
        case "message.accepted" if facts.get("by"):
            return f"marked as sent: {facts['by']}"
        case "message.accepted":
            return f'accepted by {facts["provider"].partition(":")[2]} "{facts["reply"]}"'
        case "message.observed":
            return f"seen in {'the inbox' if facts['placement'] == 'inbox' else facts['placement']}"
        case "message.expired":
            return "not sent: it was no longer useful"
        case "message.held":
            return f"waits for you: {facts['reason']}"
        case "message.dead":
            return f"given up: {facts['reason']}"
        case "message.pending" if facts.get("reason"):
            return f"was not sent: {facts['reason']}; it is sent again"
    return ""


def _cut(facts: dict[str, Any], zone: str) -> str:
    return second(datetime.fromisoformat(facts["old_expiry"]), zone)


def _unseen(morning: Morning) -> str:
    unseen = morning.coverage.get("unseen", [])
    told = ", ".join(f"{one['name']} ({one['reason']})" for one in unseen)
    return f"; could not look: {told}" if told else ""
