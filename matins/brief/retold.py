"""Nothing is told twice: which stories an owner has been told already, and the one sentence that is new in them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date

from matins.brief import quoting, sentences
from matins.brief.cluster import about, clusters, fresh_at
from matins.brief.facts import Fact, Known, facts, titled
from matins.brief.phrases import cut, fold, paragraphs, weekday_or_date, words
from matins.rules.evidence import Evidence, Told

REASON_CHARACTERS = 80


@dataclass(frozen=True, slots=True)
class Retold:
    """A story that earlier editions told."""

    on: date
    """Of the latest edition that told it."""
    new_fact: str
    """The first whole sentence, or the title, that says what none of them said; "" if there is none."""

    def reason(self, today: date) -> str:
        """ "told Monday", "told on 24 November", "told Monday, new: The fare is 4.20."."""
        day = weekday_or_date(self.on, today=today)
        told = f"told on {day}" if day[0].isdigit() else f"told {day}"
        return cut(f"{told}, new: {self.new_fact}", REASON_CHARACTERS) if self.new_fact else told


def retold(stories: Sequence[Sequence[Evidence]], told: Sequence[Told]) -> list[Retold | None]:
    """For each story, when it was told and what is new in it; None for one that was never told.

    What is new is held against all told pieces of that story, whatever their order.
    """
    if not told:
        return [None] * len(stories)
    pieces = sorted(told, key=lambda piece: (piece.local_date, piece.event_key, piece.evidence_hash))
    earlier = [_evidence(piece) for piece in pieces]
    matches = about(stories, earlier)
    groups = _groups(earlier) if any(matches) else []
    found: list[Retold | None] = []
    for story, places in zip(stories, matches, strict=True):
        whole = [pieces[place] for place in sorted(set().union(*(groups[place] for place in places)))]
        latest = max((piece.local_date for piece in whole), default=None)
        found.append(Retold(latest, _new_fact(story, whole)) if latest else None)
    return found


def _evidence(told: Told) -> Evidence:
    return Evidence(
        event_key=told.event_key,
        evidence_hash=told.evidence_hash,
        source_key=told.source_key,
        source_name="",
        url=told.url,
        title=told.title,
        text=told.text,
        published_at=told.published_at,
        first_seen_at=told.first_seen_at,
        baseline=False,
    )


def _groups(earlier: Sequence[Evidence]) -> list[set[int]]:
    """For each told piece, the places of all pieces of its story: what was one story, and versions of its events."""
    place_of = {id(item): place for place, item in enumerate(earlier)}
    groups = {place: {place} for place in range(len(earlier))}
    versions: dict[str, set[int]] = {}
    for place, item in enumerate(earlier):
        versions.setdefault(item.event_key, set()).add(place)
    for joined in [*({place_of[id(item)] for item in story} for story in clusters(earlier)), *versions.values()]:
        whole = set().union(*(groups[place] for place in joined))
        groups.update(dict.fromkeys(whole, whole))
    return [groups[place] for place in range(len(earlier))]


def _new_fact(story: Sequence[Evidence], told: Sequence[Told]) -> str:
    whole = "\n".join(["", *(line for piece in told for line in (fold(piece.title), *paragraphs(piece.text))), ""])
    unsaid = [_unsaid(item, whole) for item in story]
    if not any(title or said for title, said in unsaid):
        return ""
    known = Known.of((f"{piece.title}\n{piece.text}", _day(piece)) for piece in told)
    ours = frozenset(word for item in story for word in fold(item.source_name).casefold().split())
    return next(filter(None, (_first_new(title, said, known, ours) for title, said in unsaid)), "")


def _unsaid(item: Evidence, whole: str) -> tuple[str, list[str]]:
    """The item's title and sentences, without those that were told word for word."""
    title = fold(item.title)
    said = [
        sentence
        for paragraph in paragraphs(item.text)
        if not _stands(paragraph, whole)
        for sentence in sentences.split(paragraph)
        if not _stands(sentence, whole)
    ]
    return "" if _stands(title, whole) else title, said


def _stands(said: str, whole: str) -> bool:
    """Whether something stands in the told text, and not as a part of a longer word or number."""
    return any(f"{before}{said}{after}" in whole for before in "\n " for after in "\n ")


def _first_new(title: str, unsaid: Sequence[str], known: Known, ours: frozenset[str]) -> str:
    """The first sentence with a fact of the title that is new, else with any new one, else the title, if it has one."""
    heading = set(_new(title, known, ours, names=not titled(title)))
    first = ""
    for said in unsaid:
        if known.says_all(said) or not (carried := set(_new(said, known, ours))) or not _quotable(said, title):
            continue
        if not heading or carried & heading:
            return said if carried & heading else first or said
        first = first or said
    if first:
        return first
    return title if heading and len(title) <= quoting.HEADLINE_CHARACTERS else ""


def _new(said: str, known: Known, ours: frozenset[str], *, names: bool = True) -> Iterator[Fact]:
    """The facts in `said` that are new; the names of the story's own sources are none."""
    for fact in facts(said, names=names):
        own = fact.kind == "name" and ours.issuperset(fact.said.casefold().split())
        if not own and not known.says(fact):
            yield fact


def _quotable(sentence: str, title: str) -> bool:
    """Whether a sentence can be quoted as what is new; one that is the title over again is not."""
    short = words(sentence) <= quoting.SENTENCE_WORDS and len(sentence) <= quoting.BODY_CHARACTERS
    return short and sentences.worth_telling(sentence) and sentences.letters(sentence) != sentences.letters(title)


def _day(piece: Told) -> date:
    """The day that "today" means in the piece."""
    return fresh_at(_evidence(piece)).date()
