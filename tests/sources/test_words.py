from __future__ import annotations

from datetime import UTC, datetime

import pytest

from matins.sources.feed import read_feed
from tests.sources.writing import URL, only, rss
from tests.sources.writing import items as read_items

# Links: C52


@pytest.mark.parametrize(
    ("entry", "url"),
    [
        ("<link>\n  https://h.example/a?b=1&amp;c=2\n</link>", "https://h.example/a?b=1&c=2"),
        ("<link><![CDATA[//h.example/a]]></link>", "https://h.example/a"),
        ("<link>javascript:alert(1)</link>", ""),
        ("<link>http://reader:secret@h.example/</link>", ""),
        ("<guid>https://h.example/1</guid>", "https://h.example/1"),
        ("<guid isPermaLink='false'>https://h.example/1</guid>", ""),
        ("<guid>https://h.example/1</guid><link>/own</link>", "https://harbour.example/own"),
        ("<enclosure url='/talk.mp3' type='audio/mpeg'/>", "https://harbour.example/talk.mp3"),
        ("<enclosure url='/photo.jpg' type='image/jpeg'/>", ""),
    ],
)
def test_an_items_link_is_its_own_or_the_best_it_has(entry: str, url: str) -> None:
    assert only(rss(f"<title>A</title>{entry}")).url == url


# Words: C61


@pytest.mark.parametrize("breaks", ["\r\n", "&#13;", "\u2028", "\n\n", "&#10;", "\t"])
def test_a_title_is_one_line(breaks: str) -> None:
    title = only(rss(f"<title>Sarah's{breaks}Bcc: x@news.example</title>")).title
    assert title == "Sarah's Bcc: x@news.example"
    assert (
        read_feed(rss(head=f"<title>Sarah's{breaks}Scribbles</title>"), content_type="", url=URL).title
        == "Sarah's Scribbles"
    )


def test_what_nobody_can_see_is_in_no_text() -> None:
    body = '{"version":"https://jsonfeed.org/version/1","items":[{"id":"\\u0000a",'
    body += '"title":" a\\u0085\\u0000\\u202eb\\ud800\\u200b","content_text":"x\\u0007\\u2066y"}]}'
    item = only(body.encode())
    assert (item.identity, item.title, item.text) == ("a", "a b", "xy")


@pytest.mark.parametrize(
    ("description", "text"),
    [
        ("&lt;p&gt;One&lt;/p&gt;\n&lt;p&gt;Two&amp;nbsp;&amp;amp; three&lt;/p&gt;", "One\n\nTwo & three"),
        ("<![CDATA[<h2>Head</h2>a <b>bold</b>\nword<ul><li>x</li><li>y</li></ul>]]>", "Head\n\na bold word\n\nx\n\ny"),
        ("<![CDATA[a<script>alert('<p>')</script><style>p{}</style><!-- <p>no --> b]]>", "a b"),
        ("<![CDATA[<img alt='a > b' src='x'>seen<br>twice<br><br>over]]>", "seen\ntwice\n\nover"),
        ("5 &lt; 6 and 7 &gt; 6", "5 < 6 and 7 > 6"),
        ("<![CDATA[First line\nof one.\n\nSecond &amp; last.]]>", "First line of one.\n\nSecond & last."),
        ("<![CDATA[<p>open <b>and <i>never closed]]>", "open and never closed"),
    ],
)
def test_a_description_becomes_text_with_its_paragraphs(description: str, text: str) -> None:
    assert only(rss(f"<title>A</title><description>{description}</description>")).text == text


def test_the_longer_of_content_and_summary_is_taken_and_cut_at_its_cap() -> None:
    long = "word " * 10_000
    encoded = f"<content:encoded xmlns:content='http://purl.org/rss/1.0/modules/content/'>{long}</content:encoded>"
    item = only(rss(f"<title>A</title><description>short</description>{encoded}"))
    assert 19_900 < len(item.text) <= 20_000
    assert item.text.endswith("word\u2026")


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("Port reopens. More later.", "Port reopens."),
        ("What? Yes", "What?"),
        ("Version 1.2 is out, at last. Go.", "Version 1.2 is out, at last."),
        ("word " * 40, "word " * 15 + "word\u2026"),
    ],
)
def test_an_item_without_a_title_gets_its_first_sentence(text: str, title: str) -> None:
    assert only(rss(f"<description>{text}</description>")).title == title


