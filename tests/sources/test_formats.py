from __future__ import annotations

from datetime import UTC, datetime

import pytest

from matins.rules.errors import ProviderRefused
from matins.rules.evidence import Item
from matins.sources.feed import read_feed
from tests.sources.writing import JSON, URL, atom, only, rss
from tests.sources.writing import items as read_items

# Formats


def test_an_rss_item_is_read() -> None:
    feed = read_feed(
        rss(
            "<title>Port reopens</title><link>/a/1?utm_source=rss</link><guid isPermaLink='false'>h-1</guid>"
            "<pubDate>Mon, 30 Nov 2026 06:04:05 +0100</pubDate><description>&lt;p&gt;At noon.&lt;/p&gt;</description>"
        ),
        content_type="application/rss+xml",
        url=URL,
    )
    assert feed.title == "Harbour News"
    assert feed.items[0] == Item(
        "h-1",
        "https://harbour.example/a/1",
        "Port reopens",
        "At noon.",
        datetime(2026, 11, 30, 5, 4, 5, tzinfo=UTC),
    )


def test_an_atom_entry_is_read() -> None:
    item = only(
        atom(
            "<id>tag:harbour.example,2026:1</id><title type='html'>Port &amp;amp; pier</title>"
            "<link rel='self' href='/api/1'/><link href='/a/1'/><updated>2026-11-30T06:00:00Z</updated>"
            "<published>2026-11-29T06:00:00Z</published><summary>Short.</summary>"
            "<content type='xhtml'><div xmlns='http://www.w3.org/1999/xhtml'><p>One.</p><p>Two &amp; three.</p></div>"
            "</content>"
        )
    )
    assert item == Item(
        "tag:harbour.example,2026:1",
        "https://harbour.example/a/1",
        "Port & pier",
        "One.\n\nTwo & three.",
        datetime(2026, 11, 29, 6, tzinfo=UTC),
    )


def test_atoms_html_content_is_read_as_text_and_not_as_its_own_markup() -> None:
    item = only(atom("<id>1</id><title>x</title><content type='html'>&lt;p&gt;One&lt;br/&gt;two.&lt;/p&gt;</content>"))
    assert item.text == "One\ntwo."


def test_atoms_plain_text_is_taken_literally() -> None:
    item = only(
        atom("<id>1</id><title type='text'>The &lt;video&gt; tag &amp;amp; you</title><summary>a &lt;b&gt; c</summary>")
    )
    assert (item.title, item.text) == ("The <video> tag &amp; you", "a <b> c")


@pytest.mark.parametrize("version", ["https://jsonfeed.org/version/1", "https://jsonfeed.org/version/1.1"])
def test_a_json_feed_is_read(version: str) -> None:
    body = (
        f'\ufeff{{"version":"{version}","title":"Harbour","items":[{{"id":7,"url":"/a","title":"A","summary":"s",'
        '"content_html":"<p>One.</p><p>Two.</p>","date_published":"2026-11-30T07:00:00+02:00"},'
        '{"id":"b","external_url":"https://other.example/b","content_text":"First. Then more."}]}'
    )
    feed = read_feed(body.encode(), content_type="application/feed+json", url=URL)
    first, second = feed.items
    assert feed.title == "Harbour"
    assert first == Item("7", "https://harbour.example/a", "A", "One.\n\nTwo.", datetime(2026, 11, 30, 5, tzinfo=UTC))
    assert second == Item("b", "https://other.example/b", "First.", "First. Then more.", None)


def test_rdf_is_read_with_its_dublin_core_date() -> None:
    body = (
        b'<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/" '
        b'xmlns:dc="http://purl.org/dc/elements/1.1/"><channel rdf:about="https://h.example/"><title>H</title></channel>'
        b'<item rdf:about="https://h.example/1"><title>A</title><link>https://h.example/1</link>'
        b"<dc:date>2026-11-30T06:00:00Z</dc:date></item></rdf:RDF>"
    )
    assert only(body) == Item(
        "https://h.example/1", "https://h.example/1", "A", "", datetime(2026, 11, 30, 6, tzinfo=UTC)
    )


@pytest.mark.parametrize(
    "broken",
    [
        "<title>A</title><description>open",
        "<title>A</title><description><p>open",
        "<title>A",
        "<title>A</title><author>",
    ],
)
def test_an_element_that_is_left_open_takes_no_other_item_with_it(broken: str) -> None:
    assert [item.title for item in read_items(rss(broken, "<title>B</title>"))] == ["A", "B"]


