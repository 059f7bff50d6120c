"""A report of openings as the files that a reader gets. Text from boards is text in every one of them."""

from __future__ import annotations

from html import escape
from typing import Any

from matins.brief import markdown, phrases, scaffold
from matins.brief.openings_sheet import Line, Part, Piece, Sheet, sheet
from matins.rules.canonical import canonical

_STYLE = """
.warning { margin: 0 0 1.25rem; padding: 0.5rem 0.75rem; font: 0.85rem/1.45 system-ui, sans-serif; color: var(--warn);
  background: var(--warn-paper); border-left: 3px solid var(--warn); }
.warning p { margin: 0 0 0.25rem; } .warning p:last-child { margin: 0; }
section { border-top: 1px solid var(--rule); padding-top: 1rem; margin-top: 1.75rem; }
section h2 { font: bold 0.8rem/1.5 system-ui, sans-serif; letter-spacing: 0.1em; text-transform: uppercase;
  margin: 0 0 0.8rem; color: var(--quiet); }
section ul { list-style: none; margin: 0; padding: 0; }
section li { margin: 0 0 1rem; line-height: 1.35; }
section .sources, section .why { display: block; }
footer { margin-top: 2rem; }
@media print { li { break-inside: avoid; } h2 { break-after: avoid; } section { margin-top: 1rem; } }
"""


def rendered(document: dict[str, Any], *, zone: str) -> dict[str, bytes]:
    """openings.json, openings.md and openings.html of the report, in UTF-8; same report, same bytes."""
    made = sheet(document, zone=zone)
    return {
        "openings.json": canonical(document),
        "openings.md": _markdown(made).encode(),
        "openings.html": _html(made).encode(),
    }


def _html(made: Sheet) -> str:
    day = phrases.long_date(made.day)
    notes = "\n".join(f"<p>{escape(note)}</p>" for note in made.notes)
    body = [
        f"""<header>
<div class="top"><p class="mast">Matins</p>
<p><time datetime="{made.day.isoformat()}">{escape(day)}</time></p></div>
<p>Openings</p>
<nav><a href="openings.md">As text</a></nav>
</header>""",
        f'<div class="warning">\n{notes}\n</div>' if notes else "",
        f'<h1 class="headline">{escape(made.headline)}</h1>',
        f"<p>{escape(made.empty)}</p>" if made.empty else "",
        *map(_section, made.parts),
        "<footer>\n{}\n</footer>".format("\n".join(f"<p>{escape(line)}</p>" for line in made.foot)),
    ]
    return scaffold.document(f"Openings, {day}", "\n".join(filter(None, body)), kind="openings", style=_STYLE)


def _section(part: Part) -> str:
    items = "\n".join(map(_item, part.lines))
    more = f'\n<p class="why">and {part.more:,} more</p>' if part.more else ""
    return f"<section>\n<h2>{escape(part.heading)}</h2>\n<ul>\n{items}\n</ul>{more}\n</section>"


def _item(line: Line) -> str:
    places = "; ".join(map(_link, line.places))
    small = " · ".join(filter(None, [places, *map(escape, line.facts)]))
    why = f'\n<span class="why">{escape(line.why)}</span>' if line.why else ""
    return f'<li>{_link(Piece(line.title, line.url))}\n<span class="sources">{small}</span>{why}</li>'


def _link(piece: Piece) -> str:
    text = escape(piece.text)
    return f'<a href="{escape(piece.url)}" rel="noopener noreferrer">{text}</a>' if piece.url else text


def _markdown(made: Sheet) -> str:
    parts = [f"# Openings, {phrases.long_date(made.day)}", f"**{markdown.shown(made.headline)}**"]
    parts += [f"> {markdown.shown(note)}" for note in made.notes]
    parts += [markdown.shown(made.empty)] if made.empty else []
    for part in made.parts:
        parts += [f"## {part.heading}", "\n".join(map(_md_line, part.lines))]
        parts += [f"and {part.more:,} more"] if part.more else []
    parts += ["---", "  \n".join(map(markdown.shown, made.foot))]
    return "\n\n".join(parts) + "\n"


def _md_line(line: Line) -> str:
    places = "; ".join(markdown.link(place.text, place.url) for place in line.places)
    small = " · ".join(filter(None, [places, *map(markdown.shown, line.facts)]))
    why = f"  \n  {markdown.shown(line.why)}" if line.why else ""
    return f"- {markdown.link(line.title, line.url)}  \n  {small}{why}"
