"""What a sentence states that can be held against what was told: numbers, days, quotations and proper names.

Compared by what they say, not by how they are written: "1,000" is "1000" and "three" is "3"; a name in other letters of
the same kind, its possessive, its initials or a mended slip of the pen is the same name. Made for English; other Latin
scripts get more facts than they should (German nouns are capitalised), scripts without capitals have no names.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date, timedelta

from matins.brief.phrases import DAYS, MONTHS, NUMBERS, fold, word_set

_SCALES = {"thousand": 3, "million": 6, "mn": 6, "billion": 9, "bn": 9, "trillion": 12, "tn": 12}
_MONEY_SCALES = _SCALES | {"k": 3, "m": 6, "b": 9}
_SPELLED = {word: str(value) for value, word in enumerate(NUMBERS) if value}
_ISO = re.compile(r"(?<![\w-])(\d{4})-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])(?![\w-])")
_CLOCK = re.compile(
    r"(?<![\w.:])(?:(\d{1,2})(?:[:.]([0-5]\d))?\s?([ap])\.?m\b\.?|([01]?\d|2[0-3]):([0-5]\d)(?![\d:]))", re.IGNORECASE
)
_NUMBER = re.compile(
    rf"""(?P<sign>[£$€¥]\s?)? (?:(?<![^\W_])|(?<=\bv)) (?P<digits>\d+(?:[.,]\d+)*|\b(?:{"|".join(_SPELLED)})\b)
    (?:[\s-]?(?P<scale>{"|".join(sorted(_MONEY_SCALES, key=len, reverse=True))})\b)?
    (?:\s?(?P<unit>%|per\s?cent\w*|pct\b|pounds?\b|dollars?\b|euros?\b|yen\b|(?-i:USD|GBP|EUR)\b))?""",
    re.VERBOSE | re.IGNORECASE,
)
_QUOTED = re.compile(r"“([^“”]+)”|\"([^\"]+)\"|(?<!\w)‘(.+?)’(?!\w)|(?<!\w)'(.+?)'(?!\w)|「([^「」]+)」")
_TOKEN = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_NEEDS_A_LOOK = re.compile(r"[\d\"“‘「]|(?<!\w)'")
_DOTTED = re.compile(r"\b(?:[A-Za-z]\.){2,}")
_BEFORE = re.compile(r"(?:[!?:;…\"“‘(\[]|(?P<stop>\.)|(?:^|\s)')\s*$")
_SAYING = r"(?:sa(?:id|ys?)|told|announced|confirmed|reported|wrote|published|added|updated)"
_WEEKDAY = rf"(?:{'|'.join(DAYS)})"
_DATED = rf"(?:\d{{1,2}}\s(?:{'|'.join(MONTHS)})|(?:{'|'.join(MONTHS)})\s\d{{1,2}})(?:,?\s\d{{4}})?"
_WHEN = rf"(?:{_WEEKDAY}(?:\s(?:morning|afternoon|evening|night))?(?:,?\s{_DATED})?|{_DATED})"
_SAID_WHEN = re.compile(
    rf"(\b{_SAYING}\s(?:[a-z]+\s){{0,2}}?|\btold\s(?:\S+\s){{1,2}}?on\s){_WHEN}"
    rf"|^(?:On\s)?{_WHEN}(,?\s(?:\S+\s){{0,3}}?{_SAYING}\b)"
)
_RELATIVE = {"yesterday": -1, "today": 0, "tonight": 0, "this morning": 0, "this afternoon": 0, "tomorrow": 1}

_LONG_NAME = re.compile(r"[A-Z][\w'-]+(?:\s(?:(?:of|for|the|and|on|de)\s)*[A-Z][\w'-]+)+")

_HONORIFICS = word_set("mr mrs ms dr prof sir dame lord lady rev st jr sr sen rep gov gen col capt lt sgt vs no")
_GENERIC = _HONORIFICS | word_set(
    "i president minister ministry government council parliament board committee commission company city state county "
    "court police house mayor chair chairman chairwoman director secretary professor doctor university agency reuters "
    "ap afp bloomberg pa god internet english ok tv am pm"
)
_PLAIN = word_set(
    "a about after all also an and any are as at be been but by can could did do does for from had has have he her his "
    "how i if in into is it its just more most my no not of on one or our out over she so some than that the their "
    "them then there these they this to too up us very was we were what when which who will with would you your"
)


@dataclass(frozen=True, slots=True)
class Fact:
    """One thing that a sentence states."""

    kind: str
    """`number`, `money`, `percent`, `clock`, `month`, `weekday`, `quotation` or `name`."""
    said: str
    """Normalised; of a name, its words in lower case."""


_CALENDAR = {name: Fact(kind, name) for kind, names in (("month", MONTHS), ("weekday", DAYS)) for name in names}
_CALENDAR |= {name[:3]: fact for name, fact in _CALENDAR.items()}
_CALENDAR |= {"Sept": _CALENDAR["Sep"], "Tues": _CALENDAR["Tue"]}
_CALENDAR |= {"Thur": _CALENDAR["Thu"], "Thurs": _CALENDAR["Thu"]}


def facts(sentence: str, *, names: bool = True) -> Iterator[Fact]:
    """The facts in one sentence or title: numbers and clock times, months and days, quotations, proper names.

    When a thing was said ("the council said on Monday") is none. `names=False` is for titles in Title Case.
    """
    text = _SAID_WHEN.sub(r"\1 \2", _plain(sentence))
    yield from _numbers(text)
    for match in _QUOTED.finditer(text):
        if len(said := _TOKEN.findall(match.group(match.lastindex or 0).casefold())) > 2:
            yield Fact("quotation", " ".join(said))
    if names:
        yield from _names(text)


def titled(title: str) -> bool:
    """Whether a title is in Title Case (or in capitals), so that a capital in it says nothing."""
    long = [word for word in _TOKEN.findall(title)[1:] if len(word) > 3 and word[0].isalpha()]
    return not any(word[0].islower() for word in long)


def _plain(text: str) -> str:
    """On one line, initials without their dots, one kind of apostrophe, ISO dates in words."""
    text = _DOTTED.sub(lambda match: match.group().replace(".", ""), fold(text))
    text = re.sub(r"(?<=\w)’(?=\w)", "'", text)
    return _ISO.sub(lambda match: f"{int(match[3])} {MONTHS[int(match[2]) - 1]} {match[1]}", text)


def _numbers(text: str, *, generously: bool = False) -> Iterator[Fact]:
    """The numbers in `text`; generously, what may be a version ("Lodestone 9.10") is taken for a number as well."""
    for match in _CLOCK.finditer(text):
        hour, minute = int(match[1] or match[4]), match[2] or match[5] or "00"
        hour = hour % 12 + 12 * (match[3] in "pP") if match[3] else hour
        yield Fact("clock", f"{hour}:{minute}")
    text = _CLOCK.sub(" ", text)
    for match in _NUMBER.finditer(text):
        digits = match["digits"].casefold()
        if digits == "one" and not match["scale"]:
            continue  # hardly ever a count
        kind = _kind(match)
        zeros = (_MONEY_SCALES if kind == "money" else _SCALES).get((match["scale"] or "").casefold(), 0)
        version = kind == "number" and not zeros and "." in digits and _names_a_version(text[: match.start()])
        if version:
            yield Fact(kind, digits)
        if generously or not version:
            yield Fact(kind, _value(digits, zeros))


def _names_a_version(before: str) -> bool:
    last = before.rstrip().rpartition(" ")[2]
    return last in ("version", "release", "v") or (last[:1].isupper() and last.casefold() not in _PLAIN)


def _kind(match: re.Match[str]) -> str:
    unit = (match["unit"] or "").casefold()
    if unit.startswith(("%", "per", "pct")):
        return "percent"
    return "money" if match["sign"] or unit else "number"


def _value(digits: str, zeros: int) -> str:
    """A number by its value, as plain digits; with more than one point it stays as it is written."""
    digits = _SPELLED.get(digits, digits)
    if re.fullmatch(r"\d+,\d{1,2}", digits):
        digits = digits.replace(",", ".")
    digits = digits.replace(",", "")
    if digits.count(".") > 1:
        return digits
    whole, _, part = digits.partition(".")
    part = part.ljust(zeros, "0")
    rest = part[zeros:].rstrip("0")
    whole = (whole + part[:zeros]).lstrip("0") or "0"
    return f"{whole}.{rest}" if rest else whole


def _names(text: str) -> Iterator[Fact]:
    """Months, days and proper names: words with a capital that no beginning of a sentence explains."""
    run: list[str] = []
    end = -1
    for word, match in _capitals(text):
        if run and match.start() != end + 1:
            yield Fact("name", " ".join(run))
            run = []
        end = match.end()
        if calendar := _CALENDAR.get(word):
            yield calendar
        else:
            run.append(word)
    if run:
        yield Fact("name", " ".join(run))


def _capitals(text: str) -> Iterator[tuple[str, re.Match[str]]]:
    for match in _TOKEN.finditer(text):
        word = match.group()
        if word.lower() == word or word.isdigit() or len(word) < 2 or _begins(text[: match.start()]):
            continue
        bare = word[:-2] if word[-2:-1] == "'" else word
        if bare.casefold() not in _GENERIC and not word.startswith("I'"):
            yield bare, match


def _begins(before: str) -> bool:
    """Whether a word behind `before` would have a capital anyway."""
    if not before.strip():
        return True
    found = _BEFORE.search(before[-40:])
    if not found:
        return False
    last = before[:-2].rsplit(" ", 1)[-1].casefold()
    return not found["stop"] or not (len(last) < 2 or last in _HONORIFICS)


@dataclass(frozen=True, slots=True)
class Known:
    """Everything that a story's told pieces said, ready to be asked."""

    facts: frozenset[Fact]
    words: frozenset[str]
    """All words, in lower case, possessives and as written."""
    names: tuple[str, ...]
    """The words with a capital, in lower case."""
    initials: frozenset[str]
    """Of names of several words, in lower case."""
    letters: str
    """Words joined by single spaces."""

    @classmethod
    def of(cls, pieces: Iterable[tuple[str, date]]) -> Known:
        """What the pieces said, each a text with the day it was told as news of."""
        texts = [(_plain(text), day) for text, day in pieces]
        tokens = [token for text, _ in texts for token in _TOKEN.findall(text)]
        capitals = sorted({_bare(token) for token in tokens if token.lower() != token})
        said = {fact for text, day in texts for fact in _all_facts(text, day)}
        words = {token.casefold() for token in tokens} | {_bare(token) for token in tokens}
        initials = frozenset(found for text, _ in texts for found in _initials(text))
        return cls(frozenset(said), frozenset(words), tuple(capitals), initials, " ".join(map(str.casefold, tokens)))

    def says_all(self, sentence: str) -> bool:
        """Whether a glance shows that nothing in the sentence is new: no digit, no quotation, no word untold."""
        if _NEEDS_A_LOOK.search(sentence):
            return False
        return all(token.casefold() in self.words for token in _TOKEN.findall(sentence))

    def says(self, fact: Fact) -> bool:
        """Whether the fact was told, in whatever form."""
        match fact.kind:
            case "quotation":
                return f" {fact.said} " in f" {self.letters} " or self._said_nearly(fact.said.split())
            case "name":
                words = fact.said.split()
                initials = "".join(word[0] for word in words)
                if len(words) > 1 and initials.casefold() in self.words:
                    return True
                return all(self._named(word) for word in words)
            case "money" | "percent":
                # A bare "3.50" may have been that price; a bare "12" may have been anything.
                return fact in self.facts or (len(fact.said) > 2 and Fact("number", fact.said) in self.facts)
            case "number":
                return any(Fact(kind, fact.said) in self.facts for kind in ("number", "money", "percent"))
        return fact in self.facts

    def _said_nearly(self, quoted: list[str]) -> bool:
        """Whether all but a word or two of a quotation were told: a slip mended, a word left out."""
        telling = [word for word in quoted if word not in _PLAIN]
        unsaid = sum(word not in self.words for word in telling)
        return unsaid < 2 and unsaid * 3 <= len(telling)

    def _named(self, word: str) -> bool:
        name = word.casefold()
        if name in self.words or name.removesuffix("s") in self.words or f"{name}s" in self.words:
            return True
        if word.isupper() and name in self.initials:
            return True
        return any(_alike(name, other) for other in self.names)


