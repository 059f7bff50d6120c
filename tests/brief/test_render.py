"""The files of an edition, read back as a browser, a mail program and a reader of text would."""

from __future__ import annotations

import json
import re
from collections import Counter
from datetime import timedelta
from html.parser import HTMLParser
from typing import Any

import pytest
from markdown_it import MarkdownIt

from matins.brief import bundle, letter, links, phrases
from matins.rules.canonical import sha256
from matins.rules.evidence import Evidence, SourceLook
from tests.brief.making import AT, PROSE, edition, evidence, files, look

VOID = {"meta", "br", "hr", "img", "input", "link"}
HOSTILE = (
    "<script>alert(1)</script><img src=x onerror=y> & \"quotes\" 'too' &lt;b&gt; [a](javascript:b) `c` *d* </style>"
)

BOARD = {"name": "acme", "kind": "greenhouse", "board": "acme"}


class _Document(HTMLParser):
    """Tags, attributes and text of a page; a tag that is closed wrongly is an error."""

    def __init__(self, source: bytes) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: Counter[str] = Counter()
        self.attributes: list[tuple[str, str, str]] = []
        self.text: list[str] = []
        self.open: list[str] = []
        self.feed(source.decode())
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags[tag] += 1
        self.attributes += [(tag, name, value or "") for name, value in attrs]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        assert tag in VOID

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if not self.open or self.open[-1] not in ("style", "title"):
            self.text.append(data)

    @property
    def hrefs(self) -> list[str]:
        return [value for _, name, value in self.attributes if name == "href"]

    @property
    def said(self) -> str:
        return " ".join("".join(self.text).split())


def _hostile() -> list[Evidence]:
    return [
        evidence(HOSTILE, f"{PROSE} {HOSTILE} Then it ended.", source="a", url="javascript:alert(1)", name=HOSTILE),
        evidence("Bees return", f"The {HOSTILE} bees came home.", source="b", url='https://b.example/"><script>'),
        evidence("Opera cut", source="c", url="https://user:pass@c.example/"),
        evidence("Chess cup", source="d", url="https://d.example/?a=1&b='2'"),
    ]


@pytest.mark.parametrize("name", ["index.html", "mail.html"])
def test_hostile_text_stays_text(name: str) -> None:
    page = _Document(files(_hostile())[name])
    assert set(page.tags) <= {
        *("html", "head", "meta", "title", "style", "body", "main", "header", "div", "h1", "h2", "h3", "p", "time"),
        *("nav", "a", "article", "section", "span", "footer", "ol", "li", "table", "tbody", "tr", "td", "br"),
    }
    assert not [attribute for _, attribute, _ in page.attributes if attribute.startswith("on") or attribute == "src"]
    assert {href for href in page.hrefs if ":" in href} == {"https://d.example/?a=1&b='2'"}
    assert phrases.cut(HOSTILE, 200) in page.said


def test_hostile_text_stays_text_in_markdown() -> None:
    html = MarkdownIt("commonmark", {"html": True}).render(files(_hostile())["brief.md"].decode())
    page = _Document(html.encode())
    assert set(page.tags) <= {"h1", "h2", "h3", "p", "a", "br", "hr", "blockquote", "strong"}
    assert [href.replace("%27", "'") for href in page.hrefs] == ["https://d.example/?a=1&b='2'"]
    assert phrases.cut(HOSTILE, 200) in page.said


@pytest.mark.parametrize(
    "title",
    ["1. A list", "2) Another", "- dash", "+ plus", "# heading", "> quote", "=== under", "~~~ fence", "    code",
     "a | b", "&amp; and &copy;", "\\backslash \\* star", "<https://a.example>", "https://a.example/b", "Setext\n==="],
)  # fmt: skip
def test_markdown_shows_a_title_as_it_is(title: str) -> None:
    draft, found = edition([evidence(title, f"{title}\n\n{title} is what this was about on Sunday.")])
    page = _Document(MarkdownIt("commonmark").render(bundle.bundle(draft, found)["brief.md"].decode()).encode())
    assert f"1. {phrases.fold(title)}" in page.said
    assert not set(page.tags) & {"ul", "ol", "code", "pre"}


def test_the_page_asks_for_nothing_and_every_story_can_be_linked() -> None:
    draft, found = edition([evidence("Hourly ferries"), evidence("Bees return", source="b")])
    page = _Document(bundle.bundle(draft, found)["index.html"])
    assert not page.tags.keys() & {"script", "link", "img", "iframe", "form", "object", "video", "audio"}
    assert [value for tag, name, value in page.attributes if (tag, name) == ("article", "id")] == ["s1", "s2"]
    assert not re.search(r"url\(|@import|@font-face", bundle.bundle(draft, found)["index.html"].decode())
    assert ("html", "lang", "en") in page.attributes


@pytest.mark.parametrize("name", ["index.html", "mail.html", "mail.txt", "brief.md"])
def test_every_file_tells_the_whole_edition_and_ends(name: str) -> None:
    items = [evidence("Hourly ferries"), evidence("Bees return", "The bees came home on Sunday.", source="b")]
    data = files(items, [look("gazette"), look("lwn", reason="503")], interests={"shipping": ["ferries"]})[name]
    said = _Document(data).said if name.endswith(".html") else " ".join(data.decode().split()).replace("\\", "")
    for part in ("Hourly ferries", "The ferry to the outer islands", "Bees return", "The bees came home on Sunday.",
                 "Because you follow: shipping", "Not seen today: Lwn.", "1 of 2 sources; not seen: Lwn (503)",
                 "Quoted from the sources, no model used.", "Times in London.", "That is all for today."):  # fmt: skip
        assert part in said


