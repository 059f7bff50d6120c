"""The evidence set of a date: which of the new items are told, in which order, and why the others are not.

Pure: the same evidence, looks, profile and instant give the same document, whatever order they come in.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any

from matins.brief.cluster import clusters, fresh_at
from matins.brief.retold import Retold, retold
from matins.rules import calendar, keys
from matins.rules.evidence import Evidence, SourceLook, Told
from matins.rules.profile import Profile

BASELINE_AGE = timedelta(hours=48)
BASELINE_ITEMS = 3
"""Of a source read for the first time, so many items not older than this may be news."""
AHEAD = timedelta(hours=14)
"""A date so far ahead can be a mistaken zone; farther ahead it says nothing."""
STALE_AGE = timedelta(days=7)
"""A new item that its own date makes older than this comes after all others."""
OPENING = 2000
"""Characters of a text in which an interest's words count: farther down they are asides and furniture."""

OVER = "over the limit"
OLD = "old: was there when its source was first read"
ENOUGH_OF_TOPIC = "enough on its topic"
ENOUGH_OF_SOURCE = "enough from its source"

_Topics = Sequence[tuple[str, Sequence["_Word"]]]


@dataclass(frozen=True, slots=True)
class _Word:
    """A word of an interest, and what is in every text, in lower case, that can mention it."""

    pattern: re.Pattern[str]
    begins: str


@dataclass(frozen=True, slots=True)
class _Story:
    items: list[Evidence]
    topic: str
    score: int
    sources: frozenset[str]
    at: datetime
    stale: bool
    again: Retold | None
    """When it was told before, if it was."""

    @property
    def order(self) -> tuple[bool, int, int, float, str]:
        return (self.stale, -self.score, -len(self.sources), -self.at.timestamp(), self.items[0].event_key)


def select(
    evidence: Sequence[Evidence],
    looks: Sequence[SourceLook],
    profile: Profile,
    *,
    key: str,
    at: datetime,
    told: Sequence[Told] = (),
) -> dict[str, Any]:
    """The evidence set of `key`, as plain JSON: every item with its story, its rank and the reason in words.

    `told` is what this owner's last editions told. The items of a story among it have `told_on`, an ISO date, and
    `new_fact`, the sentence that says something new; where that is "", the story keeps its rank and is not chosen
    (DESIGN 6.2). Items marked as seen carry no text: nobody is told of them, and their evidence hash names what was
    frozen.
    """
    news, seen = _baseline(evidence, at)
    topics = [(topic, [_word(word) for word in follows]) for topic, follows in profile.interests.items()]
    found = clusters(news)
    stories = [_story(items, topics, at, again) for items, again in zip(found, retold(found, told), strict=True)]
    stories.sort(key=lambda story: story.order)
    reasons = _reasons(stories, profile.long + profile.short, keys.parse(key).local_date)
    items = [
        _item(item, story.topic, rank, *reasons[rank - 1]) | _again(story)
        for rank, story in enumerate(stories, 1)
        for item in story.items
    ]
    items += [_item(item, "", 0, False, OLD) | {"text": ""} for item in seen]
    return {
        "key": key,
        "zone": profile.zone,
        "at": _iso(at),
        "window": _window(key, profile),
        "looks": [_look(look) for look in sorted(looks, key=lambda look: (look.name, look.source_key))],
        "items": items,
    }


def _baseline(evidence: Sequence[Evidence], at: datetime) -> tuple[list[Evidence], list[Evidence]]:
    """What may be news, and what was there when its source was first read."""
    news = [item for item in evidence if not item.baseline]
    old = [item for item in evidence if item.baseline]
    old.sort(key=lambda item: (-(item.published_at or item.first_seen_at).timestamp(), item.event_key))
    taken: Counter[str] = Counter()
    seen = []
    for item in old:
        recent = item.published_at is not None and -AHEAD <= at - item.published_at <= BASELINE_AGE
        if recent and taken[item.source_key] < BASELINE_ITEMS:
            taken[item.source_key] += 1
            news.append(item)
        else:
            seen.append(item)
    return news, seen


def _story(items: list[Evidence], topics: _Topics, at: datetime, again: Retold | None) -> _Story:
    score, topic = _interest(items, topics)
    newest = max(fresh_at(item) for item in items)
    return _Story(
        items=items,
        topic=topic,
        score=score,
        sources=frozenset(item.source_key for item in items),
        at=newest,
        stale=at - newest > STALE_AGE,
        again=again,
    )


