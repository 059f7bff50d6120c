"""The edition as text: Markdown to keep, and the text part of the mail, written for reading in 72 columns."""

from __future__ import annotations

import re
import textwrap
from datetime import date
from typing import Any

from matins.brief import coverage, links, phrases

COLUMNS = 72
KEPT = "\u00a0"
"""A space at which no line is broken; an ordinary one in the end."""
_MARKS = re.compile(r"([\\`*_{}\[\]#|~!])")
_LINE_START = re.compile(r"^(\s*)([-+=]|\d+(?=[.)]))")


def markdown(draft: dict[str, Any]) -> str:
    """brief.md: the whole edition, with text from sources never taken for markup."""
    day = date.fromisoformat(draft["date"])
    parts = [f"# {phrases.long_date(day)}", _md(coverage.title(draft))]
    parts += [f"> {_md(draft['warning'])}"] if draft["warning"] else []
    parts += [f"**{_md(draft['headline'])}**"] if draft["headline"] else []
    parts += [_md(draft["opening"])] if draft["opening"] else []
    shorts = 0
    for story in draft["stories"]:
        shorts += story["form"] == "short"
        parts += ["## In short"] if shorts == 1 and story["form"] == "short" else []
        parts.append(f"{'##' if story['form'] == 'long' else '###'} {story['n']}. {_md(story['headline'])}")
        parts += [_md(text) for text in story["body"]]
        why = f"  \n{_md(phrases.capital(story['why']))}" if story["why"] and story["form"] == "long" else ""
        parts.append(f"{_md_sources(story)}{why}")
    parts += [draft["ending"], "---", "  \n".join(_md(line) for line in coverage.foot(draft))]
    return "\n\n".join(parts) + "\n"


def _md(text: str) -> str:
    """`text` as Markdown that shows exactly that text."""
    shown = _MARKS.sub(r"\\\1", text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;"))
    shown = re.sub(r"(?i)(https?|ftp)://", r"\1&#58;//", shown)
    return _LINE_START.sub(r"\1\\\2" if not shown[:1].isdigit() else _escaped_number, shown)


def _escaped_number(match: re.Match[str]) -> str:
    return f"{match.group(1)}{match.group(2)}\\"


def _md_sources(story: dict[str, Any]) -> str:
    named = [
        f"[{_md(source['name'])}](<{source['url']}>) {source['time']}"
        if source["url"]
        else f"{_md(source['name'])} {source['time']}"
        for source in story["sources"]
    ]
    return " · ".join([*named, *([f"{story['more_sources']} more"] if story["more_sources"] else [])])


def text(draft: dict[str, Any]) -> str:
    """mail.txt: the whole edition in 72 columns, its links numbered in the text and listed at the end."""
    day = date.fromisoformat(draft["date"])
    listed: list[str] = []
    first = [f"{phrases.DAYS[day.weekday()]} {day.day} {phrases.MONTHS[day.month - 1]}"]
    if draft["stories"]:
        first += [phrases.counted(len(draft["stories"]), "story", "stories"), f"{draft['minutes']} min"]
    blocks = [
        "\n".join(filter(None, [" · ".join(first), _wrap(f"! {draft['warning']}", "", "  ") * bool(draft["warning"])]))
    ]
    blocks += [_wrap(part) for part in (draft["headline"], draft["opening"]) if part]
    shorts = 0
    for story in draft["stories"]:
        shorts += story["form"] == "short"
        blocks += ["IN SHORT"] if shorts == 1 and story["form"] == "short" else []
        blocks.append(_story(story, listed))
    blocks.append(draft["ending"])
    blocks.append("\n".join(["-" * COLUMNS, *(_wrap(line) for line in coverage.foot(draft))]))
    if listed:
        blocks.append("\n".join(f"[{number}] {url}" for number, url in enumerate(listed, 1)))
    return "\n\n".join(blocks) + "\n"


def _story(story: dict[str, Any], listed: list[str]) -> str:
    mark = f"{story['n']:<3}"
    lines = [_wrap(story["headline"], mark, "   ")]
    lines.append(
        ("\n\n" if story["form"] == "long" else "\n").join(_wrap(part, "   ", "   ") for part in story["body"])
    )
    lines.append(_wrap(_sources(story, listed), "   ", "   "))
    if story["form"] == "long" and story["why"]:
        lines.append(_wrap(phrases.capital(story["why"]), "   ", "   "))
    return "\n".join(filter(None, lines))


def _sources(story: dict[str, Any], listed: list[str]) -> str:
    named = []
    for source in story["sources"]:
        url = links.public(source["url"])
        if url:
            listed.append(url)
        noted = f"{source['time']} [{len(listed)}]" if url else source["time"]
        named.append(f"{source['name']} {noted.replace(' ', KEPT)}")
    return " · ".join([*named, *([f"{story['more_sources']} more"] if story["more_sources"] else [])])


def _wrap(passage: str, first: str = "", rest: str = "") -> str:
    """`passage` in lines of at most 72 columns; a word that is longer has a line of its own."""
    lines = textwrap.wrap(
        passage,
        COLUMNS,
        initial_indent=first,
        subsequent_indent=rest,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return "\n".join(line.replace(KEPT, " ") for line in lines)
