"""How far the look reached, in a reader's words. "Nothing new" and "could not look" are never the same sentence."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from matins.brief.inner import inner_words
from matins.brief.phrases import capital, clock, counted, cut, fold, number, place, since
from matins.brief.select import OLD
from matins.rules import calendar

QUOTED, EMPTY, BLIND = "quoted", "empty", "blind"

NAME_CHARACTERS = 48
NAMED = 5
"""So many unseen sources are named; the others are counted."""
_SHORTLY = {OLD: "old (there when their source was first read)"}
_ANSWERED = ("not a feed", "too large", "no feed")


@dataclass(frozen=True, slots=True)
class Looks:
    """The looks of one morning, counted."""

    total: int
    reached: int
    at: str
    """The clock in the owner's zone when the evidence was frozen."""
    not_seen: tuple[tuple[str, str, str], ...]
    """Name, reason and since when, of each source that could not be looked at."""
    in_part: tuple[tuple[str, str], ...] = ()
    """Name and reason of each source that was reached and broke off."""

    @classmethod
    def of(cls, evidence_set: dict[str, Any], day: date) -> Looks:
        """The looks in an evidence set."""
        looks = evidence_set["looks"]
        zone = evidence_set["zone"]
        missed = [look for look in looks if not look["reached"]]
        return cls(
            total=len(looks),
            reached=len(looks) - len(missed),
            at=clock(datetime.fromisoformat(evidence_set["at"]), zone),
            not_seen=tuple(
                (source_name(look["name"]), _reason(look["reason"]), _since(look, zone, day)) for look in missed
            ),
            in_part=tuple(
                (source_name(look["name"]), _reason(look["reason"])) for look in looks if look.get("partial")
            ),
        )

    @property
    def failed(self) -> int:
        """How many sources could not be looked at."""
        return len(self.not_seen)

    def document(self) -> dict[str, Any]:
        """Counts, names and the coverage line, as plain JSON."""
        missed = [{"name": name, "reason": reason, "since": since} for name, reason, since in self.not_seen]
        broken = [{"name": name, "reason": reason} for name, reason in self.in_part]
        counts = {"sources": self.total, "reached": self.reached}
        return {**counts, "not_seen": missed, "in_part": broken, "line": line(self)}


def kind(looks: Looks, *, stories: int) -> str:
    """`blind` if no source, or hardly one, could be looked at; else `quoted` or, with no stories, `empty`."""
    if not looks.reached or (looks.failed > 2 and looks.failed * 5 >= looks.total * 4):
        return BLIND
    return QUOTED if stories else EMPTY


def headline(looks: Looks, edition: str) -> str:
    """What an empty or a blind edition says first; "" for one with stories and a clear view."""
    match edition:
        case "empty":
            return _nothing_new(looks)
        case "blind":
            return _could_not_look(looks)
    return ""


def _nothing_new(looks: Looks) -> str:
    if looks.failed:
        reached = counted(looks.reached, "source")
        return f"Nothing new in the {reached} reached at {looks.at}; {number(looks.failed)} could not be looked at."
    if looks.total == 1:
        return f"Nothing new in your one source, reached at {looks.at}."
    return f"Nothing new in {counted(looks.total, 'source')}, all reached at {looks.at}."


def _could_not_look(looks: Looks) -> str:
    if not looks.total:
        return "I could not look: there are no sources yet."
    if looks.total == 1:
        return f"I could not look: your only source did not answer ({looks.not_seen[0][1]})."
    answered = any(reason[:1].isdigit() or reason.startswith(_ANSWERED) for _, reason, _ in looks.not_seen)
    some = f"{looks.failed:,} of {looks.total:,} sources" if looks.reached else f"all {looks.total:,} sources"
    if answered or looks.failed < 3:
        return f"I could not look: {some} could not be read."
    return f"I could not look: {some} did not answer, most likely this machine's network."


def warning(looks: Looks) -> str:
    """The line above the stories, naming what was not seen, or only in part; "" if all was seen."""
    named = [f"{name} ({since})" if since else name for name, _, since in looks.not_seen[:NAMED]]
    unseen = f"Not seen today: {', '.join(named)}{_others(looks)}." if looks.failed else ""
    return " ".join(filter(None, (unseen, _in_part(looks))))


