"""The mail's bytes, read back by two parsers that know nothing of how it was made."""

from __future__ import annotations

import email
import re
from collections.abc import Sequence
from datetime import UTC, datetime
from email import policy
from email.message import EmailMessage
from email.utils import getaddresses
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from matins.brief import bundle, mail
from matins.rules.errors import Refused
from matins.rules.evidence import Evidence
from tests.brief.making import KEY, PROSE, edition, evidence, look

MESSAGE_KEY = f"{KEY}/edition/email/inbox"
SENT_AT = datetime(2026, 11, 30, 5, 2, 3, tzinfo=UTC)


def _build(items: Sequence[Evidence], looks: Sequence[Any] = (look("gazette"),), **parts: Any) -> bytes:
    draft, found = edition(items, looks)
    return mail.build(
        draft,
        bundle.bundle(draft, found),
        **{
            "sender": "Matins <matins@example.net>",
            "to": "sam@example.org",
            "message_key": MESSAGE_KEY,
            "message_id": mail.message_id(MESSAGE_KEY, "example.net"),
            "sent_at": SENT_AT,
            "list_id": "sam.matins.example.net",
            "unsubscribe": "mailto:matins@example.net?subject=stop",
        }
        | parts,
    )


def _heads(raw: bytes) -> dict[str, list[str]]:
    """The headers as plain splitting finds them, folded lines joined."""
    found: dict[str, list[str]] = {}
    for line in re.sub(rb"\r\n[ \t]+", b" ", raw.partition(b"\r\n\r\n")[0]).split(b"\r\n"):
        name, _, value = line.decode("ascii").partition(": ")
        found.setdefault(name, []).append(value)
    return found


def _parsed(raw: bytes) -> EmailMessage:
    message = email.message_from_bytes(raw, policy=policy.default)
    assert isinstance(message, EmailMessage)
    assert not message.defects
    return message


def _strict(raw: bytes) -> None:
    """What the strictest server asks: CRLF only, 7 bit, no line over 78 unless a header's token, none over 998."""
    assert raw.isascii()
    assert b"\0" not in raw
    lines = raw.split(b"\r\n")
    assert all(len(line) <= 998 and b"\n" not in line and b"\r" not in line for line in lines)
    assert all(len(line) <= 78 for line in raw.partition(b"\r\n\r\n")[2].split(b"\r\n"))


def test_the_mail_holds_the_whole_edition_in_two_forms() -> None:
    items = [evidence("Hourly ferries"), evidence("Bees return", source="b")]
    draft, found = edition(items)
    message = _parsed(_build(items))
    made = bundle.bundle(draft, found)
    assert message.get_content_type() == "multipart/alternative"
    text, html = message.iter_parts()
    assert (text.get_content_type(), html.get_content_type()) == ("text/plain", "text/html")
    assert text.get_content().replace("\r\n", "\n") == made["mail.txt"].decode()
    assert html.get_content().replace("\r\n", "\n") == made["mail.html"].decode()


def test_the_headers_are_those_a_mailbox_and_a_filter_need() -> None:
    heads = _heads(_build([evidence("Hourly ferries")]))
    assert heads == {
        "Message-ID": [mail.message_id(MESSAGE_KEY, "example.net")],
        "X-Matins-Message": [MESSAGE_KEY],
        "List-Id": ["<sam.matins.example.net>"],
        "List-Unsubscribe": ["<mailto:matins@example.net?subject=stop>"],
        "From": ["Matins <matins@example.net>"],
        "To": ["sam@example.org"],
        "Subject": ["Hourly ferries (Mon 30 Nov)"],
        "Date": ["Mon, 30 Nov 2026 05:02:03 +0000"],
        "Auto-Submitted": ["auto-generated"],
        "MIME-Version": ["1.0"],
        "Content-Type": heads["Content-Type"],
    }


def test_one_click_is_offered_only_with_an_https_address() -> None:
    both = "mailto:matins@example.net?subject=stop, https://matins.example.net/stop/abc"
    heads = _heads(_build([], unsubscribe=both))
    assert heads["List-Unsubscribe-Post"] == ["List-Unsubscribe=One-Click"]
    assert heads["List-Unsubscribe"] == [
        "<mailto:matins@example.net?subject=stop>, <https://matins.example.net/stop/abc>"
    ]
    assert "List-Unsubscribe" not in _heads(_build([], unsubscribe=""))


def test_the_same_inputs_give_the_same_bytes() -> None:
    items = [evidence("Hourly ferries"), evidence("Bées retourn ☀", source="b")]
    assert _build(items) == _build(list(reversed(items)))
    assert _build(items) != _build(items, message_key=f"{KEY}/edition/email/other")


@pytest.mark.parametrize(
    "title",
    [
        "Sarah's\nScribbles",
        "A\r\nBcc: x@example.com\r\n\r\nbody",
        "A lone\rreturn",
        "A\u2028line\u2029separator",
        "A\x00NUL and \x0b\x0c\x1c\x85 more",
        "=?utf-8?q?=0ABcc:_x@example.com?=",
        "==?utf-8?b?DQpCY2M6IHg=?=",
        "\u202egnitrevni text",
    ],
)
def test_a_line_break_in_a_title_neither_stops_the_mail_nor_adds_a_header(title: str) -> None:
    raw = _build([evidence(title, PROSE)])
    _strict(raw)
    heads = _heads(raw)
    assert set(heads) == set(_heads(_build([evidence("Plain")])))
    assert len(_parsed(raw)["Subject"].splitlines()) == 1
    assert "That is all for today." in _parsed(raw).get_body(("plain",)).get_content()


