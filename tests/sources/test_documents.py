"""Whole documents of the kinds that are found: written for these tests, with what is right worked out by reading."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from matins.rules.evidence import Item
from matins.sources.feed import read_feed

DOCUMENTS = Path(__file__).parent / "documents"
URL = "https://feeds.example/news/all.xml"


def _at(*when: int) -> datetime:
    return datetime(*when, tzinfo=UTC)  # type: ignore[misc, arg-type]


RIGHT = {
    "rdf.xml": ("Harbour Library", 2, Item("https://library.example/1", "https://library.example/books/2026.html#tides",
        "A history of tides", "On the second shelf.", _at(2026, 11, 30, 20, 23, 54))),
    "releases.atom.xml": ("Release notes from winch", 2, Item("tag:forge.example,2008:Repository/11/v2.0.0",
        "https://forge.example/acme/winch/releases/tag/v2.0.0", "v2.0.0",
        "winch pull (see #7) is faster.\n\nRopes < 3 m work.", _at(2026, 11, 28, 10, 57, 31))),
    "notes.xml": ("Lighthouse bot 📡", 1, Item("https://social.example/@light/109", "https://social.example/@light/109",
        "Lamp on at 16:02.", "Lamp on at 16:02. Wind: 12 m/s, rising\n\n#fog", _at(2026, 11, 25, 21, 30, 30))),
    "podcast.xml": ("Quay Talks", 2, Item("qt20260418", "https://cdn.talks.example/0.mp3", "What we talk about",
        "Two people share tips for long crossings. Listen on our page.", _at(2026, 9, 8, 1, 15))),
    "untitled.xml": ("Songs of the sea", 2, Item("https://songs.example/1.mp3", "https://songs.example/1.mp3",
        "It's been a few days.", "It's been a few days. Tonight's song is wistful.", None)),
    "relative.xml": ("The Courier: front page", 2, Item("c57f", "https://feeds.example/content/c57f",
        "Ferries & trains: what <changes> on Monday", "Six lines are affected", _at(2026, 11, 30, 18, 3, 9))),
    "nested.atom.xml": ("A diary", 1, Item("tag:diary.example,2026:/3", "https://diary.example/entry/3", "A walk",
        "Watch out for ice < 2 cm\n\nnorth\n\nsouth", _at(2026, 11, 9, 0, 23, 47))),
    "withdrawn.atom.xml": ("Prefixed", 1, Item("https://p.example/1.htm", "https://p.example/1.htm", "High water",
        "At noon.", _at(2026, 10, 1, 13))),
    "pictures.xml": ("Picture of the day", 2, Item("https://pictures.example/day/cold",
        "https://pictures.example/day/cold", "Cold as (dry) ice", "", _at(2026, 11, 24, 14, 20))),
    "old.atom.xml": ("Café du port", 1, Item("tag:cafe.example,2003:1", "https://cafe.example/ete", "L'été", "Ouvert.",
        _at(2026, 6, 21, 8))),
    "micro.json": ("Micro harbour", 2, Item("3", "https://feeds.example/2026/11/30/3.html", "Fog again.",
        "Fog again. More", _at(2026, 11, 30, 5, 30))),
}  # fmt: skip
"""For each document: its title, the number of its items, and the first of them."""

SECOND = {
    "rdf.xml": ("https://library.example/2", "https://library.example/2", "Knots & splices", "A reprint."),
    "releases.atom.xml": (
        "tag:forge.example,2008:Repository/11/v1.9.1", "https://forge.example/acme/winch/releases/tag/v1.9.1", "v1.9.1",
        "No content.",
    ),
    "podcast.xml": ("qt20260606", "https://cdn.talks.example/4.m4a", "S02 EP04 The strait", "Only a summary."),
    "relative.xml": ("a41a", "https://feeds.example/content/a41a", "Second", ""),
    "pictures.xml": ("207073", "", "Slides without a page", "The first slide."),
    "micro.json": ("https://micro.example/2", "https://paper.example/a", "A paper", "First line\n\nSecond."),
}  # fmt: skip
OLDER = {
    "relative.xml": "https://feeds.example/news/all.xml?page=2",
    "micro.json": "https://feeds.example/feed.json?page=2",
}


def test_every_document_has_its_right_answer() -> None:
    assert {path.name for path in DOCUMENTS.iterdir()} == RIGHT.keys()


@pytest.mark.parametrize("name", RIGHT)
def test_a_document_is_read_as_a_person_reads_it(name: str) -> None:
    feed = read_feed((DOCUMENTS / name).read_bytes(), content_type="", url=URL)
    title, count, first = RIGHT[name]
    assert (feed.title, len(feed.items), feed.items[0]) == (title, count, first)
    assert (feed.broken, feed.next_url) == (False, OLDER.get(name, ""))
    if name in SECOND:
        second = feed.items[1]
        assert (second.identity, second.url, second.title, second.text) == SECOND[name]
