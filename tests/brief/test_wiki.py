"""The pages of the wiki, read back as a browser and a Markdown renderer would."""

from __future__ import annotations

import posixpath
import time
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from markdown_it import MarkdownIt

from matins.brief import inner, wiki
from matins.rules.wiki import FORMS, Index, Listed, ListedTopic, Material, PageKind, path
from tests.brief.wiki_making import DAY, INDEX, OTHER, STORY, TOPIC, Html, Markdown, card, story, summary, topic

READERS = pytest.mark.parametrize("read", [Html, Markdown])
EVERY = pytest.mark.parametrize("material", [story(), topic(), INDEX, Index("sam", "index", ())])


def test_a_story_says_what_is_known_how_it_changed_where_it_was_told_and_by_whom() -> None:
    assert (
        wiki.pages(story())[".md"].decode()
        == f"""# The port reopens

[Sam’s wiki](<../index.md>) › [shipping](<../topics/{TOPIC}.md>)

Brought up to date Tuesday 1 December 2026, 00:30

Two berths are open.

The queue is gone.

## How it changed

### Monday 30 November 2026, 00:30

**Port closed**

A crane fell.

## Told in

- Mon 30 Nov 2026
- Sun 29 Nov 2026

## Sources

- [Crane falls](<https://g.example/1>){"  "}
  Harbour Gazette · 30 Nov 2026, 21:30 · told 30 Nov 2026

## More on shipping

- [A second tug](<{OTHER}.md>)

---

This page was generated from the sources by Matins and is never used as a source itself.{"  "}
Times in Helsinki.
"""
    )


@pytest.mark.parametrize(
    ("without", "missing"),
    [
        ({"history": ()}, "How it changed"),
        ({"told": ()}, "Told in"),
        ({"cards": ()}, "Sources"),
        ({"related": ()}, "More on shipping"),
        ({"topic": "", "topic_id": "", "related": ()}, "shipping"),
    ],
)
def test_what_there_is_not_has_no_heading(without: dict[str, object], missing: str) -> None:
    assert missing in Html(story()).said
    assert missing not in Html(story(**without)).said
    assert missing not in Markdown(story(**without)).source


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"published_at": None}, "Harbour Gazette · seen 1 Dec 2026, 00:30 · told 30 Nov 2026"),
        ({"published_at": datetime(1, 1, 1, tzinfo=UTC)}, "Harbour Gazette · seen 1 Dec 2026, 00:30"),
        ({"published_at": datetime(2019, 6, 30, 21, 5, tzinfo=UTC)}, "Harbour Gazette · 1 Jul 2019, 00:05"),
        ({"title": "\u202e "}, "Without a title"),
        ({"source_name": " "}, "a source without a name"),
    ],
)
def test_a_source_has_its_own_date_or_the_one_on_which_it_was_seen(changed: dict[str, object], said: str) -> None:
    shown = story(cards=(card(**changed),))
    assert said in Html(shown).said
    assert said in Markdown(shown).source


def test_a_topic_lists_three_hundred_stories_and_counts_the_others() -> None:
    page, text = Html(topic(1300)), Markdown(topic(1300))
    assert "1,300 stories" in page.said
    assert "and 1,000 more" in page.said
    assert "and 1,000 more" in text.source
    assert len(text.hrefs) == len(page.hrefs) - 1 == 301
    assert "more" not in Html(topic(300)).said


def test_the_index_lists_the_topic_with_most_stories_first_and_other_stories_last() -> None:
    counts = {"": 9, "rail": 2, "Bees": 2, "shipping": 5}
    listed = tuple(ListedTopic(TOPIC, name, count, DAY) for name, count in counts.items())
    index = Index("sam", "index", listed)
    ordered = ["shipping", "Bees", "rail", "Other stories"]
    assert [text for text in Html(index).texts if text in ordered] == ordered
    assert sorted(ordered, key=Markdown(index).source.index) == ordered


def test_a_topic_and_the_index_say_when_and_how_often() -> None:
    listed = "The port reopens first told 29 Nov 2026 · last told 30 Nov 2026 · 4 source notes"
    assert listed in Html(topic()).said
    assert "shipping 2 stories · last told 30 Nov 2026" in Html(INDEX).said
    once = replace(topic(), stories=(Listed(STORY, "A", DAY, DAY, 1),), topic="")
    assert "Other stories 1 story A told 30 Nov 2026 · 1 source note" in Html(once).said


@READERS
def test_every_link_within_the_wiki_is_relative_and_leads_to_a_page_of_it(read: type[Html] | type[Markdown]) -> None:
    folder = [story(), story(page_id=OTHER, related=((STORY, "The port reopens"),)), topic(), INDEX]
    there = {path(PageKind(type(page).__name__.lower()), page.page_id) + form for page in folder for form in FORMS}
    reached = set()
    for page in folder:
        here = path(PageKind(type(page).__name__.lower()), page.page_id)
        inside = [href for href in read(page).hrefs if not href.startswith("https://g.example/")]
        assert not [href for href in inside if ":" in href or href.startswith("/")]
        reached |= {posixpath.normpath(posixpath.join(posixpath.dirname(here), href)) for href in inside}
    assert reached <= there
    form = ".html" if read is Html else ".md"
    assert {name for name in there if name.endswith(form)} <= reached


@EVERY
def test_a_page_is_the_same_bytes_each_time_and_says_what_made_it(material: Material) -> None:
    made = wiki.pages(material)
    assert made == wiki.pages(material)
    assert set(made) == set(FORMS)
    assert b'<meta name="generator" content="Matins">' in made[".html"]
    for body in made.values():
        assert b"generated from the sources by Matins and is never used as a source itself" in body
        assert b"src=" not in body
    assert not inner.inner_words(Html(material).said)


@pytest.mark.parametrize(
    "url",
    [
        "", "javascript:alert(1)", "data:text/html,x", "//g.example/", "/etc/passwd", "ftp://g.example/", "https://u:p@g.example/",
        'https://g.example/"onclick=x', "https://g.example/> [a](b)", "https://g.example/\ud800", "https://g.example/\u202e",
    ],
)  # fmt: skip
@READERS
def test_an_address_that_is_not_plain_http_is_no_link(read: type[Html] | type[Markdown], url: str) -> None:
    assert len(read(story(cards=(card(url=url),))).hrefs) == len(read(story()).hrefs) - 1


@READERS
def test_an_address_arrives_as_it_was(read: type[Html] | type[Markdown]) -> None:
    url = "https://g.example/a_(b)_*c*?x=1&copy=2&copy;&#60;&lt;=[d]#'e'"
    hrefs = read(story(cards=(card(url=url),))).hrefs
    assert (url if read is Html else MarkdownIt().normalizeLink(url)) in hrefs


def test_a_long_story_is_drawn_in_less_than_twenty_milliseconds() -> None:
    """60 source notes and 30 earlier texts; the best of five, in processor time."""
    history = tuple(summary(f"Naïve {n}", f"{'A crane fell “hard”. ' * 20}\n\nIt is up." * 2) for n in range(30))
    long = story(history=history, cards=(card(),) * 60)
    took = []
    for _ in range(5):
        began = time.process_time()
        wiki.pages(long)
        took.append(time.process_time() - began)
    assert min(took) < 0.02
