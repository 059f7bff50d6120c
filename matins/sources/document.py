"""From bytes to text, and to where a feed begins in it."""

from __future__ import annotations

import codecs
import re

from matins.rules.errors import ProviderRefused
from matins.sources.headers import charset_of
from matins.sources.plain import looks_like_markup

MAX_TAGS = 200_000
"""Tags in one document, those inside its texts too; a feed of a thousand entries has about ten thousand."""
MAX_SCOPES = 12_000
"""Declarations of a namespace or a base; some publishers make two in every entry."""
_BOMS = (
    (codecs.BOM_UTF32_LE, "utf-32-le"), (codecs.BOM_UTF32_BE, "utf-32-be"), (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"),
)  # fmt: skip
_WIDE = ((b"<\0\0\0", "utf-32-le"), (b"\0\0\0<", "utf-32-be"), (b"<\0", "utf-16-le"), (b"\0<", "utf-16-be"))
_DECLARED = re.compile(rb"\s*<\?xml[^>]{0,200}?encoding\s*=\s*[\"']([A-Za-z0-9._:-]{1,40})[\"']")
_MEANT = {"iso-8859-1": "cp1252", "latin-1": "cp1252", "us-ascii": "cp1252", "ascii": "cp1252", "gb2312": "gb18030"}
"""What a publisher who declares these nearly always writes (WHATWG Encoding, section 4.2)."""
_NOT_FOR_TEXT = re.compile(r"utf[-_]?(?:7|16|32).*|idna|punycode|.*unicode.?escape|undefined|mbcs|oem")
_SHIFTED = re.compile(r"iso-?2022-.*|hz.*")
"""Encodings whose bytes are all valid UTF-8, and mean something else."""

_ROOT = re.compile(r"<((?:[\w.-]+:)?(?:rss|feed|rdf|channel))(?=[\s/>])", re.IGNORECASE)
_HTML = re.compile(r"<(?:!doctype\s+html|html)\b", re.IGNORECASE)
_LOOK = 65_536
"""How far into a document its root element is looked for."""


def text_of(body: bytes, *, content_type: str) -> str:
    """The text of a document. Bytes that its encoding does not know become U+FFFD, one by one.

    A byte order mark decides; then valid UTF-8 is UTF-8 whatever is declared; then what the document or the header
    declares. Nothing is guessed from the letters: a few broken bytes never turn the rest into another alphabet.
    """
    for mark, encoding in _BOMS:
        if body.startswith(mark):
            return body[len(mark) :].decode(encoding, "replace")
    for start, encoding in _WIDE:
        if body.startswith(start):
            return body.decode(encoding, "replace")
    declared = [name for name in (_declared(body), charset_of(content_type)) if _is_text_encoding(name)]
    shifted = [name for name in declared if _SHIFTED.fullmatch(name)]
    if shifted:
        return body.decode(shifted[0], "replace")
    try:
        return body.decode("utf-8")
    except UnicodeDecodeError:
        other = [name for name in declared if name not in ("utf-8", "utf8")]
        return body.decode(_MEANT.get(other[0], other[0]) if other else "utf-8", "replace")


def root_of(text: str) -> int:
    """Where a feed's root element starts in `text`. Raises ProviderRefused, with what it is instead, where none is."""
    if text.count("<") > MAX_TAGS:
        raise ProviderRefused(f"too large: more than {MAX_TAGS} tags")
    if text.count("xmlns") + text.count("xml:base") > MAX_SCOPES:
        raise ProviderRefused(f"too large: more than {MAX_SCOPES} declarations of namespaces and bases")
    start = _ROOT.search(text, 0, _LOOK)
    page = _HTML.search(text, 0, _LOOK)
    if not start or (page and page.start() < start.start() and "<?xml" not in text[page.end() : start.start()]):
        raise ProviderRefused(f"not a feed: {_kind(text)}")
    return start.start()


def _declared(body: bytes) -> str:
    found = _DECLARED.match(body[:1000])
    return found[1].decode("ascii").lower() if found else ""


def _is_text_encoding(name: str) -> bool:
    if not name or _NOT_FOR_TEXT.fullmatch(name):
        return False
    try:
        b"a".decode(name, "replace")  # of no bytes at all, no name would be refused
    except (LookupError, ValueError):
        return False
    return True


def _kind(text: str) -> str:
    head = text[:_LOOK].lstrip()
    if not head:
        return "it is empty"
    if _HTML.search(head) or (looks_like_markup(head) and not head.startswith("<?xml")):
        return "an HTML page"
    return "another kind of XML" if head.startswith("<") else "no XML"
