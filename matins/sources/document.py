"""From bytes to text, and from a feed's XML to XML that a parser may be given.

No document type declaration ever reaches a parser, so no entity can be declared: neither a bomb nor a file read.
What feeds commonly get wrong (names of HTML entities, bare ampersands, junk around the document, characters that
XML forbids) is mended here, so that the strict parser reads nearly everything.
"""

from __future__ import annotations

import codecs
import re
from html.entities import html5

from matins.rules.errors import ProviderRefused
from matins.sources.fetch import charset_of
from matins.sources.plain import looks_like_markup

MAX_TAGS = 200_000
"""Tags in one document; a feed of a thousand entries has about ten thousand."""
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

_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_CHARACTER = re.compile(r"&#(?:[xX]([0-9a-fA-F]*)|([0-9]*));")
_AMPERSAND = re.compile(r"&(?!#(?:x[0-9a-fA-F]+|[0-9]+);|(?:amp|lt|gt|quot|apos);)(?:([A-Za-z][A-Za-z0-9]{1,31});)?")
_ROOT = re.compile(r"<((?:[\w.-]+:)?(?:rss|feed|rdf|channel))(?=[\s/>])", re.IGNORECASE)
_HTML = re.compile(r"<(?:!doctype\s+html|html)\b", re.IGNORECASE)
_LONG_WORD = re.compile(r"[\w.+-]{1000}")
"""Words this long are broken up: looking for a mail address in one takes feedparser the square of its length."""
_MAX_LONG_WORDS = 200
_WHITE = re.compile(r"[ \t\r\n]{64,}")
"""White space this long is shortened: feedparser takes the square of its number of lines to strip it."""
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


def mended_xml(text: str) -> str:
    """The feed in `text` from its root's start to its root's end, mended. Raises ProviderRefused where none is."""
    feed = _without_surroundings(text)
    if feed.count("<") > MAX_TAGS:
        raise ProviderRefused(f"too large: more than {MAX_TAGS} tags")
    words, long_words = _LONG_WORD.subn(r"\g<0> ", _mended(_FORBIDDEN.sub("", feed)))
    if long_words > _MAX_LONG_WORDS:
        raise ProviderRefused("not a feed that can be read: too many words of more than 1000 characters")
    return "<?xml version='1.0' encoding='utf-8'?>\n" + _WHITE.sub("\n\n", words)


def _declared(body: bytes) -> str:
    found = _DECLARED.match(body[:1000])
    return found[1].decode("ascii").lower() if found else ""


def _is_text_encoding(name: str) -> bool:
    if not name or _NOT_FOR_TEXT.fullmatch(name):
        return False
    try:
        b"".decode(name)
    except (LookupError, ValueError):
        return False
    return True


def _without_surroundings(text: str) -> str:
    start = _ROOT.search(text, 0, _LOOK)
    page = _HTML.search(text, 0, _LOOK)
    if not start or (page and page.start() < start.start() and "<?xml" not in text[page.end() : start.start()]):
        raise ProviderRefused(f"not a feed: {_kind(text)}")
    end = text.rfind(f"</{start[1]}")
    close = text.find(">", end)
    if end > start.start() and close > 0:
        return text[start.start() : close + 1]
    if re.compile(r"<[^<>]{0,4000}/>\s*\Z").match(text, start.start()):
        return text[start.start() :]
    raise ProviderRefused("the feed is cut off before its end")


def _kind(text: str) -> str:
    head = text[:_LOOK].lstrip()
    if not head:
        return "it is empty"
    if _HTML.search(head) or (looks_like_markup(head) and not head.startswith("<?xml")):
        return "an HTML page"
    return "another kind of XML" if head.startswith("<") else "no XML"


def _mended(feed: str) -> str:
    """References that XML does not know, resolved or escaped; CDATA left as it is."""
    first, *rest = _CHARACTER.sub(_allowed, feed).split("<![CDATA[")
    pieces = [_AMPERSAND.sub(_known, first)]
    for section in rest:
        inside, closed, after = section.partition("]]>")
        pieces += ["<![CDATA[", inside, closed, _AMPERSAND.sub(_known, after)]
    return "".join(pieces)


def _allowed(match: re.Match[str]) -> str:
    digits, base = (match[1], 16) if match[1] is not None else (match[2], 10)
    number = int(digits, base) if 0 < len(digits) <= 8 else -1
    if number in (9, 10, 13, 32):
        return chr(number)
    allowed = 0 <= number <= 0x10FFFF and not _FORBIDDEN.match(chr(number))
    return match[0].replace("X", "x", 1) if allowed else ""


def _known(match: re.Match[str]) -> str:
    character = html5.get(f"{match[1]};") if match[1] else None
    if character is None or character in "<>&\"'":
        return "&amp;" + match[0][1:]
    return character
