"""A page of the wiki as Markdown: readable as it is, and the same headings and links wherever it is rendered."""

from __future__ import annotations

from matins.brief.markdown import link, shown
from matins.brief.wiki_sheet import Entry, Fact, Link, Section, Sheet, Version, When


def markdown(sheet: Sheet) -> str:
    """The whole page; blocks are separated by one blank line."""
    blocks = [
        f"# {shown(sheet.title)}",
        *([" › ".join(map(_link, sheet.trail))] if sheet.trail else []),
        _facts(sheet.facts),
        *map(shown, sheet.paragraphs),
        *(block for section in sheet.sections for block in _section(section)),
        "---",
        "  \n".join(map(shown, sheet.foot)),
    ]
    return "\n\n".join(blocks) + "\n"


def _section(section: Section) -> list[str]:
    blocks = [f"## {shown(section.heading)}"] if section.heading else []
    lines = []
    for item in section.body:
        match item:
            case Version():
                blocks += _version(item)
            case Entry():
                lines.append(_entry(item))
            case When(text):
                lines.append(f"- {shown(text)}")
    return [*blocks, *(["\n".join(lines)] if lines else []), *([shown(section.more)] if section.more else [])]


def _version(version: Version) -> list[str]:
    was = [f"**{shown(version.title)}**"] if version.title else []
    return [f"### {shown(version.when.text)}", *was, *map(shown, version.paragraphs)]


def _entry(entry: Entry) -> str:
    small = f"  \n  {_facts(entry.facts)}" if entry.facts else ""
    return f"- {_link(entry.link)}{small}"


def _link(to: Link) -> str:
    return link(to.text, f"{to.address}.md" if to.inner else to.address)


def _facts(facts: tuple[Fact, ...]) -> str:
    said = ((fact.text, fact.when.text if fact.when else "") for fact in facts)
    return " · ".join(" ".join(map(shown, filter(None, parts))) for parts in said)
