"""Whatever a source writes stays text on the pages of the wiki: the worst of it against a harmless word."""

from __future__ import annotations

import re
from hashlib import sha256

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from matins.brief import markdown, phrases
from matins.brief.coverage import source_name
from matins.rules.wiki import Story
from tests.brief.wiki_making import OTHER, Html, Markdown, card, story, summary

FRAGMENTS = (
    "<script>alert(1)</script>", "</style>", "</title>", "<!--", "-->", "<img src=x onerror=y>", '" onclick="x',
    "' x='", "&lt;b&gt;", "&#60;", "&copy;", "# ", "## ", "- ", "+ ", "1. ", "1) ", "٣. ", "> ", "***", "___", "---",
    "===", "```", "~~~", "`", "|a|b|\n|-|-|", "[a](javascript:b)", "[a]: /b", "![a](b)", "[x] ", "<http://a.example>",
    "\\", "\n", " ", "https://a.example/b", "WWW.a.example", "a@b.example", "\n\n", "\r\n\r\n", "    code", "\t",
    "\x00", "\ud800", "\u202e", "\ufeff", "\u2028", "\u00a0", "é", "港", "word", "*d*", "_e_", "~~f~~", "$g$", "&",
    "]", "](", ")", "<", ">", " · ",
)  # fmt: skip
HOSTILE = st.lists(st.sampled_from(FRAGMENTS) | st.text(max_size=6), max_size=6).map("".join)


def _token(text: str, mark: str = "t") -> str:
    return f"{mark}{sha256(phrases.fold(text).encode()).hexdigest()[:12]}" if phrases.fold(text) else ""


def _tame(text: str) -> str:
    return "\n\n".join(map(_token, phrases.paragraphs(text)))


def _hostile(told: list[str], *, tame: bool) -> Story:
    """A story in which every text is a source's; tamed, each is a harmless word in its place."""
    word, body = (_token, _tame) if tame else (str, str)
    named = _token(told[3], "n") if tame else told[3]
    title, text, older, name, other, subject = told
    return story(
        topic=word(subject),
        current=summary(word(title), body(text)),
        history=(summary(word(older), body(title)), summary(word(older), body(older))),
        cards=(card(title=word(text), source_name=named), card(title=word(name), source_name=named, url="")),
        related=((OTHER, word(other)),),
    )


def _untamed(texts: list[str], told: list[str]) -> list[str]:
    """`texts` of a tamed page with the sources' words put back for the harmless ones."""
    back = {_token(part): part for text in told for part in (phrases.fold(text), *phrases.paragraphs(text)) if part}
    back[_token(told[3], "n")] = source_name(told[3])
    return [re.sub("[tn][0-9a-f]{12}", lambda found: back[found[0]], text) for text in texts]


@settings(max_examples=40, deadline=None)
@given(st.lists(HOSTILE, min_size=6, max_size=6))
@example(["# a | b", "1. x\n\n- y\n\n===\n\n    z", "<b onx=y>", "`a`", "[a](b)", "</h2><script>"])
@example(["<!-- a", "<!-- b", "<!-- c", "<?d", "<!-- e", "<!-- f"])
@example(["&amp;lt;", "\\", "\\", "\\", "\\", "\\"])
def test_no_text_from_a_source_makes_structure_and_all_of_it_is_shown(told: list[str]) -> None:
    for read in (Html, Markdown):
        hostile, tame = read(_hostile(told, tame=False)), read(_hostile(told, tame=True))
        assert hostile.shape == tame.shape
        assert hostile.hrefs == tame.hrefs
        assert hostile.texts == _untamed(tame.texts, told)


@pytest.mark.parametrize("text", ["https://a.example/b", "See HTTP://a.example", "ftp://a", "www.a.example", "(WWW.a)"])
def test_an_address_within_a_text_is_not_made_a_link_by_a_renderer_that_looks_for_them(text: str) -> None:
    """GitHub's extended autolinks begin with a scheme or `www.` as it stands in the source."""
    written = markdown.shown(text)
    assert "://" not in written.replace("&#58;//", "")
    assert "www." not in written.casefold()
    assert MarkdownIt().renderInline(written) == text
