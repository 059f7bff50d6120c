"""A report of openings as a mail of its own: what is new and gone in full, and the best of what is open."""

from __future__ import annotations

import textwrap
from datetime import datetime
from html import escape
from typing import Any

from matins.brief import links, mail, phrases
from matins.brief.openings_sheet import Line, Part, Piece, Sheet, sheet

OPEN = 20
"""So many of the roles that were open before stand in a mail; the others are counted."""
LIMIT = 60_000
"""Bytes of the HTML part, as for an edition: a mail of more than about 102 kB is cut by some readers."""
COLUMNS = 72
_SERIF = "font-family:Charter,Georgia,serif"
_SANS = "font-family:-apple-system,'Segoe UI',Roboto,Helvetica,Arial,sans-serif"
_INK, _QUIET, _LINK, _WARN, _PAPER = "#232323", "#6b675f", "#1f5aa6", "#9a4615", "#fbfaf6"
_SMALL = f"{_SANS};font-size:13px;line-height:1.5;color:{_QUIET}"


def worth_a_mail(document: dict[str, Any]) -> bool:
    """Whether there is anything to tell that was not told before: a first report, new roles, or roles that are gone."""
    return bool(document["first"] or document["counts"]["new"] or document["counts"]["removed"])


def letter(document: dict[str, Any], *, zone: str) -> tuple[str, str, str]:
    """Subject, text and HTML of the mail. The HTML stays below 60 kB: the last roles are counted instead of shown."""
    whole = sheet(document, zone=zone)
    shown = OPEN
    made = _shortened(whole, shown, roles=200)
    while len((html := _html(made)).encode()) > LIMIT and shown:
        shown //= 2
        made = _shortened(whole, shown, roles=shown * 5)
    return mail.subject(_draft(whole)), _text(made), html


def build(
    document: dict[str, Any],
    *,
    zone: str,
    sender: str,
    to: str,
    message_key: str,
    message_id: str,
    sent_at: datetime,
    list_id: str,
    unsubscribe: str,
) -> bytes:
    """The whole mail, as `matins.brief.mail.build` makes that of an edition, with the same arguments and refusals."""
    _, text, html = letter(document, zone=zone)
    return mail.build(
        _draft(sheet(document, zone=zone)),
        {"mail.txt": text.encode(), "mail.html": html.encode()},
        sender=sender,
        to=to,
        message_key=message_key,
        message_id=message_id,
        sent_at=sent_at,
        list_id=list_id,
        unsubscribe=unsubscribe,
    )


def _draft(made: Sheet) -> dict[str, Any]:
    """What a mail's subject is made from: the headline stands where an edition has its lead."""
    lead = {"headline": f"Openings: {made.headline}"}
    return {"date": made.day.isoformat(), "kind": "openings", "coverage": {}, "stories": [lead]}


def _shortened(made: Sheet, shown: int, *, roles: int) -> Sheet:
    parts = []
    for part in made.parts:
        kept = part.lines[: shown if part.heading == "Open" else roles]
        parts.append(Part(part.heading, kept, part.more + len(part.lines) - len(kept)))
    return Sheet(made.day, made.headline, made.notes, tuple(parts), made.empty, made.foot)


def _html(made: Sheet) -> str:
    rows = [
        _row(escape(f"Openings · {phrases.long_date(made.day)}"), _SMALL, top=20),
        *(_row(escape(note), f"{_SANS};font-size:14px;line-height:1.45;color:{_WARN}") for note in made.notes),
        _row(escape(made.headline), f"{_SERIF};font-size:21px;line-height:1.35;color:{_INK}", top=12, bottom=12),
        _row(escape(made.empty), f"{_SERIF};font-size:16px;line-height:1.5;color:{_INK}") if made.empty else "",
        *(row for part in made.parts for row in _part(part)),
        _row("<br>\n".join(map(escape, made.foot)), f"{_SMALL};border-top:1px solid #d9d4c8", top=14, bottom=32),
    ]
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="supported-color-schemes" content="light dark">
<title>{escape(f"Openings, {phrases.long_date(made.day)}")}</title>
</head>
<body style="margin:0;padding:0;background-color:{_PAPER};color:{_INK}">
<table role="presentation" style="width:100%;max-width:600px;margin:0 auto;border-collapse:collapse;\
table-layout:fixed;border-top:5px solid #3f5f7a">
<tbody>
{chr(10).join(filter(None, rows))}
</tbody>
</table>
</body>
</html>
"""


def _row(content: str, style: str, *, top: int = 8, bottom: int = 0) -> str:
    return f'<tr><td style="padding:{top}px 16px {bottom}px;{style};overflow-wrap:break-word">{content}</td></tr>'


def _part(part: Part) -> list[str]:
    head = _row(escape(part.heading), f"{_SMALL};border-top:1px solid #d9d4c8;font-weight:bold", top=16)
    more = [_row(f"and {part.more:,} more in the stored report", _SMALL, bottom=10)] if part.more else []
    return [head, *map(_line, part.lines), *more]


def _line(line: Line) -> str:
    title = _link(Piece(line.title, line.url))
    small = " · ".join(filter(None, ["; ".join(map(_link, line.places)), *map(escape, line.facts)]))
    why = f"<br>{escape(line.why)}" if line.why else ""
    style = f"{_SERIF};font-size:17px;line-height:1.35;color:{_INK}"
    return _row(f'{title}<br>\n<span style="{_SMALL}">{small}{why}</span>', style, top=4, bottom=10)


def _link(piece: Piece) -> str:
    url = links.public(piece.url)
    text = escape(piece.text)
    return f'<a href="{escape(url)}" style="color:{_LINK}">{text}</a>' if url else text


def _text(made: Sheet) -> str:
    listed: list[str] = []
    blocks = ["\n".join([f"Openings · {phrases.long_date(made.day)}", *(_wrap(f"! {note}") for note in made.notes)])]
    blocks += [_wrap(part) for part in (made.headline, made.empty) if part]
    for part in made.parts:
        blocks += [part.heading.upper(), *(_text_line(line, listed) for line in part.lines)]
        blocks += [f"and {part.more:,} more in the stored report"] if part.more else []
    blocks.append("\n".join(["-" * COLUMNS, *map(_wrap, made.foot)]))
    if listed:
        blocks.append("\n".join(f"[{number}] {url}" for number, url in enumerate(listed, 1)))
    return "\n\n".join(blocks) + "\n"


def _text_line(line: Line, listed: list[str]) -> str:
    title = _noted(Piece(line.title, line.url), listed)
    places = "; ".join(_noted(place, listed) if place.url != line.url else place.text for place in line.places)
    small = " · ".join(filter(None, [places, *line.facts]))
    return "\n".join([_wrap(title), *(_wrap(text, "   ") for text in (small, line.why) if text)])


def _noted(piece: Piece, listed: list[str]) -> str:
    """The text with the number of its address in the list at the end."""
    url = links.public(piece.url)
    if not url:
        return piece.text
    listed.append(url)
    return f"{piece.text} [{len(listed)}]"


def _wrap(passage: str, indent: str = "") -> str:
    return "\n".join(
        textwrap.wrap(
            passage,
            COLUMNS,
            initial_indent=indent,
            subsequent_indent=indent or "  " * passage.startswith("!"),
            break_long_words=False,
            break_on_hyphens=False,
        )
    )
