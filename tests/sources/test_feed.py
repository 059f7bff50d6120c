from __future__ import annotations

import random
from datetime import UTC, datetime
from pathlib import Path

import pytest

from matins.rules.errors import ProviderRefused
from matins.rules.evidence import Item
from matins.sources.feed import read_feed

URL = "https://harbour.example/news/feed.xml"
JSON = b'{"version":"https://jsonfeed.org/version/1",'


def _rss(*items: str, head: str = "<title>Harbour News</title>") -> bytes:
    body = "".join(f"<item>{item}</item>" for item in items)
    return f'<?xml version="1.0"?>\n<rss version="2.0"><channel>{head}{body}</channel></rss>'.encode()


def _atom(*entries: str, root: str = "") -> bytes:
    body = "".join(f"<entry>{entry}</entry>" for entry in entries)
    return f'<feed xmlns="http://www.w3.org/2005/Atom" {root}><title>Harbour</title>{body}</feed>'.encode()


def _items(body: bytes, *, url: str = URL, content_type: str = "application/xml") -> tuple[Item, ...]:
    return read_feed(body, content_type=content_type, url=url)[1]


def _only(body: bytes, *, url: str = URL) -> Item:
    (item,) = _items(body, url=url)
    return item


# Formats


def test_an_rss_item_is_read() -> None:
    title, (item,) = read_feed(
        _rss(
            "<title>Port reopens</title><link>/a/1?utm_source=rss</link><guid isPermaLink='false'>h-1</guid>"
            "<pubDate>Mon, 30 Nov 2026 06:04:05 +0100</pubDate><description>&lt;p&gt;At noon.&lt;/p&gt;</description>"
        ),
        content_type="application/rss+xml",
        url=URL,
    )
    assert title == "Harbour News"
    assert item == Item(
        "h-1",
        "https://harbour.example/a/1",
        "Port reopens",
        "At noon.",
        datetime(2026, 11, 30, 5, 4, 5, tzinfo=UTC),
    )


def test_an_atom_entry_is_read() -> None:
    item = _only(
        _atom(
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
    item = _only(
        _atom("<id>1</id><title>x</title><content type='html'>&lt;p&gt;One&lt;br/&gt;two.&lt;/p&gt;</content>")
    )
    assert item.text == "One\ntwo."


def test_atoms_plain_text_is_taken_literally() -> None:
    item = _only(
        _atom(
            "<id>1</id><title type='text'>The &lt;video&gt; tag &amp;amp; you</title><summary>a &lt;b&gt; c</summary>"
        )
    )
    assert (item.title, item.text) == ("The <video> tag &amp; you", "a <b> c")


@pytest.mark.parametrize("version", ["https://jsonfeed.org/version/1", "https://jsonfeed.org/version/1.1"])
def test_a_json_feed_is_read(version: str) -> None:
    body = (
        f'\ufeff{{"version":"{version}","title":"Harbour","items":[{{"id":7,"url":"/a","title":"A","summary":"s",'
        '"content_html":"<p>One.</p><p>Two.</p>","date_published":"2026-11-30T07:00:00+02:00"},'
        '{"id":"b","external_url":"https://other.example/b","content_text":"First. Then more."}]}'
    )
    title, (first, second) = read_feed(body.encode(), content_type="application/feed+json", url=URL)
    assert title == "Harbour"
    assert first == Item("7", "https://harbour.example/a", "A", "One.\n\nTwo.", datetime(2026, 11, 30, 5, tzinfo=UTC))
    assert second == Item("b", "https://other.example/b", "First.", "First. Then more.", None)


def test_rdf_is_read_with_its_dublin_core_date() -> None:
    body = (
        b'<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/" '
        b'xmlns:dc="http://purl.org/dc/elements/1.1/"><channel rdf:about="https://h.example/"><title>H</title></channel>'
        b'<item rdf:about="https://h.example/1"><title>A</title><link>https://h.example/1</link>'
        b"<dc:date>2026-11-30T06:00:00Z</dc:date></item></rdf:RDF>"
    )
    assert _only(body) == Item(
        "https://h.example/1", "https://h.example/1", "A", "", datetime(2026, 11, 30, 6, tzinfo=UTC)
    )


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
        (_rss("<title>A</title>")[:-20], "the feed is cut off before its end"),
        (_rss("<title>A</title>", "<title>B</title>")[:-40], "the feed is cut off before its end"),
        (b"<rss version='2.0'><channel><item", "the feed is cut off before its end"),
        (b"<rss version='2.0'><channel><b></channel></rss>", "the feed is broken, and no entry in it can be read"),
        (_rss("<guid>1</guid>", "<guid>2</guid>"), "a feed whose entries say nothing"),
        (_rss(*["<title>A</title>"] * 5_001), "too large: more than 5000 entries"),
        (b"<rss>" + b"<b/>" * 200_001 + b"</rss>", "too large: more than 200000 tags"),
    ],
)  # fmt: skip
def test_what_is_no_whole_feed_is_refused_with_one_reason(body: bytes, reason: str) -> None:
    with pytest.raises(ProviderRefused) as refusal:
        read_feed(body, content_type="text/html", url=URL)
    assert refusal.value.message == reason


