"""News to select from and to write about: made of words, always the same, no two pieces alike."""

from __future__ import annotations

import random
from datetime import UTC, date, datetime, timedelta

from matins.rules import keys
from matins.rules.evidence import Evidence, Item, SourceLook
from matins.rules.profile import Profile, parse

DAY = date(2026, 11, 30)
KEY = keys.obligation("bench", "morning", DAY)
AT = datetime(2026, 11, 30, 5, 1, tzinfo=UTC)
SOURCES = 20
_SYLLABLES = (
    "ba",
    "ke",
    "lo",
    "mi",
    "nu",
    "ra",
    "se",
    "ti",
    "vo",
    "wa",
    "fe",
    "go",
    "hu",
    "ja",
    "pi",
    "en",
    "al",
    "or",
)


def evidence(count: int) -> list[Evidence]:
    """So many new items from SOURCES sources, each of some 150 words of its own; a tenth tell another one's story."""
    dice = random.Random(count)
    vocabulary = ["".join(dice.choices(_SYLLABLES, k=3)) for _ in range(3000)]
    found: list[Evidence] = []
    for number in range(count):
        title = " ".join(dice.choices(vocabulary, k=8)).capitalize()
        if number % 10 == 9:
            title = found[dice.randrange(len(found))].title
        found.append(_piece(number, title, [_sentence(dice, vocabulary) for _ in range(10)]))
    return found


def _sentence(dice: random.Random, vocabulary: list[str]) -> str:
    words = [*dice.choices(vocabulary, k=14), str(dice.randrange(2, 900))]
    return " ".join(words).capitalize() + "."


def _piece(number: int, title: str, sentences: list[str]) -> Evidence:
    source = f"source-{number % SOURCES}"
    url = f"https://{source}.example/{number}"
    text = "\n\n".join([" ".join(sentences[:3]), " ".join(sentences[3:7]), " ".join(sentences[7:])])
    published = AT - timedelta(minutes=number % 600)
    item = Item(url, url, title, text, published)
    return Evidence(
        event_key=keys.event(source, url),
        evidence_hash=item.evidence_hash,
        source_key=source,
        source_name=source.capitalize(),
        url=url,
        title=title,
        text=text,
        published_at=published,
        first_seen_at=AT - timedelta(minutes=1),
        baseline=False,
    )


def looks() -> list[SourceLook]:
    """All of them were reached."""
    return [SourceLook(f"source-{number}", f"Source-{number}", True, 50, "", None) for number in range(SOURCES)]


def profile(*, stories: int) -> Profile:
    """Somebody who wants to read so many stories, half of them long, and follows five topics."""
    topics = {f"topic-{number}": [one, f"{one} {one}"] for number, one in enumerate(_SYLLABLES[:5])}
    raw = {"owner": "bench", "zone": "UTC", "long": stories // 2, "short": stories - stories // 2, "interests": topics}
    return parse(raw, where="the bench")
