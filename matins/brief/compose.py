"""The draft edition, quoted from the sources: titles and first sentences as they stand there, and around them a few
plain words made from facts. No model is used and nothing is reworded.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from matins.brief import coverage, links, phrases, sentences
from matins.brief.phrases import capital, counted, cut, fold, listed, number, words
from matins.rules import keys
from matins.rules.errors import DateConflict
from matins.rules.profile import Profile

BODY_WORDS = (60, 100)
"""A long story's quotation ends before the sentence that would pass the upper; one that reaches the lower is full."""
SENTENCE_WORDS = 120
"""A single sentence longer than the upper bound may stand alone up to here."""
BODY_CHARACTERS = 1200
LINE_WORDS = 30
LONG_ENOUGH = 20
"""A story with fewer words to quote is told in short."""
OPENING_WORDS = 60
HEADLINE_CHARACTERS = 200
SOURCES_NAMED = 6
WORDS_A_MINUTE = 230

WRITER = "quoted from the sources, no model used"
UNTITLED = "Without a title"
ENDING = "That is all for today."


def compose(evidence_set: dict[str, Any], profile: Profile, *, date: date) -> dict[str, Any]:
    """The draft edition of `date` as plain JSON. Raises DateConflict if the evidence set is of another date."""
    key = evidence_set["key"]
    if keys.parse(key).local_date != date:
        raise DateConflict(f"the evidence is of {keys.parse(key).local_date}, the edition of {date}", key=key)
    looks = coverage.Looks.of(evidence_set, date)
    stories = _stories(evidence_set, profile, date)
    kind = coverage.kind(looks, stories=len(stories))
    opening, quoted = _opening(evidence_set, looks, stories)
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
        "left_out": _left_out(evidence_set),
        "writer": WRITER,
        "ending": ENDING,
    }
    draft["words"] = sum(map(words, _told(draft)))
    draft["minutes"] = max(1, (draft["words"] + WORDS_A_MINUTE // 2) // WORDS_A_MINUTE)
    return draft


def _told(draft: dict[str, Any]) -> list[str]:
    """Everything that a reader reads from the first word to the last, sources' names apart."""
    stories = [text for story in draft["stories"] for text in (story["headline"], *story["body"])]
    return [draft["headline"], draft["warning"], draft["opening"], *stories, draft["ending"]]


@dataclass(frozen=True, slots=True)
class _Found:
    """The items of one story, the one that is quoted first, and what it gives."""

    items: list[dict[str, Any]]
    body: list[str]
    line: str


def _stories(evidence_set: dict[str, Any], profile: Profile, day: date) -> list[dict[str, Any]]:
    by_cluster: dict[int, list[dict[str, Any]]] = {}
    for item in evidence_set["items"]:
        if item["chosen"]:
            by_cluster.setdefault(item["cluster"], []).append(item)
    found = [_found(by_cluster[cluster]) for cluster in sorted(by_cluster)]
    long = [one for one in found if one.body][: profile.long]
    short = [one for one in found if not any(one is other for other in long)]
    return [
        _story(one, place, form, profile.zone, day)
        for place, (one, form) in enumerate([(one, "long") for one in long] + [(one, "short") for one in short], 1)
    ]


def _found(items: Sequence[dict[str, Any]]) -> _Found:
    """The story of these items: quoted from the one that gives most, the earliest of equals."""
    bodies = [(_body(item), item) for item in sorted(items, key=lambda item: (_at(item), item["event_key"]))]
    body, first = max(bodies, key=lambda pair: min(BODY_WORDS[0], sum(map(words, pair[0]))))
    return _Found(
        items=[first, *(item for _, item in bodies if item is not first)],
        body=body if sum(map(words, body)) >= LONG_ENOUGH else [],
        line=_line(first),
    )


def _body(item: dict[str, Any]) -> list[str]:
    """The first honest sentences, by paragraph, within the word budget."""
    most = BODY_WORDS[1]
    taken: list[str] = []
    count = size = 0
    for paragraph in sentences.honest(item["text"], title=item["title"]):
        kept: list[str] = []
        for sentence in paragraph:
            fits = count + words(sentence) <= (most if count else SENTENCE_WORDS)
            if not fits or size + len(sentence) > BODY_CHARACTERS:
                return [*taken, " ".join(kept)] if kept else taken
            kept.append(sentence)
            count += words(sentence)
            size += len(sentence)
        taken.append(" ".join(kept))
    return taken


def _line(item: dict[str, Any]) -> str:
    """The first honest sentence, if it is short and no question; "" if there is none."""
    first = next(iter(sentences.honest(item["text"], title=item["title"])), [""])[0]
    short = words(first) <= LINE_WORDS and len(first) <= BODY_CHARACTERS // 3
    return first if short and not first.endswith("?") else ""


def _story(found: _Found, place: int, form: str, zone: str, day: date) -> dict[str, Any]:
    first = found.items[0]
    body = found.body if form == "long" else [found.line] if found.line else []
    sources = _sources(found.items, zone, day)
    return {
        "id": f"s{place}",
        "n": place,
        "form": form,
        "headline": cut(fold(first["title"]), HEADLINE_CHARACTERS) or cut(fold(first["text"]), 80) or UNTITLED,
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


def _opening(
    evidence_set: dict[str, Any], looks: coverage.Looks, stories: Sequence[dict[str, Any]]
) -> tuple[str, list[str]]:
    """What there is, in at most 60 words, and the titles quoted in it."""
    if not stories:
        return "", []
    fresh = sum(1 for item in evidence_set["items"] if item["rank"])
    read = f"From {counted(fresh, 'new item')} in {counted(looks.reached, 'source')}"
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


def _left_out(evidence_set: dict[str, Any]) -> list[dict[str, Any]]:
    """The reasons for what is not told, with the number of items, most first."""
    reasons = Counter(item["reason"] for item in evidence_set["items"] if not item["chosen"])
    return [{"reason": reason, "count": count} for reason, count in sorted(reasons.items(), key=lambda r: (-r[1], r))]
