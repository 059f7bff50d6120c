"""What was recorded of a morning, line by line: when, which act, and what came of it."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from matins.cli.telling import counted, coverage, lacking, openings, wiki, written
from matins.cli.times import clock, second
from matins.ledger.standing import Recorded
from matins.rules import plans
from matins.rules.verdict import Morning

VERBS = {
    "research": "read",
    "compose": "write",
    "publish": "publish",
    "jobs": "openings",
    "wiki": "wiki",
    "send": "send",
}
"""Step -> the verb that a person reads."""


def lines(morning: Morning, recorded: Iterable[Recorded]) -> list[dict[str, Any]]:
    """The evidence in order: when, which act, what came of it; plumbing that says nothing to a person is left out."""
    told = []
    kinds = {message.work_key: message.kind for message in morning.messages}
    for one in recorded:
        step = VERBS.get(one.facts.get("step") or _step_of(one), "owed")
        what = _what(morning, one)
        if what:
            whose = "the openings: " if kinds.get(one.subject) == plans.OPENINGS else ""
            line = {"at": one.at, "act": step, "what": whose + what, "event": one.event, "token": one.token}
            told.append({**line, **_proof(one)})
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
            read = f"{coverage(morning)}, {counted(morning.coverage['new'], 'new item')}"
            lacks = [f"{words}: {', '.join(sources)}" for words, sources in lacking(morning).items() if sources]
            return "; ".join([read, *lacks])
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
            return openings(morning)
        case "continuation.step_completed" if facts["step"] == "wiki":
            return wiki(morning)
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
