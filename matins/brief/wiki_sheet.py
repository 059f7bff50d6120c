"""What stands on a page of the wiki and in which order, before it is HTML or Markdown. All text is on one line here."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime

from matins.brief import links, phrases
from matins.brief.coverage import source_name
from matins.rules import calendar
from matins.rules.wiki import FOLDERS, Card, Index, Listed, ListedTopic, Material, PageKind, Story, Topic, path

STORIES = 300
"""So many stories are listed on a topic's page, or topics on the index; the others are counted."""
UNFOLLOWED = "Other stories"
UNTITLED = "Without a title"
ORIGIN = "This page was generated from the sources by Matins and is never used as a source itself."


@dataclass(frozen=True, slots=True)
class When:
    """A day or an instant: as read, and in ISO 8601."""

    text: str
    iso: str


@dataclass(frozen=True, slots=True)
class Fact:
    """A piece of small print: words, and the time that they lead up to. Either may be missing."""

    text: str
    when: When | None = None


@dataclass(frozen=True, slots=True)
class Link:
    """Text that leads somewhere; text alone if `address` is ""."""

    text: str
    address: str
    inner: bool = False
    """To a page of this wiki: relative, and the ending of the form is still to be added."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A line of a list, and the small print under it."""

    link: Link
    facts: tuple[Fact, ...] = ()


@dataclass(frozen=True, slots=True)
class Version:
    """An earlier text. `title` is "" if it was the same as in the text that followed."""

    when: When
    title: str
    paragraphs: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Section:
    """A heading, and one kind of thing under it."""

    heading: str
    """"" where the page's title says it."""
    body: tuple[Entry, ...] | tuple[Version, ...] | tuple[When, ...]
    more: str = ""
    """What the list does not show, counted."""


@dataclass(frozen=True, slots=True)
class Sheet:
    """A page."""

    kind: PageKind
    name: str
    """Its file, without the ending."""
    title: str
    trail: tuple[Link, ...]
    """The pages above this one, the index first."""
    facts: tuple[Fact, ...]
    paragraphs: tuple[str, ...]
    sections: tuple[Section, ...]
    foot: tuple[str, ...]


def sheet(material: Material) -> Sheet:
    """The page of `material`."""
    match material:
        case Story():
            return _story(material)
        case Topic():
            return _topic(material)
        case Index():
            return _index(material)


def _story(story: Story) -> Sheet:
    here = PageKind.STORY
    topic = Link(_topic_name(story.topic), _to(here, PageKind.TOPIC, story.topic_id), inner=True)
    related = tuple(Entry(Link(_title(title), _to(here, here, to), inner=True)) for to, title in story.related)
    sections = (
        Section("How it changed", _versions(story)),
        Section("Told in", tuple(When(f"{phrases.short_date(day)} {day.year}", day.isoformat()) for day in story.told)),
        Section("Sources", tuple(_card(card, story.zone) for card in story.cards)),
        Section(f"More on {topic.text}" if topic.text != UNFOLLOWED else UNFOLLOWED, related),
    )
    return Sheet(
        kind=here,
        name=story.page_id,
        title=_title(story.current.title),
        trail=(_home(story.owner, here), *([topic] if story.topic_id else [])),
        facts=(Fact("Brought up to date", _instant(story.current.accepted_at, story.zone)),),
        paragraphs=tuple(phrases.paragraphs(story.current.text)),
        sections=tuple(section for section in sections if section.body),
        foot=(ORIGIN, f"Times in {phrases.place(story.zone)}."),
    )


def _versions(story: Story) -> tuple[Version, ...]:
    titles = [_title(text.title) for text in (story.current, *story.history)]
    return tuple(
        Version(
            _instant(text.accepted_at, story.zone),
            title if title != newer else "",
            tuple(phrases.paragraphs(text.text)),
        )
        for text, title, newer in zip(story.history, titles[1:], titles, strict=False)
    )


