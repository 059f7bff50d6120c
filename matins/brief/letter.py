"""The edition as the HTML part of a mail: one table of 600 px, styles in place, no picture, nothing fetched, colours
that survive a reader which turns them round. The whole edition is in it.
"""

from __future__ import annotations

from datetime import date
from html import escape
from typing import Any

from matins.brief import coverage, links, phrases

LIMIT = 60_000
"""Bytes. Gmail cuts a mail at about 102 kB; encoding for transport adds to these."""

_SERIF = "font-family:Charter,Georgia,serif"
_SANS = "font-family:-apple-system,'Segoe UI',Roboto,Helvetica,Arial,sans-serif"
_INK, _QUIET, _LINK, _WARN, _PAPER = "#232323", "#6b675f", "#1f5aa6", "#9a4615", "#fbfaf6"
_BAR = {"quoted": "#4f6f52", "empty": "#8b867b", "blind": "#b4472a"}
_SMALL = f"{_SANS};font-size:13px;line-height:1.5;color:{_QUIET}"


def letter(draft: dict[str, Any]) -> str:
    """mail.html, below 60 kB: where titles and addresses are too long for that, the last stories lose their text
    first, then they are counted instead of told."""
    told = draft
    while len((whole := _letter(draft, told)).encode()) > LIMIT and told["stories"]:
        told = told | {"stories": _shorter(told["stories"])}
    return whole


def _shorter(stories: list[dict[str, Any]]) -> list[dict[str, Any]]:
    for number in range(len(stories) - 1, -1, -1):
        if stories[number]["body"]:
            return [*stories[:number], stories[number] | {"body": []}, *stories[number + 1 :]]
    return stories[:-1]


def _letter(draft: dict[str, Any], told: dict[str, Any]) -> str:
    day = date.fromisoformat(draft["date"])
    missing = len(draft["stories"]) - len(told["stories"])
    foot = "<br>\n".join(map(escape, coverage.foot(draft)))
    rows = [
        _row(_date_line(draft, day), _SMALL, top=20),
        *_top(draft),
        *_stories(told),
        _row(f"{missing} more in the stored edition.", _SMALL) if missing else "",
        _row(escape(draft["ending"]), f"{_SERIF};font-size:16px;line-height:1.5;color:{_INK}", top=20, bottom=16),
        _row(foot, f"{_SMALL};border-top:1px solid #d9d4c8", top=14, bottom=32),
    ]
    bar = _BAR[draft["kind"]]
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="supported-color-schemes" content="light dark">
<title>{escape(phrases.long_date(day))}</title>
</head>
<body style="margin:0;padding:0;background-color:{_PAPER};color:{_INK}">
<div style="display:none;max-height:0;overflow:hidden">{escape(preheader(draft))}</div>
<table role="presentation" style="width:100%;max-width:600px;margin:0 auto;border-collapse:collapse;\
table-layout:fixed;border-top:5px solid {bar}">
<tbody>
{chr(10).join(filter(None, rows))}
</tbody>
</table>
</body>
</html>
"""


def preheader(draft: dict[str, Any]) -> str:
    """What a list of mails shows behind the subject: the second and third headline, else the opening."""
    others = [story["headline"] for story in draft["stories"][1:3]]
    return phrases.cut(" · ".join(others) or draft["opening"] or draft["coverage"]["line"], 140)


def _row(content: str, style: str, *, top: int = 8, bottom: int = 0) -> str:
    return f'<tr><td style="padding:{top}px 16px {bottom}px;{style};overflow-wrap:break-word">{content}</td></tr>'


def _date_line(draft: dict[str, Any], day: date) -> str:
    parts = [f"{phrases.DAYS[day.weekday()]} {day.day} {phrases.MONTHS[day.month - 1]}"]
    if draft["stories"]:
        parts += [phrases.counted(len(draft["stories"]), "story", "stories"), f"{draft['minutes']} min"]
    return escape(" · ".join(parts))


def _top(draft: dict[str, Any]) -> list[str]:
    warning = f"{_SANS};font-size:14px;line-height:1.45;color:{_WARN}"
    return [
        _row(escape(draft["warning"]), warning) if draft["warning"] else "",
        _row(escape(draft["headline"]), f"{_SERIF};font-size:21px;line-height:1.35;color:{_INK}", top=12)
        if draft["headline"]
        else "",
        _row(escape(draft["opening"]), f"{_SERIF};font-size:16px;line-height:1.5;color:{_INK}", top=12)
        if draft["opening"]
        else "",
    ]


def _stories(draft: dict[str, Any]) -> list[str]:
    rows = []
    forms = [story["form"] for story in draft["stories"]]
    for number, story in enumerate(draft["stories"]):
        if story["form"] == "short" and "short" not in forms[:number]:
            rows.append(_row("In short", f"{_SMALL};border-top:1px solid #d9d4c8;font-weight:bold", top=16))
        rows.append(_story(story))
    return rows


def _story(story: dict[str, Any]) -> str:
    long = story["form"] == "long"
    size, text, top = (20, 16, 22) if long else (17, 15, 12)
    head = (
        f'<p style="margin:0 0 4px;{_SERIF};font-size:{size}px;line-height:1.3;font-weight:bold;color:{_INK}">'
        f'<span style="font-weight:normal;color:{_QUIET}">{story["n"]}</span>&nbsp; {escape(story["headline"])}</p>'
    )
    body = "".join(
        f'<p style="margin:0 0 8px;{_SERIF};font-size:{text}px;line-height:1.5;color:{_INK}">{part}</p>'
        for part in [*_again(story), *map(escape, story["body"])]
    )
    why = f"<br>{escape(phrases.capital(story['why']))}" if long and story["why"] else ""
    return _row(f'\n{head}\n{body}\n<p style="margin:0;{_SMALL}">{_sources(story)}{why}</p>\n', _SERIF, top=top)


def _again(story: dict[str, Any]) -> list[str]:
    """When a story was told and what is new in it, as the content of a paragraph."""
    if not story.get("again"):
        return []
    style = f"{_SANS};font-size:13px;font-weight:bold;color:{_QUIET}"
    return [f'<span style="{style}">{escape(story["again"])}</span> {escape(coverage.news(story))}']


def _sources(story: dict[str, Any]) -> str:
    more = [f"{story['more_sources']} more"] if story["more_sources"] else []
    return " · ".join([*map(_source, story["sources"]), *more])


def _source(source: dict[str, Any]) -> str:
    name, time, url = escape(source["name"]), escape(source["time"]).replace(" ", "&nbsp;"), links.public(source["url"])
    return f'<a href="{escape(url)}" style="color:{_LINK}">{name}</a> {time}' if url else f"{name} {time}"
