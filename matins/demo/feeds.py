"""The demo's sources as feeds in three formats, and its owner's profile. Pure: the same day gives the same bytes."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from email.utils import format_datetime
from html import escape

from matins.demo import boards
from matins.demo.stories import NEWS, OLDER, Told
from matins.rules import calendar

ZONE = "Europe/London"
OWNER = "demo"
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


@dataclass(frozen=True, slots=True)
class DemoSource:
    """One source of the demo."""

    name: str
    title: str
    form: str
    """`rss`, `atom` or `json`."""

    @property
    def path(self) -> str:
        """Its path on the demo's server."""
        return f"/{self.name}.{'json' if self.form == 'json' else 'xml'}"

    @property
    def site(self) -> str:
        """Where its stories would be, were they real: a name that is reserved and leads nowhere."""
        return f"https://{self.name}.example"


SOURCES = (
    DemoSource("harbour-gazette", "Harbour Gazette", "rss"),
    DemoSource("aldermouth-echo", "Aldermouth Echo", "atom"),
    DemoSource("lodestone-releases", "Lodestone Releases", "atom"),
    DemoSource("database-notebook", "Database Notebook", "json"),
    DemoSource("coast-rail-watch", "Coast Rail Watch", "rss"),
    DemoSource("energy-coast", "Energy Coast", "json"),
    DemoSource("low-orbit-letter", "Low Orbit Letter", "rss"),
    DemoSource("software-commons", "Software Commons", "atom"),
)

UNREACHABLE_NAME = "harbour-news"
UNREACHABLE_HOST = "127.0.0.1:1"
UNREACHABLE_URL = f"http://{UNREACHABLE_HOST}/harbour-news.xml"
"""The ninth source: nothing listens there (port 1 is the multiplexer that nobody runs), so it refuses to connect."""

PROFILE = """\
# The demo's owner. Copy it to profiles/you.toml and make it yours.
owner = "demo"
name = "Demo"
zone = "Europe/London"
window = "00:00-23:59"
long = 5
short = 4

[interests]
shipping = ["port", "pilot", "container", "cargo ship"]
databases = ["database", "Lodestone", "index"]
rail = ["rail", "train"]
energy = ["turbine", "heat", "electricity"]
space = ["satellite", "orbit"]

[[destinations]]
name = "inbox"
address = "demo@localhost.localdomain"
proof = "mailbox"
"""


def sources(base_url: str) -> tuple[tuple[str, str], ...]:
    """(name, URL) of the nine sources, the last of which cannot be reached; `base_url` is the demo server's."""
    served = tuple((source.title, base_url.rstrip("/") + source.path) for source in SOURCES)
    return (*served, (UNREACHABLE_NAME, UNREACHABLE_URL))


def feeds(day: date) -> dict[str, tuple[str, bytes]]:
    """The eight feeds as they stand on `day`: path -> (content type, body). Every item is older than the day."""
    return {source.path: _feed(source, day) for source in SOURCES}


def pages(day: date) -> dict[str, tuple[str, bytes]]:
    """All that the demo's server serves on `day`: the feeds, and the job board."""
    return feeds(day) | boards.pages(day)


def _feed(source: DemoSource, day: date) -> tuple[str, bytes]:
    told = sorted((one for one in (*NEWS, *OLDER) if one.source == source.name), key=lambda one: one.age)
    entries = [_entry(source, one, day) for one in told]
    match source.form:
        case "rss":
            return "application/rss+xml; charset=utf-8", _rss(source, entries).encode()
        case "atom":
            return "application/atom+xml; charset=utf-8", _atom(source, entries).encode()
    return "application/feed+json", _json(source, entries).encode()


@dataclass(frozen=True, slots=True)
class _Entry:
    identity: str
    url: str
    title: str
    paragraphs: list[str]
    at: datetime

    @property
    def html(self) -> str:
        return "".join(f"<p>{escape(part, quote=False)}</p>" for part in self.paragraphs)


def _entry(source: DemoSource, told: Told, day: date) -> _Entry:
    at = calendar.first_instant(day, time(0), ZONE) - told.age
    out = calendar.local_date(at, ZONE)
    return _Entry(
        identity=f"tag:{source.name}.example,{out.isoformat()}:{told.slug}",
        url=f"{source.site}/{out:%Y/%m/%d}/{told.slug}",
        title=_dated(told.title, day),
        paragraphs=[" ".join(part.split()) for part in _dated(told.text, day).split("\n\n")],
        at=at,
    )


def _dated(text: str, day: date) -> str:
    """`text` with its weekdays filled in, seen from `day`."""
    for name, days in (("yesterday", -1), ("today", 0), ("in_3_days", 3), ("in_4_days", 4)):
        text = text.replace(f"{{{name}}}", _DAYS[(day + timedelta(days=days)).weekday()])
    return text


def _rss(source: DemoSource, entries: list[_Entry]) -> str:
    items = "\n".join(
        f"""<item>
<title>{escape(entry.title, quote=False)}</title>
<link>{entry.url}</link>
<guid isPermaLink="false">{entry.identity}</guid>
<pubDate>{format_datetime(entry.at.astimezone(UTC))}</pubDate>
<description>{escape(entry.html, quote=False)}</description>
</item>"""
        for entry in entries
    )
    return f"""<?xml version="1.0" encoding="utf-8"?>
<rss version="2.0">
<channel>
<title>{source.title}</title>
<link>{source.site}/</link>
<description>{source.title}, an invented source of the Matins demo</description>
{items}
</channel>
</rss>
"""


def _atom(source: DemoSource, entries: list[_Entry]) -> str:
    items = "\n".join(
        f"""<entry>
<title>{escape(entry.title, quote=False)}</title>
<link href="{entry.url}"/>
<id>{entry.identity}</id>
<published>{_stamp(entry.at)}</published>
<updated>{_stamp(entry.at)}</updated>
<content type="html">{escape(entry.html, quote=False)}</content>
</entry>"""
        for entry in entries
    )
    return f"""<?xml version="1.0" encoding="utf-8"?>
<feed xmlns="http://www.w3.org/2005/Atom">
<title>{source.title}</title>
<link href="{source.site}/"/>
<id>tag:{source.name}.example,2026:feed</id>
<updated>{_stamp(entries[0].at)}</updated>
<author><name>{source.title}</name></author>
{items}
</feed>
"""


def _json(source: DemoSource, entries: list[_Entry]) -> str:
    document = {
        "version": "https://jsonfeed.org/version/1.1",
        "title": source.title,
        "home_page_url": f"{source.site}/",
        "items": [
            {
                "id": entry.identity,
                "url": entry.url,
                "title": entry.title,
                "content_html": entry.html,
                "date_published": _stamp(entry.at),
            }
            for entry in entries
        ],
    }
    return json.dumps(document, ensure_ascii=False, indent=1)


def _stamp(at: datetime) -> str:
    return at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
