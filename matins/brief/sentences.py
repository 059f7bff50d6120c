"""Whole sentences out of a source's text, without the furniture that feeds put around it.

Nothing is reworded: what is returned stands in the text, letter for letter, once white space is folded.
"""

from __future__ import annotations

import re

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

_FURNITURE = re.compile(
    r"""
      \bappeared\ first\ on\b | ^the\ post\ .+\ (?:appeared|was\ published)\b
    | ^(?:this|the)\ (?:article|story|post)\ .*(?:originally|first)\ (?:appeared|published|ran)
    | ^(?:read|see|find\ out|learn|show|view)\ (?:the\ )?(?:more|full|rest|original|whole)\b | ^continue\ reading
    | \[(?:link|comments|…|\.\.\.)\] | ^submitted\ by\b | ^(?:article|comments)\ url: | ^points: | ^\#\ comments
    | ^(?:subscribe|sign\ up|register|log\ in|follow\ us|join\ us|click\ here|tap\ here|share\ this|listen\ to)\b
    | ^(?:watch(?::|\ now|\ the\ video)|download\ (?:the|our)|buy\ now|shop\ now|donate|support\ us)\b
    | \b(?:our|the|free|daily|weekly)\ newsletters?\b | \bsubscribe\ (?:to|now|for|here|today)\b
    | ^(?:leave|post|add)\ a\ (?:comment|reply) | ^\d*\ *comments?\b[.:\ ]*$ | \bleave\ a\ comment\b
    | ^(?:images?|photos?|photograph|picture|illustration|video|credit|caption|source|pictured)
      (?:\ credits?|\ by|\ courtesy|:)
    | \bgetty\ images\b | \bshutterstock\b | \bphoto(?:graph)?\ (?:by|courtesy|credit)\b
    | ^\(?(?:photo|image)\b.{0,60}\)?$
    | ^by\ +(?-i:[A-Z][\w.'’-]+(?:\ (?:and\ )?[A-Z][\w.'’-]+){1,4})[.,]?$
    | \ball\ rights\ reserved\b | ^(?:copyright\b|©) | \bcookies?\ (?:policy|settings|preferences)\b
    | \bprivacy\ policy\b | \bterms\ (?:of|and)\ (?:use|service|conditions)\b
    | \baffiliate\ (?:link|commission|partner)s? | ^advertisement\b | ^sponsored\b | ^related:
    | ^(?:tags|filed\ under|posted\ in|posted\ on|posted\ by|published\ on|updated\ on|categories)\b
    | \b\d+\ min(?:ute)?s?\ read\b | ^view\ (?:this|in|entire)\b | \bview\ in\ (?:your\ )?browser\b
    | ^full\ story\b | ^more:\ | ^also:\ | https?:// | \bwww\.
    """,
    re.IGNORECASE | re.VERBOSE,
)


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


def honest(text: str, *, title: str = "") -> list[list[str]]:
    """The sentences of `text` worth telling, by paragraph: whole, and none of the furniture around an article.

    What only repeats `title` is left out, and so is a sentence that the source itself broke off.
    """
    kept = []
    for paragraph in paragraphs(text):
        if _FURNITURE.search(paragraph) and len(split(paragraph)) == 1:
            continue
        sentences = [one for one in split(paragraph) if _tells(one) and not _repeats(one, title)]
        if sentences:
            kept.append(sentences)
    return kept


def _tells(sentence: str) -> bool:
    if _FURNITURE.search(sentence) or not _balanced(sentence) or words(sentence) < 4:
        return False
    letters = sum(map(str.isalpha, sentence))
    if letters * 10 < len(sentence) * 6 or (sentence.upper() == sentence and sentence.lower() != sentence):
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
    said, heading = _letters(sentence), _letters(title)
    return bool(heading) and said.startswith(heading) and words(sentence) - words(title) < 8


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text.casefold()))
