"""Tags, text and references of XML as it is found: one pass from left to right, in time that grows with its length.

No document type declaration is ever read and no entity can be declared, so there is neither a bomb nor a file read.
What publishers commonly get wrong (bare ampersands, names of HTML entities, a lone "<", elements left open) is taken
as it was meant; where a comment or a section does not end, the document has broken off. An XML parser would refuse
the one and know nothing of the items before the other; feedparser read both, in the square of their length.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import Enum
from html.entities import html5
from typing import NamedTuple

from matins.sources.plain import character

MAX_ATTRIBUTES = 8_000
"""Characters of one tag's attributes that are looked at."""
_NAME = r"[^\W\d][\w:.-]*+"
_TAG = re.compile(rf"<(/?)({_NAME})((?:[^<>\"']++|\"[^\"<]*+\"|'[^'<]*+')*+)>")
_SLOPPY_TAG = re.compile(rf"<(/?)({_NAME})([^<>]*+)>")
"""The same with a quote that never ends."""
_ATTRIBUTE = re.compile(r"([^\s=<>\"'/]++)(?:\s*+=\s*+(?:\"([^\"]*+)\"|'([^']*+)'|([^\s<>\"']++)))?+")
_REFERENCE = re.compile(r"&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|([A-Za-z][A-Za-z0-9]{1,31}));")
_SECTION = re.compile(r"<!\[CDATA\[|<!--|<[!?]")
_ENDS = {"<![CDATA[": "]]>", "<!--": "-->", "<!": ">", "<?": ">"}


class Kind(Enum):
    """What a piece of a document is."""

    OPEN = 1
    CLOSE = 2
    EMPTY = 3
    """An element that is opened and closed by one tag."""
    TEXT = 4
    """With its references as they stand."""
    LITERAL = 5
    """The inside of a CDATA section."""
    BREAK = 6
    """A comment or a section that does not end: nothing comes after."""


class Piece(NamedTuple):
    """One tag or one run of text. A tuple, because a document has hundreds of thousands."""

    kind: Kind
    text: str
    """Of a tag its name as written; else the text."""
    attributes: str = ""
    """As written."""
    at: int = 0
    """Where it starts."""


def pieces(text: str, start: int = 0) -> Iterator[Piece]:
    """The pieces of `text` from `start` on. Comments, instructions and declarations are left out.

    A "<" that begins no whole tag is a TEXT of its own.
    """
    at = start
    while (opens := text.find("<", at)) >= 0:
        if opens > at:
            yield Piece(Kind.TEXT, text[at:opens], at=at)
        tag = _TAG.match(text, opens) or _SLOPPY_TAG.match(text, opens)
        if tag is not None:
            at = tag.end()
            yield _tag(tag)
        elif (section := _SECTION.match(text, opens)) is not None:
            end = _ENDS[section[0]]
            at = text.find(end, section.end()) + len(end)
            if at < len(end):
                yield Piece(Kind.BREAK, "", at=opens)
                return
            if end == "]]>":
                yield Piece(Kind.LITERAL, text[section.end() : at - len(end)], at=opens)
        else:
            at = opens + 1
            yield Piece(Kind.TEXT, "<", at=opens)
    if text[at:]:
        yield Piece(Kind.TEXT, text[at:], at=at)


def attributes_of(written: str) -> dict[str, str]:
    """The attributes of a tag by their names in lower case, references resolved; the first of a name counts."""
    found: dict[str, str] = {}
    for name, double, single, bare in _ATTRIBUTE.findall(written[:MAX_ATTRIBUTES]):
        found.setdefault(name.lower(), resolved(double or single or bare))
    return found


def resolved(text: str) -> str:
    """`text` with every reference that has a meaning replaced by it: numbers, and the names of HTML."""
    if "&" not in text:
        return text
    # The commonest at the speed of a search: what they become is no part of any other reference.
    text = text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", '"')
    return _REFERENCE.sub(_meaning, text)


def _meaning(match: re.Match[str]) -> str:
    name = match[1]
    return html5.get(match[0][1:], match[0]) if name else character(match[0])


def _tag(match: re.Match[str]) -> Piece:
    closing, name, attributes = match.groups()
    kind = Kind.CLOSE if closing else Kind.EMPTY if attributes.endswith("/") else Kind.OPEN
    return Piece(kind, name, attributes, match.start())
