"""What a page is made from, read from the ledger alone."""

from __future__ import annotations

import pytest

from matins.ledger import material, page, summary
from matins.rules.errors import EvidenceMissing, NoSuchRow
from matins.rules.wiki import Index, Story, Topic
from tests.ledger.factory import Factory
from tests.ledger.wiki import told


def test_a_story_is_made_of_its_text_its_cards_and_the_days_that_told_it(factory: Factory) -> None:
    at, ids = told(factory)
    made = material.of(factory.conn, ids[0])
    story = made.material
    assert isinstance(story, Story)
    assert (made.version, sorted(made.cards)) == (1, sorted(at.pieces))
    assert (story.current.text, story.topic, story.topic_id, story.told) == (
        "What happened.",
        "rivers",
        ids[1],
        (at.day,),
    )
    assert {card.source_name for card in story.cards} == {"gazette"}
    topic, index = (material.of(factory.conn, one).material for one in ids[1:])
    assert isinstance(topic, Topic)
    assert [(one.page_id, one.title, one.pieces) for one in topic.stories] == [(ids[0], "The river", 2)]
    assert isinstance(index, Index)
    assert [(one.page_id, one.topic, one.stories) for one in index.topics] == [(ids[1], "rivers", 1)]


def test_a_page_without_a_row_or_of_which_nothing_was_told_is_refused_by_name(factory: Factory) -> None:
    for ask in (page.state, page.next_move, material.of):
        with pytest.raises(NoSuchRow):
            ask(factory.conn, "0" * 32)
    _, ids = told(factory)
    factory.conn.execute("delete from evidence_item")
    with pytest.raises(EvidenceMissing):
        material.of(factory.conn, ids[0])


def test_a_story_whose_texts_were_taken_back_shows_the_next_one_and_at_last_a_title_alone(factory: Factory) -> None:
    _, ids = told(factory)
    seen = []
    while True:
        made = material.of(factory.conn, ids[0])
        assert isinstance(made.material, Story)
        seen.append((made.version, made.material.current.text))
        found = factory.conn.execute(
            """
            select summary.key
              from summary
              join page_member on page_member.event_key = summary.event_key
             where page_member.page_id = %s and summary.rejected_at is null
             order by summary.accepted_at desc
            """,
            (ids[0],),
        ).fetchall()
        if not found:
            break
        assert summary.reject(factory.conn, found[0][0], reason="it was wrong")
    assert made.material.current.title == made.material.cards[-1].title
    assert seen[-1][1] == ""
    assert "" not in [text for _, text in seen[:-1]]
    assert [version for version, _ in seen] == sorted({version for version, _ in seen})
