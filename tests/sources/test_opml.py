from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from matins.rules.errors import ProviderRefused
from matins.sources.opml import Outline, parse, write

LIST = """<?xml version="1.0" encoding="{encoding}"?>
<!-- made by hand -->
<opml version="1.0"><head><title>Мой список</title></head><body>
  <outline text="Порт &amp; pier">
    <outline type="rss" text="Harbour" title="Harbour News"
      xmlUrl="https://harbour.example/feed?a=1&amp;b=2" htmlUrl="/"/>
    <outline text='Inner'><Outline TEXT='Ferry' XMLURL='https://ferry.example/atom.xml'></Outline></outline>
  </outline>
  <outline xmlurl="https://bare.example/feed"/>
  <outline text="A note without a feed"/>
</body></opml>
"""
FOUND = (
    Outline("Harbour News", "https://harbour.example/feed?a=1&b=2", ("Порт & pier",)),
    Outline("Ferry", "https://ferry.example/atom.xml", ("Порт & pier", "Inner")),
    Outline("", "https://bare.example/feed"),
)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "windows-1251", "koi8-r"])
def test_a_list_of_feeds_is_read_with_its_folders(encoding: str) -> None:
    assert parse(LIST.format(encoding=encoding).encode(encoding)) == FOUND


def test_a_list_is_written_so_that_it_reads_back_the_same() -> None:
    written = write(FOUND, title="My list")
    assert parse(written) == FOUND
    assert written.startswith(b'<?xml version="1.0" encoding="UTF-8"?>\n<opml version="2.0">\n  <head><title>My list<')
    assert b'<outline type="rss" text="https://bare.example/feed" title="" xmlUrl=' in written


_WORDS = st.text(st.characters(codec="utf-8", exclude_categories=["C", "Z"]), max_size=12)
_OUTLINES = st.builds(
    Outline,
    title=_WORDS,
    url=st.sampled_from(["https://a.example/", "https://b.example/?a=1&b=%22", "https://c.example/\"<>'&amp;"]),
    folder=st.lists(_WORDS.filter(bool), max_size=3).map(tuple),
)


@settings(max_examples=40)
@given(st.lists(_OUTLINES, max_size=8), _WORDS)
def test_any_list_reads_back_the_same_and_is_well_formed(outlines: list[Outline], title: str) -> None:
    from xml.parsers import expat

    written = write(outlines, title=title)
    assert parse(written) == tuple(outlines)
    expat.ParserCreate().Parse(written, True)


def _list(inside: str) -> bytes:
    return f"<opml version='2.0'>\n<body>\n{inside}\n</body></opml>".encode()


ONE = "<outline text='a' xmlUrl='https://a.example/'/>"


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "not OPML: there is no <opml> in it"),
        (b"<html><body>Log in</body></html>", "not OPML: there is no <opml> in it"),
        (b"<!DOCTYPE opml [<!ENTITY a 'b'>]>" + _list(ONE), "which no list of feeds needs (line 1)"),
        (_list(f"{ONE}<!ENTITY a SYSTEM 'file:///etc/passwd'>"), "which no list of feeds needs (line 3)"),
        (_list(f"<outline text='a'>\n{ONE}"), "an outline is not closed (line 5)"),
        (_list(f"{ONE}\n</outline>"), "an outline is closed that is not open (line 4)"),
        (_list(ONE)[:-1], "a tag in it cannot be read (line 4)"),
        (_list(f"{ONE}<!-- "), "it breaks off in a comment (line 3)"),
        (_list(ONE)[:-7], "it breaks off before its end (line 4)"),
        (_list("<outline text='a"), "a tag in it cannot be read (line 3)"),
        (_list("<outline text='a'>\n" * 21 + "</outline>" * 21), "more than 20 folders inside each other (line 23)"),
        (_list(f"{ONE}\n" * 10_001), "there are more than 10000 outlines (line 10003)"),
        (b" " * (8 * 1024 * 1024) + _list(ONE), "too large: more than 8 MB"),
    ],
)  # fmt: skip
def test_a_list_that_is_not_whole_or_not_harmless_is_refused_with_its_line(data: bytes, reason: str) -> None:
    with pytest.raises(ProviderRefused) as refusal:
        parse(data)
    assert refusal.value.message.endswith(reason)


def test_ten_thousand_feeds_are_read() -> None:
    assert len(parse(_list(ONE * 10_000))) == 10_000


def test_a_list_without_feeds_is_empty() -> None:
    assert parse(_list("")) == parse(write((), title="")) == parse(b"<opml/>") == ()
