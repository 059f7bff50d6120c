"""Which items under unknown names are known ones renamed, and which must not be taken for one."""

from __future__ import annotations

import pytest

from matins.rules.evidence import Item
from matins.rules.identity import TELLING_TEXT, Known, recognise

TEXT = "t" * TELLING_TEXT


def _known(
    identity: str = "old", url: str = "http://a.example/1", title: str = "One", text: str = "", *, event: str = "event"
) -> Known:
    return Known(event, identity, url, title, text)


def _item(identity: str = "new", url: str = "http://a.example/1", title: str = "One", text: str = "") -> Item:
    return Item(identity, url, title, text)


@pytest.mark.parametrize(
    ("before", "after", "same"),
    [
        (_known(), _item(), True),
        (_known(), _item(url="https://www.a.example/1/"), True),
        (_known(), _item(title="Quite another title"), True),
        (_known(), _item(url="https://b.example/1"), True),
        (_known(), _item(url="https://b.example/1", title="Two"), False),
        (_known(), _item(url="https://b.example/2"), False),
        (_known(text=TEXT), _item(url="https://b.example/2", text=TEXT), True),
        (_known(text=TEXT), _item(url="", text=TEXT), True),
        (_known(text=TEXT[1:]), _item(url="https://b.example/2", text=TEXT[1:]), False),
        (_known(text=TEXT), _item(url="https://b.example/2", title="Two", text=TEXT), False),
        (_known(url="https://a.example/"), _item(url="https://a.example/", title="Two"), False),
        (_known(url=""), _item(url="", title="Two"), False),
        (_known(url="https://a.example/?p=1"), _item(url="http://a.example/?p=1", title="Two"), True),
        (_known(url="https://a.example/?p=1"), _item(url="http://a.example/?p=2"), False),
    ],
)
def test_an_item_is_recognised_by_its_place_or_its_path_and_title_or_its_words(
    before: Known, after: Item, same: bool
) -> None:
    assert recognise([after], [before], listed={after.identity}) == ({"new": "event"} if same else {})


def test_an_event_whose_own_name_is_in_the_document_has_not_been_renamed() -> None:
    assert recognise([_item()], [_known()], listed={"new", "old"}) == {}


def test_a_name_that_could_stand_for_two_events_stands_for_neither() -> None:
    assert recognise([_item()], [_known(), _known("older", event="other")], listed={"new"}) == {}


def test_an_event_that_two_items_could_be_is_neither_of_them() -> None:
    assert recognise([_item(), _item("newer")], [_known()], listed={"new", "newer"}) == {}


def test_one_event_stands_for_one_item_though_two_bear_its_signs() -> None:
    moved = _item("moved", url="https://b.example/9", text=TEXT)
    assert recognise([_item(), moved], [_known(text=TEXT)], listed={"new", "moved"}) == {"new": "event"}


def test_the_better_sign_decides_which_of_two_events_it_is() -> None:
    place, words = _known("a", event="by place"), _known("b", url="http://c.example/7", text=TEXT, event="by words")
    assert recognise([_item(text=TEXT)], [place, words], listed={"new"}) == {"new": "by place"}
