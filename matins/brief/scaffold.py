"""What every page for a reader stands in: one document that asks for nothing, and the look that all of them share."""

from __future__ import annotations

from html import escape

STYLE = """
:root { color-scheme: light dark; --ink: #1a1a1a; --paper: #fdfcf9; --quiet: #5f5b53; --rule: #dcd7cb;
  --link: #1d4f91; --warn: #8a3b12; --warn-paper: #fbeee3; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e2d8; --paper: #191816; --quiet: #a39d90; --rule: #3a3732;
  --link: #93b9ec; --warn: #f0b48c; --warn-paper: #33241a; } }
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 18px/1.55 Charter, Georgia, serif;
  overflow-wrap: break-word; }
main { max-width: 34rem; margin: 0 auto; padding: 1.5rem 1.25rem 3rem; }
header, footer, .sources, .why, nav { font-family: system-ui, sans-serif; }
a { color: var(--link); text-decoration-thickness: 1px; text-underline-offset: 0.15em; }
header { border-bottom: 1px solid var(--rule); padding-bottom: 0.75rem; margin-bottom: 1.25rem;
  font-size: 0.8rem; color: var(--quiet); line-height: 1.5; }
header .top { display: flex; flex-wrap: wrap; justify-content: space-between; gap: 0 1rem; }
header h1, header .mast { font-size: 0.8rem; font-weight: bold; margin: 0; letter-spacing: 0.14em;
  text-transform: uppercase; color: var(--ink); }
header p { margin: 0; }
.headline { font-size: 1.5rem; line-height: 1.3; margin: 0 0 1.25rem; }
.sources, .why { font-size: 0.78rem; line-height: 1.5; color: var(--quiet); }
footer { border-top: 1px solid var(--rule); padding-top: 0.75rem; font-size: 0.78rem; line-height: 1.6;
  color: var(--quiet); }
footer p { margin: 0 0 0.3rem; }
@media print {
  :root { --ink: #000; --paper: #fff; --quiet: #333; --rule: #999; --link: #000; --warn: #000; --warn-paper: #fff; }
  body { font-size: 10.5pt; line-height: 1.4; } main { max-width: none; padding: 0; }
  nav, footer .inside { display: none; } a { text-decoration: none; }
}
"""
"""Paper, ink, one column, header and footer, in light, dark and print. A page adds its own rules after it."""


def document(title: str, body: str, *, kind: str, style: str = "") -> str:
    """A whole HTML5 document around `body`, which is markup; `title` is text and `kind` the class of its `<main>`.

    The generator is named so that a reader of pages, Matins among them, can tell its own page from a source.
    """
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="generator" content="Matins">
<meta name="referrer" content="no-referrer">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>{escape(title)} · Matins</title>
<style>{STYLE}{style}</style>
</head>
<body>
<main class="{escape(kind)}">
{body}
</main>
</body>
</html>
"""
