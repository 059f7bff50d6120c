"""Plain text: what a reader could be told, without markup, scripts, control characters or hidden direction marks.

The scanner reads markup once, from left to right, in time that grows with its length only: feeds come from strangers.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from html.entities import html5

MAX_TEXT = 20_000
"""Characters of an item's text."""
MAX_MARKUP = 400_000
"""Characters of markup looked at for one text."""
MAX_TITLE = 300
TITLE_FROM_TEXT = 80
"""Characters of a title made from the text."""

_TAG = re.compile(r"</?([A-Za-z][A-Za-z0-9:-]*)(?:[^>\"']++|\"[^\"]*+\"|'[^']*+')*+>")
_MAX_UNCLOSED = 8
"""Tags of one text whose quotes do not end: each is looked for to the end of the text."""
_ENOUGH = 3 * MAX_TEXT
"""Characters after which nothing more of a text is looked at."""
_REFERENCE = re.compile(r"&(?:#[0-9]{1,7};?|#[xX][0-9a-fA-F]{1,6};?|([A-Za-z][A-Za-z0-9]{1,31});?)")
_TAG_STARTS = re.compile(r"</?[A-Za-z]|<[!?]")
_KNOWN_TAG = re.compile(
    r"</?(?:a|abbr|article|b|blockquote|br|center|cite|code|dd|del|div|dl|dt|em|figcaption|figure|font|h[1-6]|hr|i"
    r"|iframe|img|ins|li|ol|p|picture|pre|q|s|script|section|small|span|strong|style|sub|sup|table|tbody|td|th|tr|u"
    r"|ul|video)(?=[\s/>])[^<]{0,4000}>|<!--",
    re.IGNORECASE,
)
_HIDDEN = frozenset({"script", "style", "template", "noscript", "head", "iframe", "object", "svg", "math", "select"})
_PARAGRAPHS = (
    "address", "article", "aside", "blockquote", "body", "caption", "center", "dd", "details", "dialog", "div", "dl",
    "dt", "fieldset", "figcaption", "figure", "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6", "header", "hr",
    "html", "legend", "li", "main", "nav", "ol", "p", "pre", "section", "summary", "table", "tbody", "tfoot", "thead",
    "tr", "ul",
)  # fmt: skip
_BREAKS = {**dict.fromkeys(_PARAGRAPHS, "\n\n"), "br": "\n", "td": " ", "th": " "}
"""What an element puts between the words around its tags."""

_LINE_BREAKS = re.compile("\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]")
_REMOVED = re.compile(
    "[\x00-\x08\x0e-\x1b\x1f\x7f-\x84\x86-\x9f\xad\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb"
    "\ufffe\uffff\ud800-\udfff\U000e0000-\U000e007f]"
)
_GAP = re.compile(r"\n{3,}")
_SINGLE_BREAK = re.compile(r"(?<!\n)\n(?!\n)")
_SENTENCE_END = re.compile(r"(?<=[.!?\u2026\u3002])[\"'\u201d\u2019)]*\s")


def text_from_markup(markup: str) -> str:
    """The text of a piece of HTML: paragraphs separated by a blank line, at most MAX_TEXT characters."""
    return _shortened("".join(_visible(markup.strip()[:MAX_MARKUP])))


def text_from_plain(text: str) -> str:
    """The same for text without markup: its blank lines are its paragraphs, its single line breaks are blanks."""
    lines = _trimmed(_LINE_BREAKS.sub("\n", text.strip()[:MAX_MARKUP]))
    return _shortened(_SINGLE_BREAK.sub(" ", lines) if "\n" in lines else lines)


def text_from_either(text: str) -> str:
    """The same where the source does not say which it is: markup if it has a tag that HTML knows."""
    return text_from_markup(text) if looks_like_markup(text) else text_from_plain(_resolved(text))


def looks_like_markup(text: str) -> bool:
    """Whether `text` has a tag in it that HTML knows."""
    return _KNOWN_TAG.search(text[:MAX_MARKUP]) is not None


