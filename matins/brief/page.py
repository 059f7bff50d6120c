"""The edition as a page: one column, no script, nothing fetched from anywhere. Printed, its links are end notes."""

from __future__ import annotations

from datetime import date
from html import escape
from itertools import count
from typing import Any

from matins.brief import coverage, phrases, scaffold

_STYLE = """
.warning, .short h2 { font-family: system-ui, sans-serif; }
.blind { border-top: 0.4rem solid var(--warn); }
.empty { border-top: 0.4rem solid var(--quiet); }
.warning { margin: 0 0 1.25rem; padding: 0.5rem 0.75rem; font-size: 0.85rem; line-height: 1.45; color: var(--warn);
  background: var(--warn-paper); border-left: 3px solid var(--warn); }
.opening { margin: 0 0 2rem; font-size: 1.05rem; }
article { position: relative; margin: 0 0 2rem; }
article h2 { font-size: 1.25rem; line-height: 1.3; margin: 0 0 0.4rem; text-wrap: balance; }
article p { margin: 0 0 0.6rem; }
.again span { font: 600 0.78rem/1.5 system-ui, sans-serif; color: var(--quiet); }
.n { color: var(--quiet); font-weight: normal; margin-right: 0.35em; font-variant-numeric: lining-nums; }
article p.sources, article p.why { margin: 0; }
.short { border-top: 1px solid var(--rule); padding-top: 1rem; }
.short > h2 { font-size: 0.8rem; letter-spacing: 0.1em; text-transform: uppercase; margin: 0 0 1rem;
  color: var(--quiet); }
.short article { margin-bottom: 1.25rem; }
.short article h3 { font-size: 1.05rem; line-height: 1.35; margin: 0 0 0.2rem; }
.short article p { font-size: 0.95rem; margin-bottom: 0.25rem; }
.short article p.sources { font-size: 0.78rem; }
.end { margin: 2rem 0; }
footer details { margin: 0 0 0.3rem; }
summary { cursor: pointer; }
details ul { margin: 0.3rem 0 0.6rem; padding-left: 1.1rem; }
details li { margin: 0 0 0.2rem; }
.notes { display: none; }
@media (min-width: 46rem) { .n { position: absolute; right: 100%; margin-right: 0.7rem; } }
@media print {
  article { break-inside: avoid; margin-bottom: 1rem; }
  .notes { display: block; font-size: 8pt; line-height: 1.4; margin: 0; padding-left: 2em; }
  .noted::after { content: " [" attr(data-note) "]"; }
}
"""


def page(draft: dict[str, Any]) -> str:
    """index.html: a whole HTML5 document that asks for nothing."""
    day = date.fromisoformat(draft["date"])
    notes: list[str] = []
    body = [
        _header(draft, day),
        _top(draft),
        _stories(draft, notes),
        f'<p class="end">{escape(draft["ending"])}</p>',
        _footer(draft),
        _notes(notes),
    ]
    return scaffold.document(phrases.long_date(day), "\n".join(filter(None, body)), kind=draft["kind"], style=_STYLE)


def _header(draft: dict[str, Any], day: date) -> str:
    return f"""<header>
<div class="top"><h1>Matins</h1>
<p><time datetime="{day.isoformat()}">{escape(phrases.long_date(day))}</time></p></div>
<p>{escape(coverage.title(draft))}</p>
<nav>{_nav(draft)}</nav>
</header>"""


def _nav(draft: dict[str, Any]) -> str:
    """What lies beside this page; the openings come a moment after it, where the profile names boards."""
    openings = ' · <a href="openings.html">Openings</a>' if draft.get("openings") else ""
    return f'<a href="mail.html">As mail</a>{openings}'


def _top(draft: dict[str, Any]) -> str:
    """Warning, headline of an empty or blind edition, opening: whatever there is of them."""
    parts = (("warning", draft["warning"]), ("headline", draft["headline"]), ("opening", draft["opening"]))
    return "\n".join(f'<p class="{name}">{escape(text)}</p>' for name, text in parts if text)


