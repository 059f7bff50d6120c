"""The draft edition, quoted from the sources: titles and first sentences as they stand there, and around them a few
plain words made from facts. No model is used and nothing is reworded.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from matins.brief import coverage, links, phrases, quoting, untold
from matins.brief.phrases import capital, counted, fold, listed, number, words
from matins.rules import keys
from matins.rules.errors import DateConflict
from matins.rules.profile import Profile

LONG_ENOUGH = 20
"""A story with fewer words to quote is told in short."""
OPENING_WORDS = 60
SOURCES_NAMED = 6
WORDS_A_MINUTE = 230

WRITER = "quoted from the sources, no model used"
ENDING = "That is all for today."


def compose(evidence_set: dict[str, Any], profile: Profile, *, date: date) -> dict[str, Any]:
    """The draft edition of `date` as plain JSON. Raises DateConflict if the evidence set is of another date."""
    key = evidence_set["key"]
    if keys.parse(key).local_date != date:
        raise DateConflict(f"the evidence is of {keys.parse(key).local_date}, the edition of {date}", key=key)
    looks = coverage.Looks.of(evidence_set, date)
    stories = _stories(evidence_set, profile, date)
    kind = coverage.kind(looks, stories=len(stories))
    opening, quoted = _opening(evidence_set, stories)
    left_out, more = untold.listed(evidence_set)
    draft: dict[str, Any] = {
        "key": key,
        "kind": kind,
        "owner": profile.owner,
        "name": fold(profile.name),
        "date": date.isoformat(),
        "zone": profile.zone,
        "limits": {"long": profile.long, "short": profile.short},
        "headline": coverage.headline(looks, kind),
        "opening": opening,
        "opening_quotes": quoted,
        "warning": coverage.warning(looks) if kind != coverage.BLIND else "",
        "coverage": looks.document(),
        "stories": stories,
        "items_read": len(evidence_set["items"]),
        "left_out": untold.reasons(evidence_set),
        "left_out_items": left_out,
        "left_out_more": more,
        "writer": WRITER,
        **({"openings": True} if profile.openings else {}),
        "ending": ENDING,
    }
    draft["words"] = sum(map(words, _told(draft)))
    draft["minutes"] = max(1, (draft["words"] + WORDS_A_MINUTE // 2) // WORDS_A_MINUTE)
    return draft


def _told(draft: dict[str, Any]) -> list[str]:
    """Everything that a reader reads from the first word to the last, sources' names apart."""
    stories = [
        text for story in draft["stories"] for text in (story["headline"], coverage.again(story), *story["body"])
    ]
    return [draft["headline"], draft["warning"], draft["opening"], *stories, draft["ending"]]


@dataclass(frozen=True, slots=True)
class _Found:
    """The items of one story, the one that is quoted first, and what it gives."""

    items: list[dict[str, Any]]
    body: list[str]
    line: str
    new_fact: str = ""
    """Of a story told before."""

    @property
    def full(self) -> bool:
        """Whether there is enough to quote for a long story."""
        return sum(map(words, [self.new_fact, *self.body])) >= LONG_ENOUGH


def _stories(evidence_set: dict[str, Any], profile: Profile, day: date) -> list[dict[str, Any]]:
    by_cluster: dict[int, list[dict[str, Any]]] = {}
    for item in evidence_set["items"]:
        if item["chosen"]:
            by_cluster.setdefault(item["cluster"], []).append(item)
    found = [_found(by_cluster[cluster]) for cluster in sorted(by_cluster)]
    long = [one for one in found if one.full][: profile.long]
    short = [one for one in found if not any(one is other for other in long)]
    return [
        _story(one, place, form, profile.zone, day)
        for place, (one, form) in enumerate([(one, "long") for one in long] + [(one, "short") for one in short], 1)
    ]


def _found(items: Sequence[dict[str, Any]]) -> _Found:
    """The story of these items: quoted from the one that gives most, the earliest of equals."""
    items = sorted(items, key=lambda item: (_at(item), item["event_key"]))
    if items[0].get("new_fact"):
        return _found_again(items, items[0]["new_fact"])
    bodies = [(quoting.body(item), item) for item in items]
    body, first = max(bodies, key=lambda pair: min(quoting.BODY_WORDS[0], sum(map(words, pair[0]))))
    return _Found(
        items=[first, *(item for _, item in bodies if item is not first)],
        body=body,
        line=quoting.line(first),
    )


