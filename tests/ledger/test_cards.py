"""Cards: which pieces of evidence a page is known to show, and which were only meant for it."""

from __future__ import annotations

from typing import Any

import pytest

from matins.ledger import page
from matins.rules import limits
from tests.ledger import wiki
from tests.ledger.factory import Factory
from tests.ledger.wiki import accept, draft, open_write, page_scene, told


def _orphan(make: Factory) -> str:
    """A page of which a write carded two pieces, and that was published with one. Returns its id."""
    at, ids = told(make)
    made = page_scene(make, ids[0])
    open_write(make, made, cards=at.pieces)
    accept(make, at, draft(at.pieces[0], prompt="2", text="What happened since."))
    open_write(make, made, version=2, cards=at.pieces[:1])
    wiki.mark(make, made, version=2, cards=at.pieces[:1])
    return ids[0]


def _cards(make: Factory) -> Any:
    found = make.conn.execute("select count(*), count(published_at) from source_card").fetchone()
    return found


def test_a_card_that_no_read_back_has_shown_and_no_write_will_is_collected_and_no_other(factory: Factory) -> None:
    _orphan(factory)
    assert page.collect_cards(factory.conn) == 0
    factory.clock.forward(limits.CARDS_KEPT + 1)
    assert page.collect_cards(factory.conn) == 1
    assert _cards(factory) == (1, 1)
    assert page.collect_cards(factory.conn) == 0


@pytest.mark.parametrize("why", ["a write is open", "the page is due"])
def test_a_card_that_a_write_may_still_show_is_kept(factory: Factory, why: str) -> None:
    page_id = _orphan(factory)
    factory.clock.forward(limits.CARDS_KEPT + 1)
    if why == "the page is due":
        factory.conn.execute("update page set wanted = wanted + 1 where id = %s", (page_id,))
    else:
        page.doubt(factory.conn, page_id)
        open_write(factory, page_scene(factory, page_id), version=2)
    assert page.collect_cards(factory.conn) == 0
    assert _cards(factory) == (2, 1)