def _stories(draft: dict[str, Any], notes: list[str]) -> str:
    long = [_long(story, notes) for story in draft["stories"] if story["form"] == "long"]
    short = [_short(story, notes) for story in draft["stories"] if story["form"] == "short"]
    if short:
        short = ['<section class="short">', "<h2>In short</h2>", *short, "</section>"]
    return "\n".join([*long, *short])


def _long(story: dict[str, Any], notes: list[str]) -> str:
    body = "\n".join([*_again(story), *(f"<p>{escape(text)}</p>" for text in story["body"])])
    why = f'\n<p class="why">{escape(phrases.capital(story["why"]))}</p>' if story["why"] else ""
    return f"""<article id="{story["id"]}">
<h2><span class="n">{story["n"]}</span>{escape(story["headline"])}</h2>
{body}
<p class="sources">{_sources(story, notes)}</p>{why}
</article>"""


def _short(story: dict[str, Any], notes: list[str]) -> str:
    body = "".join([*(f"{part}\n" for part in _again(story)), *(f"<p>{escape(text)}</p>\n" for text in story["body"])])
    return f"""<article id="{story["id"]}">
<h3><span class="n">{story["n"]}</span>{escape(story["headline"])}</h3>
{body}<p class="sources">{_sources(story, notes)}</p>
</article>"""


def _again(story: dict[str, Any]) -> list[str]:
    """The paragraph on when a story was told and what is new, if it was."""
    if not story.get("again"):
        return []
    return [f'<p class="again"><span>{escape(story["again"])}</span> {escape(coverage.news(story))}</p>']


def _sources(story: dict[str, Any], notes: list[str]) -> str:
    named = [_source(source, notes) for source in story["sources"]]
    return " · ".join([*named, *([f"{story['more_sources']} more"] if story["more_sources"] else [])])


def _source(source: dict[str, Any], notes: list[str]) -> str:
    name, time = escape(source["name"]), escape(source["time"]).replace(" ", "&nbsp;")
    if not source["url"]:
        return f"{name} {time}"
    notes.append(source["url"])
    href = escape(source["url"])
    return f'<a class="noted" data-note="{len(notes)}" href="{href}" rel="noopener noreferrer">{name}</a> {time}'


def _footer(draft: dict[str, Any]) -> str:
    left_out = coverage.left_out(draft)
    told = "\n".join(
        _left_out(draft, line) if line == left_out else f"<p>{escape(line)}</p>" for line in coverage.foot(draft)
    )
    return f"""<footer>
{told}
<p class="inside"><a href="evidence.jsonl">Evidence</a> · <a href="brief.md">As text</a></p>
</footer>"""


def _left_out(draft: dict[str, Any], line: str) -> str:
    """The line on what was left out; it opens into the list, if there is one."""
    items = [f"<li>{_left(item)}</li>" for item in draft.get("left_out_items", ())]
    if not items:
        return f"<p>{escape(line)}</p>"
    more = draft["left_out_more"]
    items += [f"<li>and {more:,} more</li>"] if more else []
    return f"<details>\n<summary>{escape(line)}</summary>\n<ul>\n{chr(10).join(items)}\n</ul>\n</details>"


def _left(item: dict[str, str]) -> str:
    title = escape(item["title"])
    if item["url"]:
        title = f'<a href="{escape(item["url"])}" rel="noopener noreferrer">{title}</a>'
    return f"{title} · {escape(item['source'])} · {escape(item['reason'])}"


def _notes(notes: list[str]) -> str:
    """The addresses behind the links, in order; shown in print only."""
    if not notes:
        return ""
    items = "\n".join(f"<li>{escape(url)}</li>" for _, url in zip(count(1), notes, strict=False))
    return f'<ol class="notes">\n{items}\n</ol>'