def _card(card: Card, zone: str) -> Entry:
    at = card.published_at
    dated = at is not None and 1 < at.year < 9999  # an empty date in a feed is often year 1, which no zone can show
    when = _instant(at if at and dated else card.first_seen_at, zone, short=True)
    address = links.web(card.url) if phrases.fold(card.url) == card.url else ""
    facts = (
        Fact(source_name(card.source_name)),
        Fact("" if dated else "seen", when),
        Fact("told", _day(card.told_on, short=True)),
    )
    return Entry(Link(_title(card.title), address), facts)


def _topic(topic: Topic) -> Sheet:
    stories = tuple(map(_listed, topic.stories[:STORIES]))
    return Sheet(
        kind=PageKind.TOPIC,
        name=topic.page_id,
        title=_topic_name(topic.topic),
        trail=(_home(topic.owner, PageKind.TOPIC),),
        facts=(Fact(_count(len(topic.stories), "story", "stories")),),
        paragraphs=(),
        sections=(Section("", stories, _more(len(topic.stories))),),
        foot=(ORIGIN,),
    )


def _listed(story: Listed) -> Entry:
    first, last = _day(story.first_told, short=True), _day(story.last_told, short=True)
    told = (Fact("told", last),) if first == last else (Fact("first told", first), Fact("last told", last))
    to = _to(PageKind.TOPIC, PageKind.STORY, story.page_id)
    return Entry(Link(_title(story.title), to, inner=True), (*told, Fact(_count(story.pieces, "source note"))))


def _index(index: Index) -> Sheet:
    topics = sorted(index.topics, key=_topic_order)
    return Sheet(
        kind=PageKind.INDEX,
        name="index",
        title=_whose(index.owner),
        trail=(),
        facts=(Fact(_count(len(index.topics), "topic")),),
        paragraphs=(),
        sections=(Section("", tuple(map(_listed_topic, topics[:STORIES])), _more(len(index.topics))),),
        foot=(ORIGIN,),
    )


def _topic_order(topic: ListedTopic) -> tuple[bool, int, str, str]:
    """Most stories first, then by name; what follows no topic comes last."""
    name = _topic_name(topic.topic)
    return (name == UNFOLLOWED, -topic.stories, name.casefold(), topic.page_id)


def _listed_topic(topic: ListedTopic) -> Entry:
    to = Link(_topic_name(topic.topic), _to(PageKind.INDEX, PageKind.TOPIC, topic.page_id), inner=True)
    last = _day(topic.last_told, short=True)
    return Entry(to, (Fact(_count(topic.stories, "story", "stories")), Fact("last told", last)))


def _to(here: PageKind, kind: PageKind, page_id: str) -> str:
    """From a page of the kind `here` to a page of the wiki, relatively, without the ending."""
    to = path(kind, page_id)
    if kind is here:
        return to.removeprefix(FOLDERS[here])
    return "../" * FOLDERS[here].count("/") + to


def _home(owner: str, here: PageKind) -> Link:
    return Link(_whose(owner), _to(here, PageKind.INDEX, ""), inner=True)


def _whose(owner: str) -> str:
    return f"{phrases.capital(phrases.fold(owner))}’s wiki"


def _title(text: str) -> str:
    return phrases.fold(text) or UNTITLED


def _topic_name(topic: str) -> str:
    """The topic as its owner spells it: "eBPF" stays that."""
    return phrases.fold(topic) or UNFOLLOWED


def _count(count: int, one: str, many: str = "") -> str:
    return phrases.counted(count, one, many) if count else f"no {one} yet"


def _more(count: int) -> str:
    return f"and {count - STORIES:,} more" if count > STORIES else ""


def _day(day: date, *, short: bool = False) -> When:
    """ "Monday 30 November 2026", or "30 Nov 2026"."""
    if short:
        return When(f"{day.day} {phrases.MONTHS[day.month - 1][:3]} {day.year}", day.isoformat())
    return When(phrases.long_date(day), day.isoformat())


def _instant(at: datetime, zone: str, *, short: bool = False) -> When:
    """The day and the clock of the zone: "Monday 30 November 2026, 05:03"."""
    local = at.astimezone(calendar.zone(zone))
    day = _day(local.date(), short=short)
    return When(f"{day.text}, {local:%H:%M}", local.isoformat(timespec="minutes"))