def _initials(text: str) -> Iterator[str]:
    """ "fcc" of "the Federal Communications Commission", whatever stands before it with a capital."""
    for match in _LONG_NAME.finditer(text):
        letters = "".join(word[0] for word in match.group().split() if word[0].isupper()).casefold()
        yield from (letters[at:] for at in range(len(letters) - 1))


def _bare(token: str) -> str:
    """In lower case, without the ending of a possessive."""
    return (token[:-2] if token[-2:-1] == "'" else token.removesuffix("'")).casefold()


def _all_facts(text: str, day: date) -> Iterator[Fact]:
    """What `text` states, read generously: in every form a number can be meant, and with the days that it implies."""
    yield from _numbers(text, generously=True)
    for token in _TOKEN.findall(text):
        if token.casefold() in _SPELLED:
            yield Fact("number", _SPELLED[token.casefold()])
        if token[0].isupper() and (found := _CALENDAR.get(token)):
            yield found
    yield Fact("number", str(day.year))
    lower = text.casefold()
    yield from (
        Fact("weekday", DAYS[(day + timedelta(days=days)).weekday()])
        for word, days in _RELATIVE.items()
        if word in lower
    )


def _alike(one: str, other: str) -> bool:
    """Whether two words are one name: one with an ending, or one with a slip (a letter more, less, other, turned)."""
    shorter, longer = sorted((len(one), len(other)))
    if shorter < 4 or longer - shorter > 3:
        return False
    same = next((at for at in range(shorter) if one[at] != other[at]), shorter)
    if same >= max(4, shorter - 1) and longer > 4:
        return True
    left, right = one[same:], other[same:]
    if left[:2] == right[1::-1] and left[2:] == right[2:]:
        return True
    return longer > 5 and (left[1:] == right[1:] or left[1:] == right or left == right[1:])
