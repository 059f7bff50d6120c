"""Whole sentences out of a source's text, without the furniture that feeds put around it.

Nothing is reworded: what is returned stands in the text, letter for letter, once white space is folded.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from matins.brief.phrases import fold, paragraphs, word_set, words

_ABBREVIATIONS = word_set(
    "mr mrs ms dr prof st sr jr rev hon gen col lt capt sgt maj cmdr gov sen rep pres vs etc al eg ie e.g i.e cf ca "
    "approx est dept inc ltd co corp bros no nos fig figs vol pp ed eds art sec ch op jan feb mar apr jun jul aug sep "
    "sept oct nov dec mt ft ave blvd rd"
)
_NEVER_LAST = word_set("mr mrs ms dr prof rev hon gen col lt capt sgt maj gov sen rep e.g i.e eg ie vs cf ca")
_STARTERS = word_set(
    "The A An It He She They We I You In On At But And This That These Those There For If When While After Before As "
    "However Its His Her Their Our My So Yet Since Until Under Over With Without From By Then Now Not No All Some Many "
    "Most Both What Who How Why Where"
)
_ENDING = re.compile("([.!?…]+)([\"”’')\\]]*)(\\s+)(?=[\"“‘'(\\[]?[A-Z0-9À-ÖØ-ÞΑ-ΩА-Я])|([。！？]+[」』”]?)")
_SAYS = re.compile(r"(?:[\w.'’-]+\s+){0,4}(?:said|says|asked|asks|added|adds|wrote|replied|told|called|cried)\b")
_SHORT_CAPITALS = re.compile(r"(?:[A-Za-z]\.)*[A-Za-z]")

_FURNITURE_OPENS = re.compile(
    r"""
      the\ post\ .+\ (?:appeared|was\ published)\b
    | (?:this|the)\ (?:article|story|post)\ .*(?:originally|first)\ (?:appeared|published|ran)
    | (?:read|see|find\ out|learn|show|view)\ (?:the\ )?(?:more|full|rest|original|whole)\b | continue\ reading
    | submitted\ by\b | (?:article|comments)\ url: | points: | \#\ comments
    | (?:subscribe|sign\ up|register|log\ in|follow\ us|join\ us|click\ here|tap\ here|share\ this|listen\ to)\b
    | (?:watch(?::|\ now|\ the\ video)|download\ (?:the|our)|buy\ now|shop\ now|donate|support\ us)\b
    | (?:leave|post|add)\ a\ (?:comment|reply) | \d*\ *comments?\b[.:\ ]*$
    | (?:images?|photos?|photograph|picture|illustration|video|credit|caption|source|pictured)
      (?:\ credits?|\ by|\ courtesy|:)
    | \(?(?:photo|image)\b.{0,60}\)?$
    | by\ +(?-i:[A-Z][\w.'’-]+(?:\ (?:and\ )?[A-Z][\w.'’-]+){1,4})[.,]?$
    | copyright\b | © | advertisement\b | sponsored\b | related:
    | (?:tags|filed\ under|posted\ in|posted\ on|posted\ by|published\ on|updated\ on|categories)\b
    | (?:more|also):\ | view\ (?:this|in|entire)\b | full\ story\b
    """,
    re.IGNORECASE | re.VERBOSE,
)
_FURNITURE_HOLDS = re.compile(
    r"""
      \bappeared\ first\ on\b | \[(?:link|comments|…|\.\.\.)\] | \b(?:our|the|free|daily|weekly)\ newsletters?\b
    | \bsubscribe\ (?:to|now|for|here|today)\b | \bleave\ a\ comment\b | \bgetty\ images\b | \bshutterstock\b
    | \bphoto(?:graph)?\ (?:by|courtesy|credit)\b | \ball\ rights\ reserved\b
    | \bcookies?\ (?:policy|settings|preferences)\b | \bprivacy\ policy\b
    | \bterms\ (?:of|and)\ (?:use|service|conditions)\b | \baffiliate\ (?:link|commission|partner)s?
    | \b\d+\ min(?:ute)?s?\ read\b | \bview\ in\ (?:your\ )?browser\b | https?:// | \bwww\.
    """,
    re.IGNORECASE | re.VERBOSE,
)
_MAY_HOLD = (
    "appeared first", "[", "newsletter", "subscribe", "a comment", "getty", "shutterstock", "photo", "reserved",
    "cookie", "privacy", "terms ", "affiliate", " read", "view in", "http", "www",
)  # fmt: skip
"""One of these is in every text, in lower case, that the pattern above finds something in."""


def _furniture(text: str) -> bool:
    if _FURNITURE_OPENS.match(text):
        return True
    low = text.lower()
    return any(word in low for word in _MAY_HOLD) and bool(_FURNITURE_HOLDS.search(text))


def split(paragraph: str) -> list[str]:
    """The sentences of one paragraph, in order; joined by single spaces they are the paragraph again.

    A quotation is not cut open: sentences inside double quotation marks stay together with the one around them.
    """
    text = fold(paragraph)
    pieces, start = [], 0
    for match in _ENDING.finditer(text):
        end = match.end(4) if match.group(4) else match.end(2)
        if match.group(4) or _ends(text[start : match.end(1)], match.group(1), match.group(2), text[match.end() :]):
            pieces.append(text[start:end].strip())
            start = end
    return _whole_quotations([*pieces, text[start:].strip()])


def _ends(before: str, mark: str, closing: str, after: str) -> bool:
    """Whether the mark at the end of `before` ends a sentence that `after` does not belong to."""
    if mark != ".":
        return not (closing and _SAYS.match(after)) and not (
            mark in ("…", "...") and not closing and after[:1].isdigit()
        )
    last = before[:-1].rsplit(" ", 1)[-1].lstrip("(\"“‘'[")
    follows = re.match(r"[\"“‘'(\[]?(\w+)", after)
    starter = bool(follows and follows.group(1) in _STARTERS)
    if closing and _SAYS.match(after):
        return False
    if last.casefold() in _NEVER_LAST or (last.casefold() == "no" and after[:1].isdigit()):
        return False
    if last.casefold() in _ABBREVIATIONS or _SHORT_CAPITALS.fullmatch(last):
        return last.casefold() == "no" or (starter and len(last) > 1)
    return True


def _whole_quotations(pieces: list[str]) -> list[str]:
    """The pieces, joined where a double quotation would be cut open; as they are if one is never closed."""
    whole: list[str] = []
    held = ""
    for piece in filter(None, pieces):
        held = f"{held} {piece}" if held else piece
        if _balanced(held):
            whole.append(held)
            held = ""
    return whole if not held else [piece for piece in pieces if piece]


def _balanced(text: str) -> bool:
    return text.count('"') % 2 == 0 and text.count("“") <= text.count("”")


def honest(text: str, *, title: str = "") -> Iterator[list[str]]:
    """The sentences of `text` worth telling, by paragraph: whole, and none of the furniture around an article.

    What only repeats `title` is left out, and so is a sentence that the source itself broke off. A long text is read
    only as far as one asks.
    """
    for paragraph in paragraphs(text):
        sentences = [one for one in split(paragraph) if worth_telling(one) and not _repeats(one, title)]
        if sentences:
            yield sentences


def worth_telling(sentence: str) -> bool:
    """Whether it is a whole sentence and no furniture."""
    if _furniture(sentence) or not _balanced(sentence) or words(sentence) < 4:
        return False
    alphabetic, both = sum(map(str.isalpha, sentence)), sum(map(str.isalnum, sentence))
    mostly_words = both * 10 >= len(sentence) * 6 and alphabetic * 10 >= len(sentence) * 4  # "The fare is £4.20."
    if not mostly_words or (sentence.upper() == sentence and sentence.lower() != sentence):
        return False
    opened = sentence.lstrip("\"“‘'([")
    if not opened or opened[0].islower() or not (opened[0].isalpha() or opened[0].isdigit()):
        return False
    closed = sentence.rstrip("\"”’')]」』")
    if closed.endswith(("…", "...", ":", ",", ";", "-")):
        return False
    return closed.endswith((".", "!", "?", "。", "！", "？")) or 8 <= words(sentence) <= 60


def _repeats(sentence: str, title: str) -> bool:
    """Whether the sentence says no more than the title: the same letters, or hardly a word behind them."""
    said, heading = letters(sentence), letters(title)
    return bool(heading) and said.startswith(heading) and words(sentence) - words(title) < 8


def letters(text: str) -> str:
    """Letters and digits of `text` in lower case, without anything between them."""
    return "".join(filter(str.isalnum, text.casefold()))
