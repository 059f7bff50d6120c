"""One story in several sources: which items tell the same thing. Deterministic, and rather too careful than too eager:
two stories taken for one hide news, one story told twice costs a line.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import chain, islice
from urllib.parse import urlsplit

from matins.brief.phrases import word_set
from matins.rules.evidence import Evidence

SAME = 60
"""Percent of weighted title words in common from which two sources tell one story."""
LIKELY = 34
"""From here on the opening words of the two texts decide."""
TEXT = 30
"""Percent of the shorter opening's words that the other opening has as well."""
COMMON = 100
"""A word in more titles than about this many brings no two of them together by itself."""
APART = timedelta(hours=96)
_OPENING_WORDS = 90

_PLAIN = word_set(
    "a about after again all also an and any are as at back be been before being between but by can could did do does "
    "down during each for from get gets had has have he her here him his how i if in into is it its just may more most "
    "my new no not now of off on once one only or other our out over own says said say she should so some still such "
    "than that the their them then there these they this those through to today too under until up us very via was we "
    "week were what when where which while who why will with would you your year years day days first"
)
_WORD = re.compile(r"\d+(?:[.,:]\d+)*|[^\W\d_]+(?:['’][^\W\d_]+)?")
_SUFFIXES = ("ings", "ing", "ers", "er", "ed", "es", "s", "e")


@dataclass(frozen=True, slots=True)
class _Card:
    item: Evidence
    title: frozenset[str]
    numbers: frozenset[str]
    opening: frozenset[str]


def fresh_at(item: Evidence) -> datetime:
    """When the item is from: what its source says, but never later than we first saw it."""
    return min(item.published_at or item.first_seen_at, item.first_seen_at)


def clusters(items: Iterable[Evidence]) -> list[list[Evidence]]:
    """The items as stories, each oldest item first; the order of `items` makes no difference."""
    cards = [_card(item) for item in sorted(items, key=lambda item: (fresh_at(item), item.event_key))]
    weights = _weights(cards)
    telling = _telling_words(weights, len(cards))
    links = _telling_links(cards)
    stories: list[list[_Card]] = []
    by_word: dict[str, list[int]] = defaultdict(list)
    by_link: dict[str, int] = {}
    for card in cards:
        link = _link(card.item.url) if _link(card.item.url) in links else ""
        found = by_link.get(link) if link else None
        if found is None:
            found = _best(card, stories, by_word, weights)
        if found is None:
            found = len(stories)
            stories.append([])
            for word in card.title & telling:
                by_word[word].append(found)
        stories[found].append(card)
        if link:
            by_link.setdefault(link, found)
    return [[card.item for card in story] for story in stories]


def about(stories: Sequence[Sequence[Evidence]], earlier: Sequence[Evidence]) -> list[set[int]]:
    """For each story, the places in `earlier` of what tells the same: another version of the same event, or, piece by
    piece, what would have been one story with it on one day.
    """
    before = [_card(item) for item in earlier]
    cards = [[_card(item, opening=0) for item in story] for story in stories]
    every = [*before, *chain.from_iterable(cards)]
    weights = _weights(every)
    telling, links = _telling_words(weights, len(every)), _telling_links(every)
    places: dict[str, set[int]] = defaultdict(set)
    for place, card in enumerate(before):
        for name in _names(card, telling):
            places[name].add(place)

    def same(card: _Card) -> Iterator[int]:
        found = set().union(*(places[name] for name in _names(card, telling) & places.keys()))
        whole = _card(card.item) if found else card
        return (place for place in found if _same(before[place], whole, links, weights))

    return [set(chain.from_iterable(map(same, story))) for story in cards]


def _names(card: _Card, telling: frozenset[str]) -> set[str]:
    """Where to look for what may tell the same as the card: its event, its link, the rarer words of its title."""
    return {f"event {card.item.event_key}", f"link {_link(card.item.url)}", *(card.title & telling)}