def test_no_line_is_too_long_whatever_the_text_is() -> None:
    items = [
        evidence("x" * 3000, "y" * 3000, source="a"),
        evidence("Long " * 600, "word " * 600 + "end.", source="b"),
        evidence("Link", PROSE, source="c", url=f"https://c.example/{'z' * 1500}"),
        evidence("Ünïcödé " * 30, "ß" * 3000 + ".", source="d"),
    ]
    raw = _build(items)
    _strict(raw)
    text = _parsed(raw).get_body(("plain",)).get_content()
    assert f"https://c.example/{'z' * 1500}" in text


@pytest.mark.parametrize("address", ["Okafor, Ada (Research) <ada@example.net>", 'Núñez; "J" <x> <n@example.net>',
                                     '"Okafor, Ada" <ada@example.net>', "ada@example.net"])  # fmt: skip
def test_a_name_with_commas_and_brackets_is_one_mailbox(address: str) -> None:
    name, _, spec = address.rpartition("<")
    wanted = (name.strip().strip('"') if name.startswith('"') else name.strip(), spec.rstrip(">"))
    message = _parsed(_build([], sender=address, to=address))
    for header in ("From", "To"):
        assert [(one.display_name, one.addr_spec) for one in message[header].addresses] == [wanted]
    raw = _heads(_build([], sender=address))["From"]
    assert [spec for _, spec in getaddresses(raw)] == [wanted[1]]


@pytest.mark.parametrize(
    "parts",
    [
        {"sender": "nobody"},
        {"to": "a@b.example, c@d.example"},
        {"to": "a@b.example\r\nBcc: c@d.example"},
        {"list_id": "a b"},
        {"unsubscribe": "javascript:stop"},
        {"unsubscribe": "mailto:a@b.example\r\nX: y"},
        {"message_key": "a\r\nb"},
        {"message_id": "<" + "a" * 1000 + "@example.net>"},
    ],
)
def test_what_cannot_stand_in_a_header_is_refused(parts: dict[str, str]) -> None:
    with pytest.raises(Refused):
        _build([], **parts)


def test_a_long_message_key_stays_in_one_piece_so_that_it_can_be_searched_for() -> None:
    key = f"{'o' * 32}/morning/2026-11-30/edition/email/{'d' * 32}"
    raw = _build([], message_key=key)
    assert f"\r\nX-Matins-Message: {key}\r\n".encode() in raw


def test_forty_long_stories_stay_below_a_hundred_kilobytes() -> None:
    items = [evidence(f"Story {n} {'é' * 150}", PROSE * 3, source=f"s{n}") for n in range(40)]
    draft, found = edition(items, long=20, short=20)
    raw = mail.build(
        draft, bundle.bundle(draft, found), sender="m@example.net", to="s@example.net", message_key=MESSAGE_KEY,
        message_id="<a@example.net>", sent_at=SENT_AT, list_id="a.b", unsubscribe="",
    )  # fmt: skip
    html = next(part for part in email.message_from_bytes(raw).walk() if part.get_content_type() == "text/html")
    assert len(str(html.get_payload())) < 100_000


@pytest.mark.parametrize(
    ("titles", "wanted"),
    [
        (["Aldermouth reopens Thursday", "Lodestone 9.3"], "Aldermouth reopens Thursday · Lodestone 9.3 (Mon 30 Nov)"),
        (["The port of Aldermouth reopens to container ships on Thursday", "B"],
         "The port of Aldermouth reopens to container… (Mon 30 Nov)"),
        (["Ferries sail", "Two rail unions accept the offer of the operator"],
         "Ferries sail · Two rail unions accept… (Mon 30 Nov)"),
    ],
)  # fmt: skip
def test_the_subject_is_the_lead_cut_at_words(titles: list[str], wanted: str) -> None:
    items = [
        evidence(title, PROSE, source=f"s{n}", published=SENT_AT.replace(hour=4 - n)) for n, title in enumerate(titles)
    ]
    draft, _ = edition(items)
    assert mail.subject(draft) == wanted
    assert len(mail.subject(draft)) <= 60


@pytest.mark.parametrize(
    ("looks", "wanted"),
    [
        ([look("a"), look("b")], "Nothing new: 2 sources, all reached (Mon 30 Nov)"),
        ([look("a"), look("b", reason="503")], "Nothing new: 1 source reached (Mon 30 Nov)"),
        ([look(f"x{n}", reason="503") for n in range(9)], "Could not look: 9 of 9 sources (Mon 30 Nov)"),
        ([], "Could not look: no sources yet (Mon 30 Nov)"),
    ],
)
def test_a_morning_without_news_says_so_in_its_subject(looks: list[Any], wanted: str) -> None:
    draft, _ = edition([], looks)
    assert mail.subject(draft) == wanted


@settings(max_examples=60, deadline=None)
@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=120))
@example(".")
@example("... .")
@example("00000000 00¡¡¡¡¡¡¡¡𐀀𐀀𐀀𐀀 ¡")
def test_any_title_comes_back_as_a_single_subject_of_sixty_characters(title: str) -> None:
    raw = _build([evidence(title, PROSE)])
    _strict(raw)
    draft, _ = edition([evidence(title, PROSE)])
    assert _parsed(raw)["Subject"] == mail.subject(draft)
    assert len(mail.subject(draft)) <= 60


@pytest.mark.parametrize("raw", [b"a\nb\r\n", b"a\rb\r\n", b"x" * 999 + b"\r\n"])
def test_bytes_that_a_strict_server_refuses_never_leave(raw: bytes) -> None:
    with pytest.raises(Refused, match="998 bytes"):
        mail._checked(raw)