def _in_part(looks: Looks) -> str:
    named = [f"{name} ({reason})" for name, reason in looks.in_part[:NAMED]]
    more = len(looks.in_part) - NAMED
    others = f" and {number(more)} more" if more > 0 else ""
    return f"Read only in part: {', '.join(named)}{others}." if named else ""


def line(looks: Looks) -> str:
    """ "8 of 9 sources, one only in part (Half Feed); not seen: harbour-news.example (connection refused)"."""
    if not looks.total:
        return "no sources"
    if not looks.failed:
        return ("1 source" if looks.total == 1 else f"all {looks.total:,} sources") + _only_in_part(looks)
    named = [f"{name} ({', '.join(filter(None, (reason, since)))})" for name, reason, since in looks.not_seen[:NAMED]]
    of = f"{looks.reached:,} of {counted(looks.total, 'source')}{_only_in_part(looks)}"
    return f"{of}; not seen: {', '.join(named)}{_others(looks)}"


def _only_in_part(looks: Looks) -> str:
    if not looks.in_part:
        return ""
    count = "" if looks.total == 1 else f"{number(len(looks.in_part))} "
    named = ", ".join(name for name, _ in looks.in_part[:NAMED])
    more = len(looks.in_part) - NAMED
    return f", {count}only in part ({named}{f' and {number(more)} more' if more > 0 else ''})"


def _others(looks: Looks) -> str:
    more = looks.failed - NAMED
    return f" and {number(more)} more" if more > 0 else ""


def source_name(name: str) -> str:
    """A source's name as readers see it: of a long one, what stands before its first dash, bar or colon."""
    whole = fold(name)
    if len(whole) > NAME_CHARACTERS // 2:
        head = re.split(r" [-–—|·»] |: ", whole, maxsplit=1)[0]
        whole = head if len(head) > 2 else whole
    return cut(whole, NAME_CHARACTERS) or "a source without a name"


def _unseen(look: dict[str, Any], zone: str, day: date) -> tuple[str, str, str]:
    return source_name(look["name"]), _reason(look["reason"]), _since(look, zone, day)


def _reason(reason: str) -> str:
    """The reader's own words for a reason; an inner word in it must not cost the edition."""
    plain = cut(fold(reason), 80)
    return plain if plain and not inner_words(plain) else "it could not be read"


def _since(look: dict[str, Any], zone: str, day: date) -> str:
    """Since when, if that was before today."""
    at = datetime.fromisoformat(look["since"]) if look["since"] else None
    return since(at, zone, day=day) if at and calendar.local_date(at, zone) < day else ""


def left_out(draft: dict[str, Any]) -> str:
    """What was not told and why, as one line; "" if nothing was left out."""
    parts = [f"{part['count']:,} {_SHORTLY.get(part['reason'], part['reason'])}" for part in draft["left_out"]]
    return f"Left out: {', '.join(parts)}." if parts else ""


def again(story: dict[str, Any]) -> str:
    """ "Told you on Monday. New: The fare is 4.20."; "" of a story that was never told before."""
    return " ".join(filter(None, (story.get("again"), news(story))))


def news(story: dict[str, Any]) -> str:
    """The sentence that is new in a story told before, if its headline does not say it."""
    said = str(story.get("new_fact", ""))
    return "" if said == story["headline"] else said


def title(draft: dict[str, Any]) -> str:
    """ "For Sam. Nine stories, four minutes."."""
    count = len(draft["stories"])
    stories = f"{capital(number(count))} {'story' if count == 1 else 'stories'}"
    minutes = f"{number(draft['minutes'])} {'minute' if draft['minutes'] == 1 else 'minutes'}"
    return f"For {draft['name']}. {stories}, {minutes}." if count else f"For {draft['name']}."


def foot(draft: dict[str, Any]) -> list[str]:
    """The small print, line by line: coverage, what was left out, who wrote it, whose times these are."""
    told = draft["stories"]
    lines = [f"{draft['coverage']['line']}.", left_out(draft), f"{draft['writer']}." if told else ""]
    lines += [f"times in {place(draft['zone'])}."] if told else []
    return [capital(line) for line in lines if line]
