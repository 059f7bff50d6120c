from __future__ import annotations

import pytest

from tests.sources.writing import items as read_items
from tests.sources.writing import only, rss

# Identity: C38


def test_an_item_without_guid_and_link_is_known_by_its_words() -> None:
    first, again, other = (
        only(rss(f"<title>A</title><description>{text}</description>")) for text in ("x", " x\n", "y")
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
    items = read_items(rss(*bodies))
    assert [item.title for item in items] == ["0", "1"]
    assert len({item.identity for item in items}) == 2


def test_a_guid_shared_by_some_items_only_is_no_identity() -> None:
    items = read_items(
        rss(
            *(
                f"<title>{n}</title><link>/{n}</link><guid isPermaLink='false'>{guid}</guid>"
                for n, guid in enumerate("aab")
            )
        )
    )
    assert [item.identity for item in items] == ["https://harbour.example/0", "https://harbour.example/1", "b"]


def test_items_that_all_link_to_the_front_page_are_told_apart_by_their_words() -> None:
    items = read_items(rss(*(f"<title>{n}</title><link>https://harbour.example/</link>" for n in range(3))))
    assert len({item.identity for item in items}) == 3


def test_items_that_share_one_guid_and_one_link_are_told_apart_by_their_words() -> None:
    items = read_items(rss(*(f"<title>{n}</title><guid>https://harbour.example/</guid>" for n in range(3))))
    assert [item.title for item in items] == ["0", "1", "2"]


def test_items_on_one_page_are_told_apart_by_their_place_on_it() -> None:
    items = read_items(rss(*(f"<title>{n}</title><link>/log#v{n}</link>" for n in range(3))))
    assert [item.identity for item in items] == [f"https://harbour.example/log#v{n}" for n in range(3)]


def test_an_item_listed_twice_is_one_and_the_first_wins() -> None:
    twice = [f"<title>{title}</title><link>/a</link><guid isPermaLink='false'>g</guid>" for title in ("new", "old")]
    items = read_items(rss(*twice, "<title>b</title><link>/b</link><guid isPermaLink='false'>h</guid>"))
    assert [(item.identity, item.title) for item in items] == [("g", "new"), ("h", "b")]


def test_a_guid_does_not_change_with_the_address_of_its_feed() -> None:
    body = rss("<title>A</title><guid>477648</guid>")
    assert {only(body, url=f"https://{host}.example/feed").identity for host in ("one", "two")} == {"477648"}
    assert only(body).url == ""