def _same(told: _Card, card: _Card, links: frozenset[str], weights: dict[str, int]) -> bool:
    if told.item.event_key == card.item.event_key:
        return True
    link = _link(card.item.url)
    if link and link == _link(told.item.url):
        if link in links:
            return True
        if _alike(told, card, weights) >= LIKELY or _same_opening(told, card):
            return True  # one source's article under a new identity
    return _likeness([told], card, weights) > 0


def _card(item: Evidence, *, opening: int = _OPENING_WORDS) -> _Card:
    found = _WORD.findall(item.title.casefold())
    begins = [match.group() for match in islice(_WORD.finditer(item.text.casefold()), opening)]
    return _Card(
        item=item,
        title=frozenset(_stems(found)),
        numbers=frozenset(word for word in found if word[0].isdigit()),
        opening=frozenset(_stems(begins)),
    )


def _stems(found: Sequence[str]) -> Iterable[str]:
    for word in found:
        plain = word.partition("'")[0].partition("’")[0]
        if plain in _PLAIN or (len(plain) < 2 and not plain.isdigit()):
            continue
        for suffix in _SUFFIXES if plain.endswith(_SUFFIXES) else ():
            if plain.endswith(suffix) and len(plain) - len(suffix) >= 4:
                plain = plain[: -len(suffix)]
                break
        yield plain


def _weights(cards: Sequence[_Card]) -> dict[str, int]:
    """Rare words weigh more: one for a word in every title, one more each time it is half as common."""
    seen = Counter(word for card in cards for word in card.title)
    return {word: (len(cards) // count).bit_length() for word, count in seen.items()}


def _telling_words(weights: dict[str, int], titles: int) -> frozenset[str]:
    return frozenset(word for word, weight in weights.items() if titles >> (weight - 1) <= COMMON)


def _link(url: str) -> str:
    parts = urlsplit(url)
    path = parts.path.rstrip("/")
    if not path and not parts.query:
        return ""  # a site's front page is no story
    return f"{parts.netloc.removeprefix('www.')}{path}?{parts.query}"


def _telling_links(cards: Sequence[_Card]) -> frozenset[str]:
    """Links that stand for one story: those that no source gives to two of its items."""
    events = {(card.item.source_key, _link(card.item.url), card.item.event_key) for card in cards}
    given = Counter((source, link) for source, link, _ in events)
    shared = {link for (_, link), count in given.items() if count > 1}
    return frozenset(link for _, link in given if link and link not in shared)


def _best(
    card: _Card, stories: list[list[_Card]], by_word: dict[str, list[int]], weights: dict[str, int]
) -> int | None:
    shared = {number for word in card.title for number in by_word.get(word, ())}
    scored = [(score, -number) for number in shared if (score := _likeness(stories[number], card, weights)) > 0]
    return -max(scored)[1] if scored else None


def _likeness(story: Sequence[_Card], card: _Card, weights: dict[str, int]) -> int:
    """How alike the story and the card are in percent, or 0 if they are not one story.

    Any item of the story may be the one that the card is like, but its first has to be likely at least: a chain of
    small steps leads anywhere.
    """
    leader = story[0]
    if leader.numbers and card.numbers and not leader.numbers & card.numbers:
        return 0  # "release 18.2" and "release 18.3"
    if abs(fresh_at(leader.item) - fresh_at(card.item)) > APART or _alike(leader, card, weights) < LIKELY:
        return 0
    if len(leader.title & card.title) < 2:
        return 0
    if any(other.item.source_key == card.item.source_key for other in story):
        return 100 * all(other.title == card.title and _same_opening(other, card) for other in story)
    percent = max(_alike(other, card, weights) for other in story)
    if percent >= SAME and len(leader.title & card.title) > 2:
        return percent
    return percent if any(_same_opening(other, card) for other in story) else 0


def _alike(one: _Card, other: _Card, weights: dict[str, int]) -> int:
    """The weight of the title words that two cards share, in percent of all."""
    whole = sum(weights[word] for word in (*one.title, *other.title))
    return 200 * sum(weights[word] for word in one.title & other.title) // max(1, whole)


def _same_opening(one: _Card, other: _Card) -> bool:
    shorter = min(len(one.opening), len(other.opening))
    return shorter >= 8 and 100 * len(one.opening & other.opening) >= TEXT * shorter