def one_line(text: str) -> str:
    """`text` as a title: one line, single blanks, at most MAX_TITLE characters."""
    line = " ".join(clean(text[: MAX_TITLE * 10]).split())
    return line if len(line) <= MAX_TITLE else cut(line, MAX_TITLE)


def first_sentence(text: str) -> str:
    """The first sentence of `text`, or its first TITLE_FROM_TEXT characters at the end of a word."""
    line = " ".join(text[: MAX_TITLE * 10].split())
    end = _SENTENCE_END.search(line)
    sentence = line[: end.start()] if end else line
    return sentence if len(sentence) <= TITLE_FROM_TEXT else cut(sentence, TITLE_FROM_TEXT)


def clean(text: str) -> str:
    """`text` without what nobody can see: control characters, direction marks, lone surrogates. Line breaks stay."""
    return _REMOVED.sub("", _LINE_BREAKS.sub("\n", text))


def cut(text: str, length: int) -> str:
    """At most `length` characters of `text`, ended after a word and with an ellipsis."""
    head = text[: length - 1]
    if text[length - 1 : length].isspace():
        return head.rstrip(" \n,;:") + "\u2026"
    word_end = max(head.rfind(" "), head.rfind("\n"))
    return (head[:word_end] if word_end > length // 2 else head).rstrip(" \n,;:") + "\u2026"


def _shortened(text: str) -> str:
    text = _trimmed(clean(text))
    text = _GAP.sub("\n\n", text).strip() if "\n" in text else text
    return text if len(text) <= MAX_TEXT else cut(text, MAX_TEXT)


def _trimmed(text: str) -> str:
    """Its lines, each with single blanks and none around it."""
    return "\n".join(" ".join(line.split()) for line in text.split("\n"))


def _visible(markup: str) -> Iterator[str]:
    """The text between tags, references resolved, with line breaks where HTML has them."""
    at, length, unclosed = 0, 0, 0
    while (start := _TAG_STARTS.search(markup, at)) is not None:
        if start.start() > at:
            words = _words(markup[at : start.start()])
            yield words
            length += len(words.strip())
        if length > _ENOUGH or unclosed > _MAX_UNCLOSED:
            return
        if start[0] in ("<!", "<?"):
            at = _after_declaration(markup, start.start())
            continue
        tag = _TAG.match(markup, start.start())
        if tag is None:
            unclosed += 1
            at = _after(markup, ">", start.end())
            continue
        name = tag[1].lower()
        at = tag.end()
        if name in _HIDDEN and not tag[0].startswith("</") and not tag[0].endswith("/>"):
            at = _after_element(markup, name, at)
        if name in _BREAKS:
            yield _BREAKS[name]
    yield _words(markup[at:])


def _words(text: str) -> str:
    if text.isprintable() and "&" not in text:
        return text  # most pieces, by far
    return _LINE_BREAKS.sub(" ", _resolved(text))


def _resolved(text: str) -> str:
    """References replaced by what they mean, as HTML reads them, also without a semicolon at their end."""
    return _REFERENCE.sub(_meaning, text) if "&" in text else text


def _meaning(match: re.Match[str]) -> str:
    return html5.get(match[0][1:], match[0]) if match[1] else character(match[0])


def character(reference: str) -> str:
    """What a numeric reference like "&#1087;" means (HTML, section 13.2.5.80)."""
    digits = reference[2:].rstrip(";")
    number = int(digits[1:], 16) if digits[0] in "xX" else int(digits)
    return chr(number) if 0xA0 <= number < 0xD800 else html.unescape(reference)


def _after_declaration(markup: str, at: int) -> int:
    if markup.startswith("<!--", at):
        return _after(markup, "-->", at + 2)
    if markup.startswith("<![CDATA[", at):
        return at + len("<![CDATA[")
    return _after(markup, ">", at)


def _after_element(markup: str, name: str, at: int) -> int:
    end = re.compile(rf"</{name}(?=[\s/>])", re.IGNORECASE).search(markup, at)
    return _after(markup, ">", end.end()) if end else len(markup)


def _after(markup: str, end: str, at: int) -> int:
    found = markup.find(end, at)
    return found + len(end) if found >= 0 else len(markup)
