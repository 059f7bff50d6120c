"""Material of the wiki for the tests, each with one call, and its pages as a browser and a renderer read them."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from html.parser import HTMLParser

from markdown_it import MarkdownIt

from matins.brief import wiki
from matins.rules.wiki import Card, Index, Listed, ListedTopic, Material, Story, Summary, Topic

AT = datetime(2026, 11, 30, 22, 30, tzinfo=UTC)
DAY = date(2026, 11, 30)
STORY, OTHER, TOPIC = "3f2a" * 16, "bb01" * 16, "a1b2" * 16
VOID = {"meta", "br", "hr"}


def summary(title: str, text: str, at: datetime = AT) -> Summary:
    return Summary(title, text, "quoted", at)


def card(**changed: object) -> Card:
    plain = Card("k", "h", "Harbour Gazette", "https://g.example/1", "Crane falls", AT - timedelta(hours=3), AT, DAY)
    return replace(plain, **changed)


def story(**changed: object) -> Story:
    plain = Story(
        owner="sam",
        page_id=STORY,
        zone="Europe/Helsinki",
        topic="shipping",
        topic_id=TOPIC,
        current=summary("The port reopens", "Two berths are open.\n\nThe queue is gone."),
        history=(summary("Port closed", "A crane fell.", AT - timedelta(days=1)),),
        cards=(card(),),
        told=(DAY, date(2026, 11, 29)),
        related=((OTHER, "A second tug"),),
    )
    return replace(plain, **changed)


def topic(stories: int = 2) -> Topic:
    listed = [Listed(page_id, "The port reopens", date(2026, 11, 29), DAY, 4) for page_id in (STORY, OTHER)]
    return Topic("sam", TOPIC, "shipping", tuple((listed * stories)[:stories]))


INDEX = Index("sam", "index", (ListedTopic(TOPIC, "shipping", 2, DAY),))


class Html(HTMLParser):
    """The bare structure of a page, and its texts; a tag that is closed wrongly is an error."""

    def __init__(self, material: Material) -> None:
        super().__init__(convert_charrefs=True)
        self.shape: list[object] = []
        self.texts: list[str] = [""]
        self.hrefs: list[str] = []
        self.open: list[str] = []
        self.feed(wiki.pages(material)[".html"].decode())
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        kept = [(name, value) for name, value in attrs if name != "href"]
        self.shape.append((tag, kept, len(attrs)))
        self.hrefs += [value or "" for name, value in attrs if name == "href"]
        self.texts.append("")
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag
        self.texts.append("")

    def handle_data(self, data: str) -> None:
        self.texts[-1] += data

    def handle_comment(self, data: str) -> None:
        self.shape.append(("comment", data))

    @property
    def said(self) -> str:
        return " ".join(" ".join(self.texts[self.texts.index("Matins") :]).split())


class Markdown:
    """The same of a page's Markdown, as GitHub's tables and strikethrough and raw HTML would have it."""

    def __init__(self, material: Material) -> None:
        self.shape: list[object] = []
        self.texts: list[str] = [""]
        self.hrefs: list[str] = []
        self.source = wiki.pages(material)[".md"].decode()
        renderer = MarkdownIt("commonmark").enable(["table", "strikethrough"])
        for token in renderer.parse(self.source):
            self.shape.append((token.type, token.tag))
            for part in token.children or ():
                if part.type == "text":
                    self.texts[-1] += part.content
                    continue
                self.shape.append((part.type, part.tag))
                self.texts.append("")
                self.hrefs += [str(part.attrs["href"])] if part.type == "link_open" else []
            self.texts.append("")
