"""A page of the wiki as HTML: the look of the edition, no script, readable from disk."""

from __future__ import annotations

from html import escape

from matins.brief.scaffold import document
from matins.brief.wiki_sheet import Entry, Fact, Link, Section, Sheet, Version, When

_STYLE = """
h1.headline { margin-bottom: 0.4rem; text-wrap: balance; }
.facts { margin: 0 0 1.25rem; }
main > p { margin: 0 0 0.8rem; }
section { border-top: 1px solid var(--rule); padding-top: 1rem; margin-top: 1.75rem; }
section.bare { border: 0; padding: 0; margin: 0; }
section > h2 { font: bold 0.8rem/1.5 system-ui, sans-serif; letter-spacing: 0.1em; text-transform: uppercase;
  margin: 0 0 0.8rem; color: var(--quiet); }
section article { margin: 0 0 1.25rem; font-size: 0.85em; }
section article h3 { font: 0.78rem/1.5 system-ui, sans-serif; margin: 0 0 0.2rem; color: var(--quiet); }
section article p { margin: 0 0 0.5rem; }
.was { font-weight: bold; }
section ul { list-style: none; margin: 0; padding: 0; }
section li { margin: 0 0 0.7rem; line-height: 1.4; }
section .sources { display: block; }
.days li { display: inline; }
.days li + li::before { content: " · "; color: var(--quiet); }
.days time { white-space: nowrap; }
.facts span, .sources span { display: inline-block; }
.days { font: 0.85rem/1.7 system-ui, sans-serif; }
footer { margin-top: 2rem; }
@media print {
  section { margin-top: 1rem; padding-top: 0.6rem; } section article { font-size: 1em; }
  li, article { break-inside: avoid; } h2 { break-after: avoid; }
  a[href^="http"]::after { content: " <" attr(href) ">"; font-size: 8pt; overflow-wrap: anywhere; }
}
"""


def html(sheet: Sheet) -> str:
    """A whole HTML5 document."""
    body = [
        _header(sheet),
        f'<h1 class="headline">{escape(sheet.title)}</h1>',
        f'<p class="why facts">{_facts(sheet.facts)}</p>',
        *(f"<p>{escape(text)}</p>" for text in sheet.paragraphs),
        *map(_section, sheet.sections),
        _footer(sheet),
    ]
    return document(sheet.title, "\n".join(body), kind=f"wiki {sheet.kind}", style=_STYLE)


def _header(sheet: Sheet) -> str:
    trail = " › ".join(map(_link, sheet.trail))
    return f"""<header>
<div class="top"><p class="mast">Matins</p>
<nav><a href="{escape(sheet.name)}.md">As text</a></nav></div>
<nav>{trail}</nav>
</header>"""


def _section(section: Section) -> str:
    items = "\n".join(map(_item, section.body))
    match section.body[:1]:
        case (Version(),):
            body = items
        case (When(),):
            body = f'<ul class="days">\n{items}\n</ul>'
        case _:
            body = f"<ul>\n{items}\n</ul>" if items else ""
    more = f'\n<p class="why">{escape(section.more)}</p>' if section.more else ""
    if not section.heading:
        return f'<section class="bare">\n{body}{more}\n</section>'
    return f"<section>\n<h2>{escape(section.heading)}</h2>\n{body}{more}\n</section>"


def _item(item: Version | Entry | When) -> str:
    match item:
        case When():
            return f"<li>{_when(item)}</li>"
        case Entry():
            small = f' <span class="sources">{_facts(item.facts)}</span>' if item.facts else ""
            return f"<li>{_link(item.link)}{small}</li>"
        case Version():
            was = f'<p class="was">{escape(item.title)}</p>\n' if item.title else ""
            text = "\n".join(f"<p>{escape(text)}</p>" for text in item.paragraphs)
            return f"<article>\n<h3>{_when(item.when)}</h3>\n{was}{text}\n</article>"


def _link(link: Link) -> str:
    if not link.address:
        return escape(link.text)
    if link.inner:
        return f'<a href="{escape(link.address)}.html">{escape(link.text)}</a>'
    return f'<a href="{escape(link.address)}" rel="noopener noreferrer">{escape(link.text)}</a>'


def _facts(facts: tuple[Fact, ...]) -> str:
    said = [" ".join(filter(None, (escape(fact.text), _when(fact.when) if fact.when else ""))) for fact in facts]
    return " ".join([*(f"<span>{fact} ·</span>" for fact in said[:-1]), f"<span>{said[-1]}</span>"])


def _when(when: When) -> str:
    return f'<time datetime="{escape(when.iso)}">{escape(when.text)}</time>'


def _footer(sheet: Sheet) -> str:
    lines = "\n".join(f"<p>{escape(line)}</p>" for line in sheet.foot)
    return f"<footer>\n{lines}\n</footer>"
