"""Documents that were made to do harm: F-58, I25."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from matins.rules.errors import ProviderRefused
from matins.sources.feed import read_feed
from tests.sources.writing import JSON, URL, atom, only, rss

SECONDS = 2.0
"""Of the processor, on a busy machine. What takes the square of its length takes minutes at these sizes."""
MEGABYTE = 1_000_000


def test_f58_a_bomb_of_entities_stays_small() -> None:
    layers = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10}">' for n in range(1, 12))
    declared = f'<!DOCTYPE rss [<!ENTITY e0 "boom">{layers}]>'.encode()
    assert only(declared + rss("<title>A &e11;</title>").partition(b"\n")[2]).title == "A &e11;"


def test_f58_an_external_entity_is_never_read(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("the secret")
    declared = f'<!DOCTYPE rss [<!ENTITY x SYSTEM "file://{secret}">]>'.encode()
    assert only(declared + rss("<title>A &x;</title>").partition(b"\n")[2]).title == "A &x;"


def _filled(unit: str, size: int = MEGABYTE) -> str:
    return unit * (size // len(unit))


def _section(unit: str, size: int = 400_000) -> bytes:
    return rss(f"<title>A</title><description><![CDATA[{_filled(unit, size)}]]></description>")


@pytest.mark.parametrize(
    "body",
    [
        rss("<title>A</title><author>" + "a" * MEGABYTE + "</author>"),
        rss("<title>A</title><description>" + "\n" * MEGABYTE + "</description>"),
        rss("<title>A</title><description>" + _filled("\n \n") + "</description>"),
        rss("<title>A</title><description>" + _filled("&#1087;") + "</description>"),
        rss("<title>A</title><description>" + _filled("&amp;nosuchnameanywhere") + "</description>"),
        rss(f"<title>A</title><description>&#{'9' * MEGABYTE};&amp;#{'9' * MEGABYTE};</description>"),
        rss(f"<title>A</title><c {_filled('a=' + chr(34) * 2 + ' ')}/><c {'a' * MEGABYTE}/>"),
        rss(f"<title>A</title><author>{'<b>' * 40}{_filled('</c>', 100_000)}</author>"),
        rss("<title>A</title>" + _filled("<c xml:base='b/c/d/../'/>", 260_000)),
        rss("<title>A</title>" + _filled("<guid a='b'>&lt;</guid>", 300_000)),
        _section("<a '\""),
        _section("<a \"> \""),
        _section("<a title='>"),
        _section("<div><b x>"),
        _section("<script></scrip "),
        _section("<!-- -- > "),
        _section("<![CDATA["),
        atom(f"<title>A</title><content type='xhtml'>{_filled('<content>', 300_000)}{'</content>' * 33_334}"),
        JSON + b'"items":[{"id":1,"title":"A"}' + b" , " * 300_000,
        JSON + b'"items":[{"id":1,"title":"A"},' + b"[" * MEGABYTE,
        JSON + b'"items":[{"id":1,"title":"A"},{"id":' + b"9" * MEGABYTE,
    ],
    ids=lambda body: bytes(body[-60:]).decode("latin-1"),
)  # fmt: skip
def test_a_feed_made_to_take_long_does_not(body: bytes) -> None:
    before = time.process_time()
    (item,) = read_feed(body, content_type="", url=URL).items
    assert time.process_time() - before < SECONDS
    assert item.title == "A"


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (rss(_filled("<a>")), "too large: more than 200000 tags"),
        (rss("<a>" * 60), "too deep: more than 60 elements inside each other"),
        (rss(*["<title>A</title>"] * 5_001), "too large: more than 5000 entries"),
        (JSON + b'"items":[' + b"{}," * 5_001 + b"{}]}", "too large: more than 5000 entries"),
        (JSON + b'"items":[' + b"{}," * 5_001, "too large: more than 5000 entries"),
        (rss("<title>" + "&lt;b" * 200_001 + "</title>"), "too large: more than 200000 tags in its texts"),
        (JSON + b'"items":[{"content_html":"' + b"\\u003c" * 200_001 + b'"}]}',
         "too large: more than 200000 tags in its texts"),
        (rss("<c xmlns='x' xml:base='y'/>" * 10_001),
         "too large: more than 12000 declarations of namespaces and bases"),
        (JSON + b'"a":1,' * 1_000_000, "not a feed: broken or cut off JSON"),
    ],
    ids=lambda value: value[:50] if isinstance(value, str) else "",
)  # fmt: skip
def test_a_feed_beyond_its_caps_is_refused_at_once(body: bytes, reason: str) -> None:
    before = time.process_time()
    with pytest.raises(ProviderRefused) as refusal:
        read_feed(body, content_type="", url=URL)
    assert time.process_time() - before < SECONDS
    assert refusal.value.message == reason


def test_white_space_before_a_text_does_not_hide_it() -> None:
    content = "\n" * 1_500_000 + "<div xmlns='http://www.w3.org/1999/xhtml'>x</div>"
    assert only(atom(f"<id>1</id><title>A</title><content type='xhtml'>{content}</content>")).text == "x"
