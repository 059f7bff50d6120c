"""A page of the wiki in its two forms. Same material, same bytes: nothing here knows the time or the place."""

from __future__ import annotations

from matins.brief.wiki_html import html
from matins.brief.wiki_markdown import markdown
from matins.brief.wiki_sheet import sheet
from matins.rules.wiki import Material


def pages(material: Material) -> dict[str, bytes]:
    """The page of `material` by its form (`rules.wiki.FORMS`): ".md" and ".html", in UTF-8. Pure.

    Links within the wiki are relative and stay in their form; others are http(s). Text from sources is text in both.
    """
    drawn = sheet(material)
    return {".md": markdown(drawn).encode(), ".html": html(drawn).encode()}
