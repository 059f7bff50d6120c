"""OPML, the format in which readers hand over a list of feeds (opml.org/spec2.opml)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape

from matins.rules.errors import ProviderRefused
from matins.sources import plain
from matins.sources.document import text_of
from matins.sources.markup import Kind, Piece, attributes_of, pieces

MAX_BYTES = 8 * 1024 * 1024
MAX_OUTLINES = 10_000
MAX_DEPTH = 20
"""Folders inside each other."""
_ROOT = re.compile(r"<opml(?=[\s/>])", re.IGNORECASE)
_DECLARATION = re.compile(r"<!(?:ENTITY|DOCTYPE[^<>]*\[)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Outline:
    """One feed of a list."""

    title: str
    """One line; "" if it has none."""
    url: str
    """As written: it has still to be judged."""
    folder: tuple[str, ...] = ()
    """The folders that it is in, the outermost first."""


def parse(data: bytes) -> tuple[Outline, ...]:
    """The feeds of an OPML document, in its order; the same address in two folders comes twice.

    Raises ProviderRefused, with the line where there is one, for what is no OPML, breaks off, declares entities or
    passes a cap: never a part of a list.
    """
    if len(data) > MAX_BYTES:
        raise ProviderRefused(f"too large: more than {MAX_BYTES // 1024 // 1024} MB")
    text = text_of(data, content_type="")
    root = _ROOT.search(text)
    declared = _DECLARATION.search(text)
    if declared:
        raise _refused("it declares entities, which no list of feeds needs", text, declared.start())
    if root is None:
        raise ProviderRefused("not OPML: there is no <opml> in it")
    return tuple(_outlines(text, root.start()))


def write(outlines: Sequence[Outline], *, title: str) -> bytes:
    """An OPML 2.0 document of `outlines`, in their order, UTF-8. Addresses are written as they are."""
    lines = (
        '<?xml version="1.0" encoding="UTF-8"?>',
        '<opml version="2.0">',
        f"  <head><title>{_text(title)}</title></head>",
        "  <body>",
        *_body(outlines),
        "  </body>",
        "</opml>",
    )
    return "\n".join((*lines, "")).encode()


def _outlines(text: str, start: int) -> Iterator[Outline]:
    open_names: list[str] = []
    """Of the outlines around; "" for one that is no folder."""
    seen = 0
    for piece in _tags(text, start):
        if piece.kind is Kind.CLOSE:
            if not open_names:
                raise _refused("an outline is closed that is not open", text, piece.at)
            open_names.pop()
            continue
        seen += 1
        if seen > MAX_OUTLINES:
            raise _refused(f"there are more than {MAX_OUTLINES} outlines", text, piece.at)
        found = _outline(piece, tuple(filter(None, open_names)))
        if found.url:
            yield found
        if piece.kind is Kind.OPEN:
            open_names.append("" if found.url else found.title)
        if len(open_names) > MAX_DEPTH:
            raise _refused(f"there are more than {MAX_DEPTH} folders inside each other", text, piece.at)
    if open_names:
        raise _refused("an outline is not closed", text, len(text))


def _tags(text: str, start: int) -> Iterator[Piece]:
    """The tags of outlines, up to the end of the document."""
    for piece in pieces(text, start):
        if piece.kind is Kind.BREAK:
            raise _refused("it breaks off in a comment", text, piece.at)
        if piece.kind is Kind.TEXT and piece.text == "<":
            raise _refused("a tag in it cannot be read", text, piece.at)
        if piece.kind not in (Kind.TEXT, Kind.LITERAL) and piece.text.lower() == "outline":
            yield piece
        if piece.kind in (Kind.CLOSE, Kind.EMPTY) and piece.text.lower() == "opml":
            return
    raise _refused("it breaks off before its end", text, len(text))


def _outline(piece: Piece, folder: tuple[str, ...]) -> Outline:
    found = attributes_of(piece.attributes)
    url = plain.clean(found.get("xmlurl", "")).strip()
    text = plain.one_line(found.get("text", ""))
    title = plain.one_line(found.get("title", "")) or ("" if text == plain.one_line(url) else text)
    return Outline(title, url, folder)


def _body(outlines: Sequence[Outline]) -> Iterator[str]:
    inside: tuple[str, ...] = ()
    for outline in (*outlines, Outline("", "")):
        common = _shared(inside, outline.folder)
        for depth in range(len(inside), common, -1):
            yield f"{_indent(depth - 1)}</outline>"
        for depth in range(common, len(outline.folder)):
            yield f'{_indent(depth)}<outline text="{_text(outline.folder[depth])}">'
        inside = outline.folder
        if outline.url:
            words = f'text="{_text(outline.title or outline.url)}" title="{_text(outline.title)}"'
            yield f'{_indent(len(inside))}<outline type="rss" {words} xmlUrl="{_text(outline.url)}"/>'


def _shared(one: tuple[str, ...], other: tuple[str, ...]) -> int:
    """How many folders, from the outermost on, are the same."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((depth for depth, (left, right) in pairs if left != right), min(len(one), len(other)))


def _indent(depth: int) -> str:
    return "  " * (depth + 2)


def _text(words: str) -> str:
    return escape(" ".join(plain.clean(words).split()))


def _refused(what: str, text: str, at: int) -> ProviderRefused:
    return ProviderRefused(f"not a sound OPML document: {what} (line {text.count(chr(10), 0, at) + 1})")
