"""One edition as one mail, byte for byte the same from the same inputs.

Headers that hold a token without spaces (ids, addresses of lists) are written here and not by the email package, which
puts an encoded word where such a token is longer than a line; a server searching for it would not find it.
"""

from __future__ import annotations

import re
from base64 import b64encode
from datetime import UTC, date, datetime
from email.headerregistry import Address
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import format_datetime
from typing import Any

from matins.brief.phrases import cut, fold, short_date
from matins.rules.canonical import sha256
from matins.rules.errors import Refused

SUBJECT = 60
LINE = 998
"""RFC 5322, 2.1.1: the longest line, in bytes, without its CRLF."""

_ENCODED = 10
"""Characters in an encoded word: at most 40 bytes, 56 in base64, so that it is shorter than 75 whatever they are."""

_TOKEN = re.compile(r"[\x21-\x7e]{1,900}")
_ADDRESS = re.compile(r"[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*")


def message_id(message_key: str, domain: str) -> str:
    """The Message-ID of a message, with its angle brackets: derived, so that a second look finds the first sending."""
    return f"<{sha256(message_key.encode())[:40]}@{_token(domain, 'the domain of a Message-ID')}>"


def subject(draft: dict[str, Any]) -> str:
    """The subject: the lead and, where there is room, the second headline; at most 60 characters on one line."""
    day = f" ({short_date(date.fromisoformat(draft['date']))})"
    room = SUBJECT - len(day)
    looks = draft["coverage"]
    match draft["kind"]:
        case "empty":
            reached = ", all reached" if looks["reached"] == looks["sources"] else " reached"
            said = f"Nothing new: {looks['reached']} {_sources(looks['reached'])}{reached}"
        case "blind":
            failed = f"{looks['sources'] - looks['reached']} of {looks['sources']} {_sources(looks['sources'])}"
            said = f"Could not look: {failed if looks['sources'] else 'no sources yet'}"
        case _:
            said = _lead([_bare(story["headline"]) for story in draft["stories"][:2]], room)
    return cut(_no_encoded_word(said), room) + day


def _bare(headline: str) -> str:
    """A headline without its full stop; one that is nothing but full stops stays as it is."""
    folded = fold(headline)
    return folded.rstrip(". ") or folded


def _no_encoded_word(text: str) -> str:
    """`text` with nothing in it that looks like an encoded word (RFC 2047): the email package would decode one that a
    title brings along, line break and all, and write what follows as a header of its own."""
    return text.replace("=?", "= ?")


def _sources(count: int) -> str:
    return "source" if count == 1 else "sources"


def _lead(headlines: list[str], room: int) -> str:
    first, *others = headlines
    left = room - len(first) - len(" · ")
    if others and left >= min(14, len(others[0])):
        return f"{first} · {cut(others[0], left)}"
    return first


def build(
    draft: dict[str, Any],
    files: dict[str, bytes],
    *,
    sender: str,
    to: str,
    message_key: str,
    message_id: str,
    sent_at: datetime,
    list_id: str,
    unsubscribe: str,
) -> bytes:
    """The whole mail with CRLF line ends, ready for DATA; no line is longer than 998 bytes.

    `sender` and `to` are `name@host` or `Any Name <name@host>`; `list_id` is a dotted name; `unsubscribe` holds
    mailto: or https: addresses, comma separated, or nothing. Raises Refused for one that cannot stand in a header.
    """
    mail = EmailMessage(policy=SMTP)
    mail["From"] = _mailbox(sender, "the sender")
    mail["To"] = _mailbox(to, "the recipient")
    mail["Date"] = format_datetime(sent_at.astimezone(UTC))
    mail["Auto-Submitted"] = "auto-generated"
    mail.set_content(files["mail.txt"].decode(), cte="quoted-printable")
    mail.add_alternative(files["mail.html"].decode(), subtype="html", cte="quoted-printable")
    mail.set_boundary(f"matins-{sha256(message_key.encode())[:32]}")
    for part in mail.iter_parts():
        del part["MIME-Version"]
    heads = _heads(message_key, message_id, list_id, unsubscribe)
    return _checked(heads + _subject_line(subject(draft)) + mail.as_bytes())


def _heads(message_key: str, message_id: str, list_id: str, unsubscribe: str) -> bytes:
    """The headers whose value is one token, each whole on its line."""
    lists = [_list_address(one) for one in unsubscribe.split(",") if one.strip()]
    pairs = [
        ("Message-ID", _token(message_id, "the Message-ID")),
        ("X-Matins-Message", _token(message_key, "the message key")),
        ("List-Id", f"<{_token(list_id, 'the list id')}>"),
    ]
    if lists:
        pairs.append(("List-Unsubscribe", ",\r\n ".join(f"<{one}>" for one in lists)))
    if any(one.startswith("https:") for one in lists):
        pairs.append(("List-Unsubscribe-Post", "List-Unsubscribe=One-Click"))
    return "".join(f"{name}: {value}\r\n" for name, value in pairs).encode("ascii")


def _subject_line(text: str) -> bytes:
    """The Subject header: as it is if it is ASCII, else in encoded words (RFC 2047) of whole characters.

    Written here because the email package (Python 3.11) loses a space between two encoded words.
    """
    words = [text]
    if not text.isascii():
        parts = [text[at : at + _ENCODED] for at in range(0, len(text), _ENCODED)]
        words = [f"=?utf-8?b?{b64encode(part.encode()).decode()}?=" for part in parts]
    return ("Subject: " + "\r\n ".join(words) + "\r\n").encode("ascii")


def _token(value: str, what: str) -> str:
    if not _TOKEN.fullmatch(value):
        raise Refused(f"{what} cannot stand in a header: it has to be 1 to 900 printable ASCII characters, no space")
    return value


def _list_address(one: str) -> str:
    address = one.strip().removeprefix("<").removesuffix(">")
    if not address.startswith(("mailto:", "https:")) or set(address) & set('<>"'):
        raise Refused("an unsubscribe address is neither mailto: nor https:")
    return _token(address, "an unsubscribe address")


def _mailbox(text: str, what: str) -> Address:
    """One mailbox: all before the last "<" is the name, whatever commas and brackets it has (CASES C64)."""
    name, bracket, rest = text.strip().rpartition("<")
    address = rest.removesuffix(">").strip() if bracket else text.strip()
    if not _ADDRESS.fullmatch(address) or len(address) > 254:
        raise Refused(f"{what} has no mail address of the form name@host; write it as: Any Name <name@host>")
    name = fold(name)
    if len(name) > 1 and name[0] == name[-1] == '"':
        name = name[1:-1].replace('\\"', '"').replace("\\\\", "\\")
    return Address(display_name=_no_encoded_word(name), addr_spec=address)


def _checked(mail: bytes) -> bytes:
    """`mail`, if all its lines end in CRLF and none is too long. The rules above see to that; this proves it."""
    lines = mail.split(b"\r\n")
    if any(len(line) > LINE or b"\n" in line or b"\r" in line for line in lines):
        raise Refused("the mail has a line that a server may refuse: longer than 998 bytes, or not ended by CRLF")
    return mail
