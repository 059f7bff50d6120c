"""The edition as a page: one column, no script, nothing fetched from anywhere. Printed, its links are end notes."""

from __future__ import annotations

from datetime import date
from html import escape
from itertools import count
from typing import Any

from matins.brief import coverage, phrases

_STYLE = """
:root { color-scheme: light dark; --ink: #1a1a1a; --paper: #fdfcf9; --quiet: #5f5b53; --rule: #dcd7cb;
  --link: #1d4f91; --warn: #8a3b12; --warn-paper: #fbeee3; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e2d8; --paper: #191816; --quiet: #a39d90; --rule: #3a3732;
  --link: #93b9ec; --warn: #f0b48c; --warn-paper: #33241a; } }
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 18px/1.55 Charter, Georgia, serif;
  overflow-wrap: break-word; }
main { max-width: 34rem; margin: 0 auto; padding: 1.5rem 1.25rem 3rem; }
header, footer, .sources, .why, nav, .warning, .short h2 { font-family: system-ui, sans-serif; }
a { color: var(--link); text-decoration-thickness: 1px; text-underline-offset: 0.15em; }
header { border-bottom: 1px solid var(--rule); padding-bottom: 0.75rem; margin-bottom: 1.25rem;
  font-size: 0.8rem; color: var(--quiet); line-height: 1.5; }
header .top { display: flex; flex-wrap: wrap; justify-content: space-between; gap: 0 1rem; }
header h1 { font-size: 0.8rem; margin: 0; letter-spacing: 0.14em; text-transform: uppercase; color: var(--ink); }
header p { margin: 0; }
.blind { border-top: 0.4rem solid var(--warn); }
.empty { border-top: 0.4rem solid var(--quiet); }
.warning { margin: 0 0 1.25rem; padding: 0.5rem 0.75rem; font-size: 0.85rem; line-height: 1.45; color: var(--warn);
  background: var(--warn-paper); border-left: 3px solid var(--warn); }
.headline { font-size: 1.5rem; line-height: 1.3; margin: 0 0 1.25rem; }
.opening { margin: 0 0 2rem; font-size: 1.05rem; }
article { position: relative; margin: 0 0 2rem; }
article h2 { font-size: 1.25rem; line-height: 1.3; margin: 0 0 0.4rem; text-wrap: balance; }
article p { margin: 0 0 0.6rem; }
.n { color: var(--quiet); font-weight: normal; margin-right: 0.35em; font-variant-numeric: lining-nums; }
.sources, .why { font-size: 0.78rem; line-height: 1.5; color: var(--quiet); }
article p.sources, article p.why { margin: 0; }
.short { border-top: 1px solid var(--rule); padding-top: 1rem; }
.short > h2 { font-size: 0.8rem; letter-spacing: 0.1em; text-transform: uppercase; margin: 0 0 1rem;
  color: var(--quiet); }
.short article { margin-bottom: 1.25rem; }
.short article h3 { font-size: 1.05rem; line-height: 1.35; margin: 0 0 0.2rem; }
.short article p { font-size: 0.95rem; margin-bottom: 0.25rem; }
.short article p.sources { font-size: 0.78rem; }
.end { margin: 2rem 0; }
footer { border-top: 1px solid var(--rule); padding-top: 0.75rem; font-size: 0.78rem; line-height: 1.6;
  color: var(--quiet); }
footer p { margin: 0 0 0.3rem; }
.notes { display: none; }
@media (min-width: 46rem) { .n { position: absolute; right: 100%; margin-right: 0.7rem; } }
@media print {
  :root { --ink: #000; --paper: #fff; --quiet: #333; --rule: #999; --link: #000; --warn: #000; --warn-paper: #fff; }
  body { font-size: 10.5pt; line-height: 1.4; } main { max-width: none; padding: 0; }
  nav, footer .inside { display: none; } a { text-decoration: none; } article { break-inside: avoid;
  margin-bottom: 1rem; } .notes { display: block; font-size: 8pt; line-height: 1.4; margin: 0; padding-left: 2em; }
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
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>{escape(phrases.long_date(day))} · Matins</title>
<style>{_STYLE}</style>
</head>
<body>
<main class="{escape(draft["kind"])}">
{chr(10).join(filter(None, body))}
</main>
</body>
</html>
"""


def _header(draft: dict[str, Any], day: date) -> str:
    return f"""<header>
<div class="top"><h1>Matins</h1>
<p><time datetime="{day.isoformat()}">{escape(phrases.long_date(day))}</time></p></div>
<p>{escape(coverage.title(draft))}</p>
<nav><a href="mail.html">As mail</a></nav>
</header>"""


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
    body = "\n".join(f"<p>{escape(text)}</p>" for text in story["body"])
    why = f'\n<p class="why">{escape(phrases.capital(story["why"]))}</p>' if story["why"] else ""
    return f"""<article id="{story["id"]}">
<h2><span class="n">{story["n"]}</span>{escape(story["headline"])}</h2>
{body}
<p class="sources">{_sources(story, notes)}</p>{why}
</article>"""


def _short(story: dict[str, Any], notes: list[str]) -> str:
    body = "".join(f"<p>{escape(text)}</p>\n" for text in story["body"])
    return f"""<article id="{story["id"]}">
<h3><span class="n">{story["n"]}</span>{escape(story["headline"])}</h3>
{body}<p class="sources">{_sources(story, notes)}</p>
</article>"""


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
    told = "\n".join(f"<p>{escape(line)}</p>" for line in coverage.foot(draft))
    return f"""<footer>
{told}
<p class="inside"><a href="evidence.jsonl">Evidence</a> · <a href="brief.md">As text</a></p>
</footer>"""


def _notes(notes: list[str]) -> str:
    """The addresses behind the links, in order; shown in print only."""
    if not notes:
        return ""
    items = "\n".join(f"<li>{escape(url)}</li>" for _, url in zip(count(1), notes, strict=False))
    return f'<ol class="notes">\n{items}\n</ol>'