@pytest.mark.parametrize(
    "body",
    [
        _rss(),
        _atom(),
        b"<rss version='2.0'><channel/></rss>",
        b"<feed xmlns='http://www.w3.org/2005/Atom'/>",
        b'{"version":"https://jsonfeed.org/version/1.1","title":"H","items":[]}',
    ],
)
def test_a_feed_without_entries_is_a_feed(body: bytes) -> None:
    assert _items(body) == ()


@pytest.mark.parametrize(
    "body",
    [
        b"\n\n  " + _rss("<title>A</title>"),
        b"<br />\n<b>Warning</b>: x in <b>/a.php</b><br />\n" + _rss("<title>A</title>"),
        _rss("<title>A</title>") + b"\n<!-- 0.2 s --><script>x</script>",
        b"<!-- made by hand --><?xml-stylesheet href='a.xsl'?>" + _rss("<title>A</title>"),
        _rss("<title>A</title><description>AT&T &nbsp; &eacute; &nosuch; a < b</description>"),
        _rss("<title>A</title><media:thumbnail url='x'/>"),
        _rss("<title>A</title><description><p>open</description>"),
        _rss("<title>A</title><author>&#0;\x0b&#xD800;&#99999999999999999999;</author>"),
        b"<!DOCTYPE rss PUBLIC '-//Netscape Communications//DTD RSS 0.91//EN' 'http://my.netscape.com/rss-0.91.dtd'>"
        + _rss("<title>A</title>").partition(b"\n")[2],
    ],
)
def test_what_is_commonly_wrong_around_and_inside_a_feed_does_no_harm(body: bytes) -> None:
    assert [item.title for item in _items(body)] == ["A"]


# Hostile XML: F-58


def test_a_bomb_of_entities_stays_small() -> None:
    layers = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10}">' for n in range(1, 12))
    declared = f'<!DOCTYPE rss [<!ENTITY e0 "boom">{layers}]>'.encode()
    assert _only(declared + _rss("<title>A &e11;</title>").partition(b"\n")[2]).title == "A &e11;"


