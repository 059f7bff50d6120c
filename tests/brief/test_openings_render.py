"""A report of openings as files and as a mail: everything in it is said, and nothing from a board makes structure."""

from __future__ import annotations

import json
from dataclasses import replace
from email import message_from_bytes, policy
from html.parser import HTMLParser
from typing import Any

import pytest
from markdown_it import MarkdownIt

from matins.brief.inner import inner_words
from matins.brief.openings_letter import LIMIT, build, letter, worth_a_mail
from matins.brief.openings_render import rendered
from matins.brief.openings_sheet import headline
from matins.rules.canonical import canonical
from matins.rules.errors import Refused
from matins.rules.openings import BoardLook
from tests.brief.boards import AT, DAY, WANTS, look, mornings, posting, unreached

ZONE = "Europe/London"
HOSTILE = [
    "<script>alert(1)</script> Engineer",
    'Engineer" onclick="x()',
    "# Engineer",
    "- Engineer [x](https://evil.example)",
    "Engineer `code` | *bold* | ![i](https://evil.example/i.png)",
    "Engineer https://evil.example/ www.evil.example",
    "1. Engineer\n\n## Heading\n",
    "\u202eEngineer\u202c &lt;b&gt; </li></ul>",
]
FIRST = look(posting(), posting("2", "Database Engineer", place="London; Oslo"))
NEXT = look(posting(), posting("3", "Engineer, Cranes", seen=AT + DAY))


KEPT = "its roles stand as they were last seen"