def test_an_item_that_is_left_open_ends_where_the_next_one_begins() -> None:
    body = rss("<title>A</title>", "<title>B</title>").replace(b"</item>", b"", 1)
    assert [item.title for item in read_items(body)] == ["A", "B"]


# Not a feed: C44, F-53


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b"", "not a feed: it is empty"),
        (b"\xef\xbb\xbf \r\n\x00", "not a feed: it is empty"),
        (b"<!DOCTYPE html><html><body><p>Slow down.</p></body></html>", "not a feed: an HTML page"),
        (b"<html><head><title>Log in</title></head><feed></feed></html>", "not a feed: an HTML page"),
        (b"<?xml version='1.0'?><html xmlns='http://www.w3.org/1999/xhtml'><body/></html>", "not a feed: an HTML page"),
        (b"Too many requests", "not a feed: no XML"),
        (b"<?xml version='1.0'?><opml version='2.0'><body/></opml>", "not a feed: another kind of XML"),
        (b"<p>Slow down.</p>", "not a feed: an HTML page"),
        (b"<urlset><url/></urlset>", "not a feed: another kind of XML"),
        (b"<feed><product/></feed>", "the feed is broken, and no entry in it can be read"),
        (b"<rss version='2.0'><error>busy</error></rss>", "the feed is broken, and no entry in it can be read"),
        (b'{"error":"rate limited"}', "not a feed: JSON of another kind"),
        (b"[]", "not a feed: JSON of another kind"),
        (JSON + b'"items":[{"id":"1","title"', "not a feed: broken or cut off JSON"),
        (b"[" * 100_000, "not a feed: broken or cut off JSON"),
        (b'{"version":"https://jsonfeed.org/version/1"}', "a JSON Feed without a list of items"),
        (JSON + b'"items":[null,3]}', "the feed is broken, and no entry in it can be read"),
        (b"\x1f\x8b\x08\x00junk", "not a feed: compressed data"),
        (rss("<title>A</title>")[:-20], "the feed is cut off before its end"),
        (b"<rss version='2.0'><channel><item", "the feed is cut off before its end"),
        (b"<rss version='2.0'><channel><b></channel></rss>", "the feed is broken, and no entry in it can be read"),
        (rss("<guid>1</guid>", "<guid>2</guid>"), "a feed whose entries say nothing"),
    ],
)  # fmt: skip
def test_what_is_no_whole_feed_is_refused_with_one_reason(body: bytes, reason: str) -> None:
    with pytest.raises(ProviderRefused) as refusal:
        read_feed(body, content_type="text/html", url=URL)
    assert refusal.value.message == reason


@pytest.mark.parametrize(
    "body",
    [
        rss(),
        atom(),
        b"<rss version='2.0'><channel/></rss>",
        b"<feed xmlns='http://www.w3.org/2005/Atom'/>",
        b'{"version":"https://jsonfeed.org/version/1.1","title":"H","items":[]}',
    ],
)
def test_f54_a_feed_without_entries_is_a_feed(body: bytes) -> None:
    assert read_items(body) == ()


@pytest.mark.parametrize(
    "body",
    [
        b"\n\n  " + rss("<title>A</title>"),
        b"<br />\n<b>Warning</b>: x in <b>/a.php</b><br />\n" + rss("<title>A</title>"),
        rss("<title>A</title>") + b"\n<!-- 0.2 s --><script>x</script>",
        b"<!-- made by hand --><?xml-stylesheet href='a.xsl'?>" + rss("<title>A</title>"),
        rss("<title>A</title><description>AT&T &nbsp; &eacute; &nosuch; a < b</description>"),
        rss("<title>A</title><media:thumbnail url='x'/>"),
        rss("<title>A</title><description>x <y and <b>z</b> 'till <3 </description>"),
        rss("<title a='b\">A</title>"),
        rss("<TITLE>A</TITLE><pubdate>x</pubdate>"),
        rss("<title>A</title><description><p>open</description>"),
        rss("<title>A</title><author>&#0;\x0b&#xD800;&#99999999999999999999;</author>"),
        b"<!DOCTYPE rss PUBLIC '-//Netscape Communications//DTD RSS 0.91//EN' 'http://my.netscape.com/rss-0.91.dtd'>"
        + rss("<title>A</title>").partition(b"\n")[2],
    ],
)
def test_what_is_commonly_wrong_around_and_inside_a_feed_does_no_harm(body: bytes) -> None:
    assert [item.title for item in read_items(body)] == ["A"]