def test_an_external_entity_is_never_read(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("the secret")
    declared = f'<!DOCTYPE rss [<!ENTITY x SYSTEM "file://{secret}">]>'.encode()
    assert _only(declared + _rss("<title>A &x;</title>").partition(b"\n")[2]).title == "A &x;"


@pytest.mark.timeout(15)
@pytest.mark.parametrize(
    "inside",
    [
        "<author>" + "a" * 150_000 + "</author>",
        "<description>" + "\n" * 1_000_000 + "</description>",
        "<description><![CDATA[" + "<a '\"" * 100_000 + "]]></description>",
        "<description><![CDATA[" + "<div><b x>" * 50_000 + "]]></description>",
    ],
)
def test_a_feed_made_to_take_long_does_not(inside: str) -> None:
    assert _only(_rss(f"<title>A</title>{inside}")).title == "A"


@pytest.mark.timeout(15)
def test_blank_lines_without_end_do_no_harm() -> None:
    content = "\n" * 1_500_000 + "<div xmlns='http://www.w3.org/1999/xhtml'>x</div>"
    assert _only(_atom(f"<id>1</id><title>A</title><content type='xhtml'>{content}</content>")).text == "x"


def test_a_forbidden_character_in_a_large_feed_does_no_harm() -> None:
    items = [f"<title>Item {n} \x0b</title><description>{'word ' * 200}</description>" for n in range(600)]
    assert len(_items(_rss(*items))) == 600


def test_words_without_end_are_refused() -> None:
    with pytest.raises(ProviderRefused, match="too many words of more than 1000 characters"):
        _items(_rss("<author>" + "a" * 300_000 + "</author><title>A</title>"))


# Identity: C38


def test_items_without_a_guid_keep_their_identity_in_any_order() -> None:
    entries = [f"<title>Item {n}</title><link>https://harbour.example/{n}?utm_campaign={{}}</link>" for n in range(10)]
    shuffled = random.Random(38)
    seen: set[str] = set()
    for poll in range(20):
        shuffled.shuffle(entries)
        seen |= {item.identity for item in _items(_rss(*(entry.format(poll) for entry in entries)))}
    assert len(seen) == 10


def test_an_item_without_guid_and_link_is_known_by_its_words() -> None:
    first, again, other = (
        _only(_rss(f"<title>A</title><description>{text}</description>")) for text in ("x", " x\n", "y")
    )
    assert first.identity == again.identity != other.identity


@pytest.mark.parametrize(
    "guids",
    [("", ""), ("same", "same"), ("  ", "0"), ("1", "2")],
)
def test_two_items_are_two_whatever_their_guids_are_worth(guids: tuple[str, str]) -> None:
    bodies = [
        f"<title>{n}</title><link>/{n}</link><guid isPermaLink='false'>{guid}</guid>" for n, guid in enumerate(guids)
    ]
    items = _items(_rss(*bodies))
    assert [item.title for item in items] == ["0", "1"]
    assert len({item.identity for item in items}) == 2


def test_a_guid_shared_by_some_items_only_is_no_identity() -> None:
    items = _items(
        _rss(
            *(
                f"<title>{n}</title><link>/{n}</link><guid isPermaLink='false'>{guid}</guid>"
                for n, guid in enumerate("aab")
            )
        )
    )
    assert [item.identity for item in items] == ["https://harbour.example/0", "https://harbour.example/1", "b"]


def test_items_that_all_link_to_the_front_page_are_told_apart_by_their_words() -> None:
    items = _items(_rss(*(f"<title>{n}</title><link>https://harbour.example/</link>" for n in range(3))))
    assert len({item.identity for item in items}) == 3


def test_items_that_share_one_guid_and_one_link_are_told_apart_by_their_words() -> None:
    items = _items(_rss(*(f"<title>{n}</title><guid>https://harbour.example/</guid>" for n in range(3))))
    assert [item.title for item in items] == ["0", "1", "2"]


def test_items_on_one_page_are_told_apart_by_their_place_on_it() -> None:
    items = _items(_rss(*(f"<title>{n}</title><link>/log#v{n}</link>" for n in range(3))))
    assert [item.identity for item in items] == [f"https://harbour.example/log#v{n}" for n in range(3)]


def test_an_item_listed_twice_is_one_and_the_first_wins() -> None:
    twice = [f"<title>{title}</title><link>/a</link><guid isPermaLink='false'>g</guid>" for title in ("new", "old")]
    items = _items(_rss(*twice, "<title>b</title><link>/b</link><guid isPermaLink='false'>h</guid>"))
    assert [(item.identity, item.title) for item in items] == [("g", "new"), ("h", "b")]


def test_a_guid_does_not_change_with_the_address_of_its_feed() -> None:
    body = _rss("<title>A</title><guid>477648</guid>")
    assert {_only(body, url=f"https://{host}.example/feed").identity for host in ("one", "two")} == {"477648"}
    assert _only(body).url == ""


# Links: C52


def test_a_relative_link_is_resolved_by_every_base_around_it() -> None:
    body = _atom("<id>1</id><title>A</title><link href='FC2'/>").replace(
        b"<entry>", b"<entry xml:base='When/2013/08/14/'>"
    )
    assert _only(body, url="https://blog.example/ongoing/").url == "https://blog.example/ongoing/When/2013/08/14/FC2"
    nested = body.replace(b"<feed ", b"<feed xml:base='../blog/' ")
    assert _only(nested, url="https://blog.example/ongoing/").url == "https://blog.example/blog/When/2013/08/14/FC2"
    rooted = _atom("<id>1</id><title>A</title><link href='../b'/>", root="xml:base='https://cdn.example/x/y/'")
    assert _only(rooted).url == "https://cdn.example/x/b"


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
    assert _only(_rss(f"<title>A</title>{entry}")).url == url


# Words: C61


@pytest.mark.parametrize("breaks", ["\r\n", "&#13;", "\u2028", "\n\n", "&#10;", "\t"])
def test_a_title_is_one_line(breaks: str) -> None:
    title = _only(_rss(f"<title>Sarah's{breaks}Bcc: x@news.example</title>")).title
    assert title == "Sarah's Bcc: x@news.example"
    assert (
        read_feed(_rss(head=f"<title>Sarah's{breaks}Scribbles</title>"), content_type="", url=URL)[0]
        == "Sarah's Scribbles"
    )


def test_what_nobody_can_see_is_in_no_text() -> None:
    body = '{"version":"https://jsonfeed.org/version/1","items":[{"id":"\\u0000a",'
    body += '"title":" a\\u0085\\u0000\\u202eb\\ud800\\u200b","content_text":"x\\u0007\\u2066y"}]}'
    item = _only(body.encode())
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
    assert _only(_rss(f"<title>A</title><description>{description}</description>")).text == text


def test_the_longer_of_content_and_summary_is_taken_and_cut_at_its_cap() -> None:
    long = "word " * 10_000
    encoded = f"<content:encoded xmlns:content='http://purl.org/rss/1.0/modules/content/'>{long}</content:encoded>"
    item = _only(_rss(f"<title>A</title><description>short</description>{encoded}"))
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
    assert _only(_rss(f"<description>{text}</description>")).title == title


def test_an_item_with_a_link_only_is_called_by_it() -> None:
    assert _only(_rss("<link>https://h.example/a/b</link>")).title == "h.example/a/b"


# Bytes: C49

_CYRILLIC = "<title>Порт открыт</title><link>/1</link>"


@pytest.mark.parametrize(
    "content_type", ["text/xml; charset=utf-8", "text/xml", "application/xml; charset=iso-8859-1", ""]
)
def test_a_few_broken_bytes_do_not_change_the_alphabet(content_type: str) -> None:
    body = _rss(_CYRILLIC, "<title>B \xab</title>").replace("\xab".encode(), b"\xff")
    body = body.replace(b'"1.0"', b'"1.0" encoding="utf-8"').replace(b"<item>", b"<!-- \xff\xfe\x80 --><item>", 1)
    titles = [item.title for item in _items(body, content_type=content_type)]
    if "iso" not in content_type:
        assert titles == ["Порт открыт", "B \ufffd"]


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
    text = _rss(_CYRILLIC).decode()
    body = text.replace('"1.0"', f'"1.0" encoding="{declared}"') if declared else text
    assert [item.title for item in _items(body.encode(encoding), content_type=content_type)] == ["Порт открыт"]


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
    found = _only(_rss(f"<title>A</title><pubDate>{text}</pubDate>")).published_at
    assert found == datetime.fromisoformat(at).replace(tzinfo=UTC)


@pytest.mark.parametrize(
    "text",
    ["", "yesterday", "2026", "2026-11", "06/07/2026", "30 Nov", "2026-02-30", "2026-11-30T25:00:00Z",
     "0000-00-00 00:00:00", "Wed, 30 Nov -0001 00:00:00 +0000",
     "Mon, 30 Nov 2026 06:04:05 XYZ", "30 Brumaire 2026 06:00:00 GMT", "1764482400",
     "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00", "2026-11-30T06:04:05+99:00", "9" * 500],
)  # fmt: skip
def test_a_date_is_never_guessed(text: str) -> None:
    assert _only(_rss(f"<title>A</title><pubDate>{text}</pubDate>")).published_at is None
