"""Accepted texts: which one is current is decided by the evidence it is on, never by who comes last."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from matins.ledger import material, page, summary
from matins.rules.errors import OutputConflict
from tests.ledger.factory import Factory, item
from tests.ledger.tables import tables
from tests.ledger.test_ingest import read
from tests.ledger.wiki import Morning, Piece, accept, draft, morning, subscribed, told, want


def _told(make: Factory) -> Morning:
    """A morning that told one item."""
    subscribed(make, "ada")
    read(make, item("a", "Old."))
    return morning(make)


def _current(make: Factory, piece: Piece) -> Any:
    found = make.conn.execute(
        "select summary.body from event left join summary on summary.key = event.summary_key where event.key = %s",
        (piece[0],),
    ).fetchone()
    assert found is not None
    return found[0]


def _newer(make: Factory, piece: Piece) -> Piece:
    """The same event after its source changed its words."""
    read(make, item("a", "New."))
    found = make.conn.execute("select evidence_hash from event where key = %s", (piece[0],)).fetchone()
    assert found is not None
    return piece[0], found[0]


def test_an_accepted_text_is_its_events_current_one_and_accepted_again_it_changes_nothing(factory: Factory) -> None:
    at = _told(factory)
    assert accept(factory, at) == []
    assert _current(factory, at.pieces[0]) == "What happened."
    before = tables(factory.conn)
    assert accept(factory, at) == []
    assert tables(factory.conn) == before


def test_a_text_on_evidence_that_is_not_current_is_not_accepted_and_its_event_is_named(factory: Factory) -> None:
    at = _told(factory)
    _newer(factory, at.pieces[0])
    before = tables(factory.conn)
    assert accept(factory, at) == [at.pieces[0][0]]
    assert tables(factory.conn) == before
    unheard = (at.pieces[0][0], "0" * 64)
    assert accept(factory, at, draft(unheard)) == [at.pieces[0][0]]


def test_an_older_text_is_never_current_after_a_newer_one(factory: Factory) -> None:
    at = _told(factory)
    accept(factory, at)
    newer = _newer(factory, at.pieces[0])
    accept(factory, at, draft(newer, text="Newer."))
    accept(factory, at)
    accept(factory, at, draft(at.pieces[0], prompt="2", text="Older, in other words."))
    assert _current(factory, newer) == "Newer."
    assert factory.conn.execute("select count(*) from summary").fetchone() == (2,)


def test_another_text_under_the_same_identity_is_refused_and_the_first_one_stays(factory: Factory) -> None:
    at = _told(factory)
    accept(factory, at)
    before = tables(factory.conn)
    for other in (replace(draft(at.pieces[0]), title="Other"), draft(at.pieces[0], text="Other.")):
        with pytest.raises(OutputConflict):
            accept(factory, at, other)
    assert tables(factory.conn) == before


def test_of_several_texts_those_on_current_evidence_are_accepted_and_the_others_named(factory: Factory) -> None:
    subscribed(factory, "ada")
    read(factory, item("a", "Old."), item("b"))
    at = morning(factory)
    _newer(factory, at.pieces[0])
    assert accept(factory, at) == [at.pieces[0][0]]
    assert [_current(factory, piece) for piece in at.pieces] == [None, "What happened."]


def test_a_text_that_is_taken_back_gives_way_to_the_earlier_one_on_the_same_evidence(factory: Factory) -> None:
    at = _told(factory)
    (piece,) = at.pieces
    accept(factory, at)
    accept(factory, at, draft(piece, prompt="2", text="Wrong."))
    wrong = draft(piece, prompt="2").key
    assert summary.reject(factory.conn, wrong, reason="it is wrong")
    assert _current(factory, piece) == "What happened."
    before = tables(factory.conn)
    assert not summary.reject(factory.conn, wrong, reason="again")
    assert tables(factory.conn) == before
    assert summary.reject(factory.conn, draft(piece).key, reason="it is wrong too")
    assert _current(factory, piece) is None


def test_a_text_on_older_evidence_does_not_come_back_when_the_current_one_is_taken_back(factory: Factory) -> None:
    at = _told(factory)
    accept(factory, at)
    newer = _newer(factory, at.pieces[0])
    accept(factory, at, draft(newer, text="Newer."))
    summary.reject(factory.conn, draft(newer).key, reason="it is wrong")
    assert _current(factory, newer) is None


def test_an_older_text_that_is_taken_back_leaves_the_current_one(factory: Factory) -> None:
    at = _told(factory)
    accept(factory, at)
    accept(factory, at, draft(at.pieces[0], prompt="2", text="Better."))
    assert summary.reject(factory.conn, draft(at.pieces[0]).key, reason="it is wrong")
    assert _current(factory, at.pieces[0]) == "Better."


@pytest.mark.parametrize(("member", "due"), [(0, [2, 2, 2]), (1, [2, 1, 1])], ids=["the leading event's", "another's"])
def test_every_page_that_shows_a_text_is_due_when_it_is_taken_back(
    factory: Factory, member: int, due: list[int]
) -> None:
    at, ids = told(factory)
    summary.reject(factory.conn, draft(at.pieces[member]).key, reason="it is wrong")
    assert [page.state(factory.conn, one).wanted for one in ids] == due


def test_a_newer_text_makes_the_pages_and_topics_of_all_owners_due_whose_story_it_leads(factory: Factory) -> None:
    subscribed(factory, "ada", "bob")
    read(factory, item("a"))
    both = [morning(factory, owner) for owner in ("ada", "bob")]
    pages, topics = [], []
    for at in both:
        accept(factory, at)
        story, topic, _ = want(factory, at)
        pages.append(story)
        topics.append(topic)
    assert len(set(pages)) == 2
    assert [page.state(factory.conn, one).wanted for one in pages] == [1, 1]
    accept(factory, both[1], draft(both[1].pieces[0], prompt="2", text="What happened since."))
    assert [page.state(factory.conn, one).wanted for one in pages] == [2, 2]
    assert [page.state(factory.conn, one).wanted for one in topics] == [2, 2], "each lists the story by its title"
    shown = [material.of(factory.conn, one).material for one in pages]
    assert [one.current.text for one in shown] == ["What happened since."] * 2  # type: ignore[union-attr]
    assert [[past.text for past in one.history] for one in shown] == [["What happened."]] * 2  # type: ignore[union-attr]