def test_an_item_with_a_link_only_is_called_by_it() -> None:
    assert only(rss("<link>https://h.example/a/b</link>")).title == "h.example/a/b"


# Bytes: C49

_CYRILLIC = "<title>Порт открыт</title><link>/1</link>"


@pytest.mark.parametrize(
    ("encoding", "declared", "content_type"),
    [
        ("utf-8", "", ""),
        ("utf-8", "", "text/xml"),
        ("utf-8", "", "text/xml; charset=iso-8859-1"),
        ("utf-8-sig", "windows-1251", ""),
        ("utf-16", "utf-16", ""),
        ("utf-16-le", "utf-16", ""),
        ("utf-16-be", "utf-16", ""),
        ("utf-32", "", ""),
        ("windows-1251", "windows-1251", "text/xml"),
        ("windows-1251", "", "text/xml; charset=windows-1251"),
        ("koi8-r", "koi8-r", "text/xml; charset=utf-8"),
        ("iso-2022-jp", "iso-2022-jp", ""),
        ("utf-8", "no-such-code", "text/xml; charset=hex"),
        ("utf-8", "utf-7", ""),
    ],
)
def test_a_document_is_read_in_the_encoding_it_is_in(encoding: str, declared: str, content_type: str) -> None:
    text = rss(_CYRILLIC).decode()
    body = text.replace('"1.0"', f'"1.0" encoding="{declared}"') if declared else text
    assert [item.title for item in read_items(body.encode(encoding), content_type=content_type)] == ["Порт открыт"]


# Dates: C43, C50


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("Mon, 30 Nov 2026 06:04:05 +0000", "2026-11-30T06:04:05"),
        ("30 Nov 2026 06:04 EST", "2026-11-30T11:04:00"),
        ("Mon, 30 Nov 26 06:04:05 GMT", "2026-11-30T06:04:05"),
        ("Monday, 30-Nov-26 06:04:05 GMT", "2026-11-30T06:04:05"),
        ("Mon Nov 30 06:04:05 2026", "2026-11-30T06:04:05"),
        ("November 30, 2026 06:04", "2026-11-30T06:04:00"),
        ("2026-11-30T06:04:05.123+05:30", "2026-11-30T00:34:05"),
        ("2026-11-30T06:04:05+0100", "2026-11-30T05:04:05"),
        ("2026-11-30 06:04:05", "2026-11-30T06:04:05"),
        ("2026-11-30", "2026-11-30T00:00:00"),
        ("2016/6/29 15:07:41", "2016-06-29T15:07:41"),
        ("Tue, 31 Dec 2069 23:59:60 GMT", "2069-12-31T23:59:59"),
        ("Sat, 13 Dec 2036 06:00:00 GMT", "2036-12-13T06:00:00"),
    ],
)
def test_a_date_is_read_as_the_instant_it_names(text: str, at: str) -> None:
    found = only(rss(f"<title>A</title><pubDate>{text}</pubDate>")).published_at
    assert found == datetime.fromisoformat(at).replace(tzinfo=UTC)


@pytest.mark.parametrize(
    "text",
    ["", "yesterday", "2026", "2026-11", "06/07/2026", "30 Nov", "2026-02-30", "2026-11-30T25:00:00Z",
     "0000-00-00 00:00:00", "Wed, 30 Nov -0001 00:00:00 +0000",
     "Mon, 30 Nov 2026 06:04:05 XYZ", "30 Brumaire 2026 06:00:00 GMT", "1764482400",
     "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00", "2026-11-30T06:04:05+99:00", "9" * 500],
)  # fmt: skip
def test_a_date_is_never_guessed(text: str) -> None:
    assert only(rss(f"<title>A</title><pubDate>{text}</pubDate>")).published_at is None


@pytest.mark.parametrize("name", ["x", "hex", "utf-8-sig", "idna", "utf-16", "a" * 300])
def test_an_encoding_that_nobody_knows_does_no_harm(name: str) -> None:
    body = rss("<title>A \xff</title>").replace("\xff".encode(), b"\xff")
    for content_type in ("text/xml; charset=" + name, ""):
        found = read_items(body.replace(b'"1.0"', f'"1.0" encoding="{name}"'.encode(), 1), content_type=content_type)
        assert [item.title for item in found] == ["A \ufffd"]
