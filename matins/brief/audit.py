"""The reader's copy, held against its evidence by code: links, numbers and quotations stand in the evidence of their
story, our own words hold nothing of the inside, lengths and the date are right.

What is found is named by rule and place only: findings end up where other people read, and feed text must not.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any

from matins.brief import compose, coverage, phrases, quoting, sentences, untold
from matins.brief.inner import inner_words
from matins.brief.phrases import counted, fold, paragraphs, words
from matins.rules import calendar, keys
from matins.rules.errors import CopyRefused

_LINK = re.compile(r"(?:https?://|\bwww\.)[^\s<>\"“”]+", re.IGNORECASE)
_QUOTATION = re.compile(r"“([^“”]+)”|\"([^\"]+)\"")
_NUMBER = re.compile(r"([£$€¥]?)(\d+(?:[.,:/]\d+)*)\s?(%|‰|°[CF]?|[^\W\d_]+)?")


@dataclass(frozen=True, slots=True)
class Problem:
    """One sentence of the rules that the copy breaks, and where."""

    rule: str
    """`story`, `link`, `number`, `quotation`, `verbatim`, `inner word`, `length`, `date`, `told before` or `count`."""
    where: str
    """`s3` for a story, else the field of the draft."""


@dataclass(frozen=True, slots=True)
class Findings:
    """What was held against the evidence, and what does not hold."""

    links: int
    numbers: int
    quotations: int
    problems: tuple[Problem, ...] = field(default=())

    @property
    def line(self) -> str:
        """ "27 links, 14 numbers, 6 quotations: all in the sources"."""
        checked = f"{counted(self.links, 'link')}, {counted(self.numbers, 'number')}, "
        checked += counted(self.quotations, "quotation")
        return f"{checked}: " + (f"{counted(len(self.problems), 'problem')}" if self.problems else "all in the sources")


def check(draft: dict[str, Any], evidence_set: dict[str, Any]) -> Findings:
    """The findings, if there is no problem. Raises CopyRefused naming the rules that are broken and where."""
    findings = audit(draft, evidence_set)
    if findings.problems:
        named = sorted({f"{problem.rule} ({problem.where})" for problem in findings.problems})
        raise CopyRefused(f"the copy breaks these rules: {', '.join(named[:10])}", key=draft["key"])
    return findings


def audit(draft: dict[str, Any], evidence_set: dict[str, Any]) -> Findings:
    """All that is said in the draft, held against the evidence set."""
    problems = [*_dates(draft, evidence_set), *_lengths(draft), *_counts(draft, evidence_set), *_own_words(draft)]
    links = numbers = quotations = 0
    for story in draft["stories"]:
        evidence = _evidence(story, evidence_set)
        if not evidence:
            problems.append(Problem("story", story["id"]))
            continue
        claim = _Claim(story, evidence)
        problems += [*claim.problems(), *_told_before(story, evidence, draft)]
        links += len(claim.links)
        numbers += len(claim.numbers)
        quotations += len(claim.quotations)
    return Findings(links, numbers, quotations, tuple(problems))


def _evidence(story: dict[str, Any], evidence_set: dict[str, Any]) -> list[dict[str, Any]]:
    """The items a story rests on, or none if one of them is not among those chosen."""
    known = {(item["event_key"], item["evidence_hash"]): item for item in evidence_set["items"] if item["chosen"]}
    named = [(one["event_key"], one["evidence_hash"]) for one in story["evidence"]]
    return [known[name] for name in named] if named and all(name in known for name in named) else []


def _told_before(story: dict[str, Any], evidence: Sequence[dict[str, Any]], draft: dict[str, Any]) -> Iterator[Problem]:
    """A story that was told before says so, with its day and the sentence that is new; no other does."""
    told_on, new_fact = story.get("told_on", ""), story.get("new_fact", "")
    if any((item.get("told_on", ""), item.get("new_fact", "")) != (told_on, new_fact) for item in evidence):
        yield Problem("told before", story["id"])
    said = ""
    if new_fact:
        today = date.fromisoformat(draft["date"])
        said = phrases.told_you(told_on, today=today, by_headline=new_fact == story["headline"])
    if story.get("again", "") != said or bool(told_on) != bool(new_fact):
        yield Problem("told before", story["id"])


@dataclass(frozen=True, slots=True)
class _Claim:
    """What one story says, beside what its evidence says."""

    story: dict[str, Any]
    evidence: Sequence[dict[str, Any]]

    @property
    def said(self) -> list[str]:
        return [self.story["headline"], *self.new_fact, *self.story["body"]]

    @property
    def new_fact(self) -> list[str]:
        return [self.story["new_fact"]] if self.story.get("new_fact") else []

    @property
    def sources(self) -> list[str]:
        return [text for item in self.evidence for text in (fold(item["title"]), fold(item["text"]))]

    @property
    def links(self) -> list[str]:
        return [source["url"] for source in self.story["sources"] if source["url"]] + list(_all(_LINK, self.said))

    @property
    def numbers(self) -> list[tuple[str, str]]:
        return list(_numbers(self.said))

    @property
    def quotations(self) -> list[str]:
        return list(_quotations(self.said))

    def problems(self) -> Iterator[Problem]:
        where = self.story["id"]
        known = {item["url"] for item in self.evidence} | set(_all(_LINK, self.sources))
        if any(link not in known for link in self.links):
            yield Problem("link", where)
        if not set(self.numbers) <= _known_numbers(self.sources):
            yield Problem("number", where)
        whole = "\n".join(self.sources)
        if any(quotation not in whole for quotation in self.quotations):
            yield Problem("quotation", where)
        if not all(map(self._stands, self.said)) or any(_nowhere(fact, self.evidence) for fact in self.new_fact):
            yield Problem("verbatim", where)
        names = {item["event_key"]: coverage.source_name(item["source_name"]) for item in self.evidence}
        if any(names.get(source["event_key"]) != source["name"] for source in self.story["sources"]):
            yield Problem("story", where)

    def _stands(self, said: str) -> bool:
        """Whether a passage is quoted: whole, or sentence by sentence, or cut short with an ellipsis."""
        return said == quoting.UNTITLED or any(said in text or _in_order(said, text) for text in self.sources)


def _nowhere(sentence: str, evidence: Iterable[dict[str, Any]]) -> bool:
    """Whether a sentence is neither a title nor, whole and as it is, a sentence of a text."""
    return not any(
        sentence == fold(item["title"]) or any(sentence in sentences.split(part) for part in paragraphs(item["text"]))
        for item in evidence
    )


def _in_order(said: str, text: str) -> bool:
    """Whether the sentences of `said` stand in `text` one after the other; a cut headline is the beginning of one."""
    if said.endswith("…") and text.startswith(said[:-1]):
        return True
    at = 0
    for sentence in sentences.split(said):
        found = text.find(sentence, at)
        if found < 0:
            return False
        at = found + len(sentence)
    return True


def _all(pattern: re.Pattern[str], texts: Iterable[str]) -> Iterator[str]:
    for text in texts:
        for match in pattern.finditer(text):
            yield match.group().rstrip(".,;:!?)]'’")


def _quotations(texts: Iterable[str]) -> Iterator[str]:
    for text in texts:
        for match in _QUOTATION.finditer(text):
            yield match.group(1) or match.group(2)


def _numbers(texts: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Every number with its unit: currency sign, per cent sign or the word behind it."""
    for text in texts:
        for match in _NUMBER.finditer(text):
            yield _value(match.group(2)), match.group(1) or (match.group(3) or "").casefold()


