from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from matins.rules.errors import Refused
from matins.sources.address import canonical_url, item_url, request_url


@pytest.mark.parametrize(
    ("url", "canonical"),
    [
        ("HTTP://News.Example", "http://news.example/"),
        ("https://news.example:443/a", "https://news.example/a"),
        ("http://news.example:80/a#top", "http://news.example/a"),
        ("http://news.example:8080/a", "http://news.example:8080/a"),
        ("https://news.example./a", "https://news.example/a"),
        ("https://news.example/a?utm_source=x&b=2&UTM_Medium=y&a=1&fbclid=z&gclid=q&ref=feed", "https://news.example/a?a=1&b=2"),
        ("https://news.example/a?utm_source=x", "https://news.example/a"),
        ("https://news.example/a?reference=1", "https://news.example/a?reference=1"),
        ("https://news.example/?rss", "https://news.example/?rss"),
        ("https://news.example/a/./b/../c%7e%2f", "https://news.example/a/c~%2F"),
        ("https://news.example/%2e%2e/a", "https://news.example/a"),
        ("https://news.example/résumé?q=a b", "https://news.example/r%C3%A9sum%C3%A9?q=a%20b"),
        ("https://news.example/100%", "https://news.example/100%25"),
        ("https://Bücher.example/", "https://xn--bcher-kva.example/"),
        ("https://[2001:DB8::0:1]:443/a", "https://[2001:db8::1]/a"),
        ("  https://news.example/a  ", "https://news.example/a"),
    ],
)  # fmt: skip
def test_one_page_has_one_canonical_address(url: str, canonical: str) -> None:
    assert canonical_url(url) == canonical


@pytest.mark.parametrize(
    "url",
    [
        "", "news.example/a", "/a", "ftp://news.example/a", "file:///etc/passwd", "javascript:alert(1)", "http://",
        "http:///a", "http://reader:secret@news.example/", "http://news.example\\@other.example/",
        "http://news.example/\nHost: other.example", "http://news.example/\r", "http://news.example/\u2028",
        "http://news.example/\x00", "http://news.example/\ud800", "http://news.example:99999/", "http://[::1/",
        "http://[fe80::1%25eth0]/", "http://news..example/", "http://-news.example/", "http://news example/",
        "http://" + "a" * 64 + ".example/", "http://news.example/" + "a" * 5000, "mailto:desk@news.example",
    ],
)  # fmt: skip
def test_what_is_no_web_address_is_refused_in_one_sentence(url: str) -> None:
    with pytest.raises(Refused, match=r"^bad URL: .*; write it as https://host/path$") as refusal:
        canonical_url(url)
    assert "secret" not in str(refusal.value)


_TEXT = st.text(st.characters(codec="utf-8", exclude_categories=["Cc"], exclude_characters="\u2028\u2029"), max_size=30)


@given(
    scheme=st.sampled_from(["http", "https", "HTTP"]),
    host=st.sampled_from(["news.example", "NEWS.example", "bücher.example", "127.0.0.1", "[::1]", "faß.example"]),
    path=_TEXT | st.text("/.%2eEfF?&=+ #a", max_size=20),
    query=_TEXT | st.text("&=%2eEfF+utm_ #?a", max_size=20),
)
def test_the_canonical_address_of_a_canonical_address_is_itself(scheme: str, host: str, path: str, query: str) -> None:
    once = canonical_url(f"{scheme}://{host}/{path}?{query}")
    assert canonical_url(once) == once
    assert once.isascii()
    assert request_url(once) == once


def test_a_request_keeps_the_order_and_every_part_of_its_query() -> None:
    assert request_url("https://news.example/feed?ref=b&a=1#top") == "https://news.example/feed?ref=b&a=1"


def test_an_items_link_is_absolute_and_keeps_its_place_on_the_page() -> None:
    base = "https://news.example/feeds/all.xml"
    assert item_url("../a?b=1&utm_source=rss#part-2", base=base) == "https://news.example/a?b=1#part-2"
    assert item_url("//other.example/a", base=base) == "https://other.example/a"
    assert item_url("/a#xtor=RSS-1", base=base) == "https://news.example/a"


@pytest.mark.parametrize(
    "href",
    ["", "javascript:alert(1)", "mailto:desk@news.example", "http://a:b@news.example/", "data:text/html,x"],
)
def test_a_link_that_is_not_of_the_web_is_no_link(href: str) -> None:
    assert item_url(href, base="https://news.example/feed") == ""