def _found_again(items: Sequence[dict[str, Any]], new_fact: str) -> _Found:
    """The story of items told before: quoted from the first that says what is new, and shortly."""
    first = next(item for item in items if new_fact in fold(item["text"]) or new_fact == fold(item["title"]))
    return _Found(
        items=[first, *(item for item in items if item is not first)],
        body=quoting.body(first, most=quoting.AGAIN_WORDS, after=new_fact),
        line="",
        new_fact=new_fact,
    )


def _story(found: _Found, place: int, form: str, zone: str, day: date) -> dict[str, Any]:
    first = found.items[0]
    body = found.body if form == "long" else [found.line] if found.line else []
    sources = _sources(found.items, zone, day)
    told_on = first["told_on"] if found.new_fact else ""
    headline = quoting.headline(first)
    return {
        "id": f"s{place}",
        "n": place,
        "form": form,
        "headline": headline,
        "told_on": told_on,
        "again": phrases.told_you(told_on, today=day, by_headline=found.new_fact == headline) if told_on else "",
        "new_fact": found.new_fact,
        "body": body,
        "topic": fold(first["topic"]),
        "why": f"because you follow: {fold(first['topic'])}" if first["topic"] else "",
        "sources": sources[: SOURCES_NAMED if form == "long" else 1],
        "more_sources": max(0, len(sources) - (SOURCES_NAMED if form == "long" else 1)),
        "evidence": [{part: item[part] for part in ("event_key", "evidence_hash")} for item in found.items],
    }


def _sources(items: Sequence[dict[str, Any]], zone: str, day: date) -> list[dict[str, Any]]:
    """Each source of a story once, the quoted one first."""
    named: dict[str, dict[str, Any]] = {}
    for item in items:
        named.setdefault(item["source_key"], item)
    return [
        {
            "name": coverage.source_name(item["source_name"]),
            "url": links.web(item["url"]),
            "time": _time(item, zone, day),
            "event_key": item["event_key"],
        }
        for item in named.values()
    ]


def _time(item: dict[str, Any], zone: str, day: date) -> str:
    """When the source says it is from, if it says so and that is not ahead of us; else when it was seen."""
    seen = datetime.fromisoformat(item["first_seen_at"])
    said = datetime.fromisoformat(item["published_at"]) if item["published_at"] else None
    if said is None or said > seen:
        return f"seen {phrases.moment(seen, zone, day=day)}"
    return phrases.moment(said, zone, day=day)


def _at(item: dict[str, Any]) -> datetime:
    seen = datetime.fromisoformat(item["first_seen_at"])
    return min(datetime.fromisoformat(item["published_at"]), seen) if item["published_at"] else seen


def _opening(evidence_set: dict[str, Any], stories: Sequence[dict[str, Any]]) -> tuple[str, list[str]]:
    """What there is, in at most 60 words, and the titles quoted in it."""
    if not stories:
        return "", []
    sources = counted(untold.fresh_sources(evidence_set), "source")
    read = f"From {counted(untold.fresh(evidence_set), 'new item')} in {sources}"
    topics = f"{read}: {_topics(stories)}."
    lead = stories[0]["headline"].rstrip(".")
    first = f"First: “{lead}”." if len(stories) > 1 else f"It is “{lead}”."
    shared = sum(1 for story in stories if len(story["sources"]) + story["more_sources"] > 1)
    told = f"{capital(number(shared))} {'is' if shared == 1 else 'are'} told by more than one source."
    for parts in ([topics, first, told] if shared else [topics, first], [topics, first], [topics], [f"{read}."]):
        if words(" ".join(parts)) <= OPENING_WORDS:
            return " ".join(parts), [lead] if first in parts else []
    return "", []


def _topics(stories: Sequence[dict[str, Any]]) -> str:
    """ "two stories on shipping, one each on rail and energy, and two on other things"."""
    followed = Counter(story["topic"] for story in stories if story["topic"])
    other = len(stories) - followed.total()
    if not followed:
        return f"{number(len(stories))} {'story' if len(stories) == 1 else 'stories'}"
    several = [f"{number(count)} on {topic}" for topic, count in followed.most_common() if count > 1]
    single = [topic for topic, count in followed.items() if count == 1]
    parts = several
    if single:
        parts = [*several, f"one {'each ' if len(single) > 1 else ''}on {listed(single)}"]
    if other:
        parts = [*parts, f"{number(other)} outside your topics"]
    head, _, rest = parts[0].partition(" ")
    noun = "story" if head == "one" and not rest.startswith("each") else "stories"
    parts[0] = f"{head} {noun} {rest}" if not rest.startswith("each") else f"one story {rest}"
    return listed(parts) if len(parts) < 3 else f"{', '.join(parts[:-1])}, and {parts[-1]}"