@pytest.mark.parametrize("name", ["index.html", "mail.html", "mail.txt", "brief.md"])
def test_a_source_that_broke_off_is_named_above_the_stories_as_read_in_part(name: str) -> None:
    broken = SourceLook("gazette", "Gazette", True, 0, "broke off after 12 entries", None, partial=True)
    data = files([evidence("Hourly ferries")], [broken, look("lwn")])[name]
    said = _Document(data).said if name.endswith(".html") else " ".join(data.decode().split()).replace("\\", "")
    assert "Read only in part: Gazette (broke off after 12 entries)." in said
    assert "all 2 sources" in said.casefold()


@pytest.mark.parametrize(("openings", "linked"), [({"boards": [BOARD], "titles": ["engineer"]}, True), (None, False)])
def test_the_page_leads_to_the_openings_where_boards_are_named(openings: dict[str, Any] | None, linked: bool) -> None:
    page = files([evidence("Hourly ferries")], **({"openings": openings} if openings else {}))["index.html"]
    assert ("openings.html" in _Document(page).hrefs) is linked


def test_links_are_those_of_the_evidence_and_no_others() -> None:
    draft, found = edition([evidence("Hourly ferries"), evidence("Bees return", source="b")])
    known = {item["url"] for item in found["items"]}
    made = bundle.bundle(draft, found)
    assert set(_Document(made["mail.html"]).hrefs) == known
    assert {href for href in _Document(made["index.html"]).hrefs if "//" in href} == known
    assert set(re.findall(r"https?://\S+", made["mail.txt"].decode())) == known


@pytest.mark.parametrize(
    "url",
    ["http://127.0.0.1:8420/demo", "http://localhost/a", "http://[::1]/a", "http://10.0.0.3/a", "http://box.local/a"],
)
def test_the_mail_has_no_link_that_leads_nowhere_on_a_phone(url: str) -> None:
    made = files([evidence("Hourly ferries", url=url)])
    assert _Document(made["mail.html"]).hrefs == []
    assert url.encode() not in made["mail.txt"]
    assert url in _Document(made["index.html"]).hrefs


@pytest.mark.parametrize(
    "url", ["javascript:a", "data:text/html,a", "https://", "https://a.example/ b", "https://a.example/\n", "ftp://a.b",
            "https://u:p@a.example/", "https://a.example/\"b", "https://a.example/<", "", "https://[::1/",
            "//a.example"],
)  # fmt: skip
def test_only_plain_web_addresses_become_links(url: str) -> None:
    assert links.web(url) == ""


def test_the_text_part_keeps_to_72_columns_with_numbered_links_below() -> None:
    text = files([evidence("Hourly ferries " * 8), evidence("Bees return", source="b")])["mail.txt"].decode()
    body, _, below = text.rpartition("\n\n")
    assert max(map(len, body.splitlines())) <= 72
    assert [line.partition(" ")[0] for line in below.splitlines()] == ["[1]", "[2]"]
    assert "Gazette 02:01 [2]" in body


def test_the_preheader_is_the_second_and_third_headline() -> None:
    items = [evidence(t, source=t[0], published=AT - timedelta(hours=n)) for n, t in enumerate(["One", "Two", "Three"])]
    draft, _ = edition(items)
    assert letter.preheader(draft) == "Two · Three"


def test_a_mail_of_long_titles_and_addresses_stays_below_sixty_kilobytes() -> None:
    wide = "\U0001f6a2<&" * 60
    items = [
        evidence(f"{n} {wide}", f"{PROSE} {wide}", source=f"s{n}", url=f"https://s{n}.example/{'a' * 1900}")
        for n in range(40)
    ]
    made = files(items, long=20, short=20)
    assert len(made["mail.html"]) <= letter.LIMIT
    assert "more in the stored edition." in made["mail.html"].decode()
    assert "That is all for today." in made["mail.html"].decode()
    _Document(made["mail.html"])


@pytest.mark.parametrize(
    ("looks", "kind", "said"),
    [
        ([look("gazette")], "empty", "Nothing new in your one source, reached at 05:01."),
        ([look("a", reason="timed out")], "blind", "I could not look: your only source did not answer (timed out)."),
    ],
)
def test_an_empty_and_a_blind_edition_look_different(looks: list, kind: str, said: str) -> None:  # type: ignore[type-arg]
    made = files([], looks)
    assert said in _Document(made["mail.html"]).said
    assert f'<main class="{kind}">' in made["index.html"].decode()
    assert said in made["mail.txt"].decode().replace("\n", " ")


def test_same_draft_and_evidence_give_the_same_bytes_and_the_manifest_names_them() -> None:
    items = [evidence("Hourly ferries"), evidence("Bees return", source="b")]
    made = files(items)
    assert made == files(list(reversed(items)))
    listed = json.loads(bundle.manifest(made))["files"]
    assert [(one["name"], one["bytes"], one["sha256"]) for one in listed] == [
        (name, len(data), sha256(data)) for name, data in sorted(made.items())
    ]
    assert sorted(made) == ["brief.json", "brief.md", "evidence.jsonl", "index.html", "mail.html", "mail.txt"]
    rows = [json.loads(line) for line in made["evidence.jsonl"].splitlines()]
    assert {row["title"] for row in rows} == {"Hourly ferries", "Bees return"}
