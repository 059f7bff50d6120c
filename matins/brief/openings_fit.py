"""Whether a role is one that its owner asked for, and why, in words that its title and places can be checked for."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from matins.rules.openings import Openings

NO_WORD = "the title says none of your words"
NO_PLACE = "in none of your places"
PLACE_UNKNOWN = "no place named"
_TITLE, _PLACE = 10, 5
"""What a word in the title and one in the places count. A word in the title outweighs any place."""


@dataclass(frozen=True, slots=True)
class Fit:
    """How a role fits."""

    asked_for: bool
    why: str
    """ "title says engineer; London"; of a role that was not asked for, the reason."""
    score: int = 0
    """For the order only; nobody is shown it."""


@dataclass(frozen=True, slots=True)
class Words:
    """The words of an owner's openings, ready to be looked for."""

    titles: tuple[tuple[str, re.Pattern[str]], ...]
    places: tuple[tuple[str, re.Pattern[str]], ...]
    avoid: tuple[tuple[str, re.Pattern[str]], ...]

    @classmethod
    def of(cls, wants: Openings) -> Words:
        """The words of `wants`."""
        return cls(*(_patterns(words) for words in (wants.titles, wants.places, wants.avoid)))

    def fit(self, title: str, places: Sequence[str]) -> Fit:
        """How a role of this title at these places fits. A place that nobody named rules nothing out."""
        said = _found(self.titles, title)
        if not said:
            return Fit(False, NO_WORD)
        avoided = _found(self.avoid, title)
        if avoided:
            return Fit(False, f"the title says {avoided[0]}")
        why, score = f"title says {', '.join(said)}", _TITLE * len(said)
        if not self.places:
            return Fit(True, why, score)
        there = _found(self.places, "\n".join(places))
        if places and not there:
            return Fit(False, NO_PLACE)
        return Fit(True, f"{why}; {', '.join(there) or PLACE_UNKNOWN}", score + _PLACE * len(there))


def _patterns(words: Sequence[str]) -> tuple[tuple[str, re.Pattern[str]], ...]:
    return tuple((word, _pattern(word)) for word in words)


def _pattern(word: str) -> re.Pattern[str]:
    """`word` as a whole word, or its plain plural. Short words in capitals (IT, QA) are found in capitals only."""
    parts = r"[\s-]+".join(map(re.escape, word.split()))
    short = word.isupper() and len(word) <= 4
    return re.compile(rf"(?<!\w){parts}(?:s|es)?(?!\w)", 0 if short else re.IGNORECASE)


def _found(patterns: Sequence[tuple[str, re.Pattern[str]]], text: str) -> list[str]:
    return [word for word, pattern in patterns if pattern.search(text)]