def _value(digits: str) -> str:
    """A number as written, without the commas between thousands."""
    return digits.replace(",", "") if re.fullmatch(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?", digits) else digits


def _known_numbers(texts: Iterable[str]) -> set[tuple[str, str]]:
    known = set(_numbers(texts))
    return known | {(value, "") for value, _ in known}


def _own_words(draft: dict[str, Any]) -> Iterator[Problem]:
    """Inner words in what is ours; names, topics and titles that sources and owners gave are not."""
    looks = [*draft["coverage"]["not_seen"], *draft["coverage"].get("in_part", [])]
    given = [draft["name"], *draft["opening_quotes"], *(look["name"] for look in looks)]
    given += [story["topic"] for story in draft["stories"]]
    for where, text in _ours(draft):
        for name in sorted(filter(None, given), key=len, reverse=True):
            text = text.replace(name, "")
        if inner_words(text):
            yield Problem("inner word", where)


def _ours(draft: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for part in ("headline", "opening", "warning", "writer", "ending"):
        yield part, draft[part]
    yield "coverage", draft["coverage"]["line"]
    yield "left out", coverage.left_out(draft)
    for story in draft["stories"]:
        yield story["id"], story["why"]


def _lengths(draft: dict[str, Any]) -> Iterator[Problem]:
    if words(draft["opening"]) > compose.OPENING_WORDS:
        yield Problem("length", "opening")
    if len(draft["stories"]) > draft["limits"]["long"] + draft["limits"]["short"]:
        yield Problem("length", "stories")
    for story in draft["stories"]:
        count = sum(map(words, story["body"]))
        most = quoting.BODY_WORDS[1] if len(story["body"]) > 1 else quoting.SENTENCE_WORDS
        most = most if story["form"] == "long" else quoting.LINE_WORDS
        new_fact = story.get("new_fact", "")
        if count > (quoting.AGAIN_WORDS if new_fact else most) or words(new_fact) > quoting.SENTENCE_WORDS:
            yield Problem("length", story["id"])
        if not story["headline"] or len(story["headline"]) > quoting.HEADLINE_CHARACTERS:
            yield Problem("length", story["id"])


def _dates(draft: dict[str, Any], evidence_set: dict[str, Any]) -> Iterator[Problem]:
    day = keys.parse(draft["key"]).local_date
    at = datetime.fromisoformat(evidence_set["at"])
    if draft["key"] != evidence_set["key"] or draft["date"] != day.isoformat():
        yield Problem("date", "key")
    if evidence_set["window"]["date"] != draft["date"] or calendar.local_date(at, draft["zone"]) != day:
        yield Problem("date", "window")
    if any(datetime.fromisoformat(item["first_seen_at"]) > at for item in evidence_set["items"] if item["chosen"]):
        yield Problem("date", "evidence")


def _counts(draft: dict[str, Any], evidence_set: dict[str, Any]) -> Iterator[Problem]:
    """The numbers in our own words are the counts of the evidence set."""
    looks = evidence_set["looks"]
    reached = sum(1 for look in looks if look["reached"])
    if (draft["coverage"]["sources"], draft["coverage"]["reached"]) != (len(looks), reached):
        yield Problem("count", "coverage")
    if draft["left_out"] != untold.reasons(evidence_set) or draft["items_read"] != len(evidence_set["items"]):
        yield Problem("count", "left out")
    listed = draft.get("left_out_items"), draft.get("left_out_more")
    if listed != (None, None) and listed != untold.listed(evidence_set):
        yield Problem("count", "left out list")
    opening = draft["opening"]
    for quoted in draft["opening_quotes"]:
        opening = opening.replace(quoted, "")
    sources = untold.fresh_sources(evidence_set) if "in_part" in draft["coverage"] else reached  # a draft from before
    facts = {str(count) for count in (untold.fresh(evidence_set), sources, *range(len(draft["stories"]) + 1))}
    if any(value not in facts for value, _ in _numbers([_without_topics(draft, opening)])):
        yield Problem("count", "opening")


def _without_topics(draft: dict[str, Any], text: str) -> str:
    for topic in {story["topic"] for story in draft["stories"] if story["topic"]}:
        text = text.replace(topic, "")
    return text