def _interest(items: Sequence[Evidence], topics: _Topics) -> tuple[int, str]:
    """How strongly a story follows which topic: a word in a title outweighs any in a text, then the topics' order."""
    title = "\n".join(item.title for item in items)
    text = "\n".join(item.text[:OPENING] for item in items)
    low_title, low_text = title.casefold(), text.casefold()
    score, follows = 0, ""
    for place, (topic, wanted) in enumerate(topics):
        strength = 2 if _mentions(title, low_title, wanted) else 1 if _mentions(text, low_text, wanted) else 0
        found = strength * len(topics) + len(topics) - place if strength else 0
        if found > score:
            score, follows = found, topic
    return score, follows


def _mentions(text: str, folded: str, follows: Sequence[_Word]) -> bool:
    return any(word.begins in folded and word.pattern.search(text) for word in follows)


def _word(word: str) -> _Word:
    """`word` as a whole word, or its plain plural. Short words in capitals (IT, US) are found in capitals only."""
    parts = r"[\s-]+".join(map(re.escape, word.split()))
    short = word.isupper() and len(word) <= 4
    pattern = re.compile(rf"(?<!\w){parts}(?:s|es|['’]s)?(?!\w)", 0 if short else re.IGNORECASE)
    first = word.split()[0] if word.split() else ""
    return _Word(pattern, first.casefold() if first.isascii() else "")


def _reasons(stories: Sequence[_Story], limit: int, today: date) -> list[tuple[bool, str]]:
    """For each story, in rank order, whether it is told and why; what is told already takes nobody's place."""
    known = [story.again if story.again and not story.again.new_fact else None for story in stories]
    choices = iter(_choose([story for story, old in zip(stories, known, strict=True) if not old], limit, today))
    return [(False, old.reason(today)) if old else next(choices) for old in known]


def _choose(stories: Sequence[_Story], limit: int, today: date) -> list[tuple[bool, str]]:
    """For each story, in rank order, whether it is told and why: first within fair shares, then while there is room."""
    topic_share = _share(limit, len({story.topic for story in stories}))
    source_share = _share(limit, len({name for story in stories for name in story.sources}))
    topics: Counter[str] = Counter()
    sources: Counter[str] = Counter()
    chosen: set[int] = set()
    held: dict[int, str] = {}
    for number, story in enumerate(stories):
        source = story.items[0].source_key
        if len(chosen) == limit:
            break
        if sources[source] >= source_share:
            held[number] = ENOUGH_OF_SOURCE
        elif topics[story.topic] >= topic_share:
            held[number] = ENOUGH_OF_TOPIC
        else:
            chosen.add(number)
            topics[story.topic] += 1
            sources[source] += 1
    passed_over = {number for number in held if number < max(chosen, default=0)}
    for reason in (ENOUGH_OF_TOPIC, ENOUGH_OF_SOURCE):
        waiting = [number for number, why in held.items() if why == reason]
        chosen.update(waiting[: limit - len(chosen)])
    return [
        (True, _why(story, today)) if number in chosen else (False, held[number] if number in passed_over else OVER)
        for number, story in enumerate(stories)
    ]


def _share(limit: int, groups: int) -> int:
    return max(2, -(-limit // max(1, groups)))


def _why(story: _Story, today: date) -> str:
    if story.again:
        return story.again.reason(today)
    told = f"in {len(story.sources)} sources" if len(story.sources) > 1 else "new"
    return f"follows {story.topic}, {told}" if story.topic else told


def _again(story: _Story) -> dict[str, Any]:
    return {"told_on": story.again.on.isoformat(), "new_fact": story.again.new_fact} if story.again else {}


def _item(item: Evidence, topic: str, rank: int, chosen: bool, reason: str) -> dict[str, Any]:
    return {
        "event_key": item.event_key,
        "evidence_hash": item.evidence_hash,
        "source_key": item.source_key,
        "source_name": item.source_name,
        "url": item.url,
        "title": item.title,
        "text": item.text,
        "published_at": _iso(item.published_at) if item.published_at else None,
        "first_seen_at": _iso(item.first_seen_at),
        "cluster": rank,
        "topic": topic,
        "rank": rank,
        "chosen": chosen,
        "reason": reason,
    }


def _look(look: SourceLook) -> dict[str, Any]:
    return {
        "source_key": look.source_key,
        "name": look.name,
        "reached": look.reached,
        "items_read": look.items_read,
        "reason": look.reason,
        "since": _iso(look.since) if look.since else None,
        **({"partial": True} if look.partial else {}),
    }


def _window(key: str, profile: Profile) -> dict[str, str]:
    day = keys.parse(key).local_date
    return {
        "date": day.isoformat(),
        "opens_at": _iso(calendar.first_instant(day, profile.opens, profile.zone)),
        "ready_by_at": _iso(calendar.first_instant(day, profile.ready_by, profile.zone)),
        "useful_until_at": _iso(calendar.first_instant(day, profile.useful_until, profile.zone)),
    }


def _iso(at: datetime) -> str:
    return at.astimezone(UTC).isoformat()
