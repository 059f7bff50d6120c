"""What is quoted from one item: its headline, a body of whole sentences, or a single line. Nothing is reworded."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from matins.brief import sentences
from matins.brief.phrases import cut, fold, words

BODY_WORDS = (60, 100)
"""A long story's quotation ends before the sentence that would pass the upper; one that reaches the lower is full."""
SENTENCE_WORDS = 120
"""A single sentence longer than the upper bound may stand alone up to here."""
BODY_CHARACTERS = 1200
LINE_WORDS = 30
AGAIN_WORDS = 40
"""Of a story told before, so much follows what is new in it."""
HEADLINE_CHARACTERS = 200
UNTITLED = "Without a title"


def headline(item: Mapping[str, Any]) -> str:
    """The item's title on one line, cut where it is too long; of an item without one, the beginning of its text."""
    return cut(fold(item["title"]), HEADLINE_CHARACTERS) or cut(fold(item["text"]), 80) or UNTITLED


def body(item: Mapping[str, Any], *, most: int = BODY_WORDS[1], after: str = "") -> list[str]:
    """The first honest sentences, by paragraph, in at most `most` words; [] if there is none to quote.

    `after` is a sentence quoted already: it is not quoted again, and no sentence alone may pass `most`.
    """
    alone = most if after else SENTENCE_WORDS
    taken: list[str] = []
    count = size = 0
    for paragraph in sentences.honest(item["text"], title=item["title"]):
        kept: list[str] = []
        for sentence in paragraph:
            if sentence == after:
                continue
            fits = count + words(sentence) <= (most if count else alone)
            if not fits or size + len(sentence) > BODY_CHARACTERS:
                return [*taken, " ".join(kept)] if kept else taken
            kept.append(sentence)
            count += words(sentence)
            size += len(sentence)
        taken += [" ".join(kept)] if kept else []
    return taken


def line(item: Mapping[str, Any]) -> str:
    """The first honest sentence, if it is short and no question; "" if there is none."""
    first = next(sentences.honest(item["text"], title=item["title"]), [""])[0]
    short = words(first) <= LINE_WORDS and len(first) <= BODY_CHARACTERS // 3
    return first if short and not first.endswith("?") else ""