class _Page(HTMLParser):
    """The tags, the links and the text of a page."""

    def __init__(self, markup: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: set[str] = set()
        self.links: list[str] = []
        self.text = ""
        self.feed(markup)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes |= {name for name, _ in attrs}
        self.links += [str(value) for name, value in attrs if name == "href"]

    def handle_data(self, data: str) -> None:
        self.text += data


def _html(document: dict[str, Any]) -> str:
    return rendered(document, zone=ZONE)["openings.html"].decode()


def _md(document: dict[str, Any]) -> str:
    return rendered(document, zone=ZONE)["openings.md"].decode()


@pytest.mark.parametrize(
    ("looks", "says"),
    [
        ([FIRST], "2 open, first look"),
        ([FIRST, NEXT], "1 new, 2 open, 1 gone"),
        ([FIRST, NEXT, NEXT], "2 open"),
        ([FIRST, unreached()], "2 open, 1 board not checked"),
        ([FIRST, look()], "2 open"),
        ([FIRST, look(), look()], "0 open, 2 gone"),
        ([look()], "1 board unverified"),
        ([look(), look()], "0 open"),
        ([unreached()], "1 board not checked"),
        ([[unreached(), look(name="beta"), unreached("cove")]], "2 boards not checked, 1 board unverified"),
        ([look(*(posting(str(n), team=str(n)) for n in range(1200)))], "1,200 open, first look"),
    ],
)
def test_the_headline_counts_what_is_known_and_names_what_is_not(looks: list[Any], says: str) -> None:
    assert headline(mornings(*looks)) == says


@pytest.mark.parametrize(
    ("looks", "note"),
    [
        ([FIRST, unreached()], f"acme: not checked today, since Sun 29 (did not answer in time); {KEPT}."),
        ([unreached()], "acme: not checked today, since Sun 29 (did not answer in time)."),
        ([look()], "acme: its first answer lists no role at all. That is unverified, and checked again "),
        ([FIRST, look()], f"acme: says it has none; checked again tomorrow; {KEPT}."),
        ([FIRST, NEXT], ""),
        ([FIRST, look(), look()], ""),
    ],
)
def test_a_board_that_is_not_believed_is_named_above_everything(looks: list[Any], note: str) -> None:
    made = mornings(*looks)
    pages = _Page(_html(made)).text, letter(made, zone=ZONE)[1].replace("\n  ", " ")
    for page in pages:
        assert (note in page) if note else ("not checked" not in page and "unverified" not in page)
    assert ('class="warning"' in _html(made)) is bool(note)


def test_empty_sections_are_left_out_and_the_others_come_in_their_order() -> None:
    def headings(*looks: BoardLook) -> list[str]:
        return [line[3:] for line in _md(mornings(*looks)).splitlines() if line.startswith("## ")]

    assert headings(FIRST) == ["The best for you"]
    assert headings(look(*(posting(str(n), team=str(n)) for n in range(5)))) == ["The best for you", "Open"]
    assert headings(FIRST, NEXT) == ["New", "Open", "Gone"]
    assert headings(FIRST, FIRST) == ["Open"]
    assert headings(look()) == []
    assert "Whether there are any roles for you is not known today." in _md(mornings(look()))
    assert "No role for you where it could be looked." in _md(mornings(look(posting(title="Cook"))))


def test_a_role_is_shown_with_its_places_its_team_its_board_since_when_and_why() -> None:
    role = look(posting(published=AT - 3 * DAY), posting("2", place="Remote", seen=AT - DAY))
    assert (
        "- [Engineer](<https://acme.example/1>)  \n"
        "  [London](<https://acme.example/1>); [Remote](<https://acme.example/2>) · acme · Storage · "
        "listed since Fri 27  \n  Title says engineer; London, remote\n"
    ) in _md(mornings(role))
    assert "· seen since 05:01" in _md(mornings(FIRST))
    assert "· seen since 05:01" in _md(mornings(look(posting(published=AT + 9 * DAY))))
    assert "not checked today" in _md(mornings(FIRST, unreached())).partition("## Open")[2]
    many = look(posting(place="; ".join(f"Town {n}" for n in range(11))))
    assert "Town 7; 3 more places ·" in _md(mornings(many, wants=replace(WANTS, places=())))


def test_the_foot_says_what_was_asked_for_what_was_left_out_and_what_each_board_lists() -> None:
    made = mornings([look(posting(), posting("2", "Cook")), unreached("beta"), look(name="cove")])
    foot = _md(made).partition("---\n")[2]
    assert "Asked for: engineer or database; in London or remote; without manager." in foot
    assert "Left out: 1 (the title says none of your words)." in foot
    assert "Boards: acme 2 roles, first look, beta never seen and cove unverified. Times in London." in foot


@pytest.mark.parametrize("title", HOSTILE)
def test_text_from_a_board_is_text_in_every_file(title: str) -> None:
    plain, evil = posting(title="Engineer", team="T"), posting(title=title, team=title, place=title)
    wants = replace(WANTS, places=())
    calm, wild = (mornings(look(one), wants=wants) for one in (plain, evil))
    assert _Page(_html(wild)).tags == _Page(_html(calm)).tags
    assert _Page(letter(wild, zone=ZONE)[2]).tags == _Page(letter(calm, zone=ZONE)[2]).tags
    allowed = {"href", "rel", "class", "datetime", "lang", "charset", "name", "content", "http-equiv", "style", "role"}
    assert _Page(_html(wild)).attributes <= allowed
    shown = MarkdownIt("commonmark", {"html": True}).render(_md(wild))
    page = _Page(shown)
    assert page.tags == _Page(MarkdownIt("commonmark", {"html": True}).render(_md(calm))).tags
    assert set(page.links) == {"https://acme.example/1"}
    assert " ".join(title.replace("\u202e", "").replace("\u202c", "").split()) in page.text


@pytest.mark.parametrize("url", ["javascript:alert(1)", "https://a:b@acme.example/", 'https://acme.example/"><b>', ""])
def test_an_address_that_is_no_link_is_none(url: str) -> None:
    made = mornings(look(posting(url=url)))
    assert _Page(_html(made)).links == ["openings.md"]
    assert _Page(letter(made, zone=ZONE)[2]).links == []
    assert "[1]" not in letter(made, zone=ZONE)[1]


def test_an_address_on_this_machine_is_a_link_on_the_page_and_none_in_a_mail() -> None:
    made = mornings(look(posting(url="http://127.0.0.1:8080/1")))
    assert "http://127.0.0.1:8080/1" in _Page(_html(made)).links
    assert _Page(letter(made, zone=ZONE)[2]).links == []
    assert "127.0.0.1" not in letter(made, zone=ZONE)[1]


def test_the_page_asks_for_nothing_and_the_same_report_gives_the_same_bytes() -> None:
    made = mornings(FIRST, NEXT)
    files = rendered(made, zone=ZONE)
    assert sorted(files) == ["openings.html", "openings.json", "openings.md"]
    assert files["openings.json"] == canonical(made)
    assert rendered(json.loads(files["openings.json"]), zone=ZONE) == files
    assert b"default-src 'none'" in files["openings.html"]
    assert not {"script", "img", "link", "iframe"} & set(_Page(_html(made)).tags)


def test_no_word_of_the_inside_is_in_any_of_it() -> None:
    for looks in ([FIRST, NEXT], [FIRST, unreached()], [FIRST, look()], [look()], [FIRST, look(), look()]):
        made = mornings(*looks)
        assert inner_words(_Page(_html(made)).text + _md(made) + letter(made, zone=ZONE)[1]) == []


def test_a_mail_is_worth_it_when_there_is_something_to_tell() -> None:
    told = {"first": [FIRST], "new": [FIRST, NEXT], "gone": [FIRST, look(posting())]}
    assert all(worth_a_mail(mornings(*looks)) for looks in told.values())
    assert not worth_a_mail(mornings(FIRST, FIRST))
    assert not worth_a_mail(mornings(FIRST, unreached()))


def _mail(document: dict[str, Any], **changes: str) -> bytes:
    heads = {
        "sender": "Matins <matins@example.net>",
        "to": "sam@example.net",
        "message_key": "sam/morning/2026-12-01/openings/email/inbox",
        "message_id": "<abc@example.net>",
        "list_id": "sam.matins.example.net",
        "unsubscribe": "mailto:matins@example.net?subject=stop",
    }
    return build(document, zone=ZONE, sent_at=AT, **heads | changes)


def test_the_mail_is_one_of_matins_own_with_the_report_in_both_parts() -> None:
    made = mornings(FIRST, NEXT)
    assert _mail(made) == _mail(made)
    mail = message_from_bytes(_mail(made), policy=policy.default)
    assert mail["Subject"] == "Openings: 1 new, 2 open, 1 gone (Tue 1 Dec)"
    assert (mail["Message-ID"], mail["To"]) == ("<abc@example.net>", "sam@example.net")
    text, html = (part.get_content().replace("\r\n", "\n") for part in mail.iter_parts())
    assert (
        "NEW\n\nEngineer, Cranes [1]\n   London · acme · Storage · seen since 05:01\n   Title says engineer; London"
        in text
    )
    assert text.rstrip().endswith("[1] https://acme.example/3\n[2] https://acme.example/1")
    assert max(map(len, text.splitlines())) <= 72
    assert _Page(html).links == ["https://acme.example/3", "https://acme.example/1"]
    with pytest.raises(Refused):
        _mail(made, to="nobody")


def test_a_mail_of_very_many_roles_stays_small_and_counts_the_rest() -> None:
    board = look(*(posting(str(n), f"Engineer {n} " + "x" * 250, team=str(n)) for n in range(400)))
    made = mornings(look(posting()), board)
    subject, text, html = letter(made, zone=ZONE)
    assert len(html.encode()) <= LIMIT
    assert len(subject) <= 60
    assert "more in the stored report" in html
    assert "more in the stored report" in text
    assert "and 99 more" in _html(made)
