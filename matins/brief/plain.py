"""The edition as text: Markdown to keep, and the text part of the mail, written for reading in 72 columns."""

from __future__ import annotations

import textwrap
from datetime import date
from typing import Any

from matins.brief import coverage, links, phrases
from matins.brief.markdown import link, shown

COLUMNS = 72
KEPT = "\u00a0"
"""A space at which no line is broken; an ordinary one in the end."""


def markdown(draft: dict[str, Any]) -> str:
    """brief.md: the whole edition, with text from sources never taken for markup."""
    day = date.fromisoformat(draft["date"])
    parts = [f"# {phrases.long_date(day)}", shown(coverage.title(draft))]
    parts += [f"> {shown(draft['warning'])}"] if draft["warning"] else []
    parts += [f"**{shown(draft['headline'])}**"] if draft["headline"] else []
    parts += [shown(draft["opening"])] if draft["opening"] else []
    shorts = 0
    for story in draft["stories"]:
        shorts += story["form"] == "short"
        parts += ["## In short"] if shorts == 1 and story["form"] == "short" else []
        parts.append(f"{'##' if story['form'] == 'long' else '###'} {story['n']}. {shown(story['headline'])}")
        parts += [shown(text) for text in _body(story)]
        why = f"  \n{shown(phrases.capital(story['why']))}" if story["why"] and story["form"] == "long" else ""
        parts.append(f"{_md_sources(story)}{why}")
    parts += [draft["ending"], *_md_left_out(draft), "---", "  \n".join(shown(line) for line in coverage.foot(draft))]
    return "\n\n".join(parts) + "\n"


def _body(story: dict[str, Any]) -> list[str]:
    return [*filter(None, [coverage.again(story)]), *story["body"]]


def _md_left_out(draft: dict[str, Any]) -> list[str]:
    """The list of what was left out, under its heading, if there is one."""
    items = [
        f"- {link(item['title'], item['url'])} · {shown(item['source'])} · {shown(item['reason'])}"
        for item in draft.get("left_out_items", ())
    ]
    if items and draft["left_out_more"]:
        items.append(f"- and {draft['left_out_more']:,} more")
    return ["## Left out", "\n".join(items)] if items else []


def _md_sources(story: dict[str, Any]) -> str:
    named = [f"{link(source['name'], source['url'])} {source['time']}" for source in story["sources"]]
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
    lines.append(("\n\n" if story["form"] == "long" else "\n").join(_wrap(part, "   ", "   ") for part in _body(story)))
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
