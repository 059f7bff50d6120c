"""Pages: which there are, when one is due, what may be marked as published, and what a dead writer leaves."""

from __future__ import annotations

from dataclasses import replace

import pytest

from matins.ledger import ending, page, page_write
from matins.rules import limits
from matins.rules.errors import LeaseHeld, Superseded
from tests.ledger import wiki
from tests.ledger.factory import Factory, item
from tests.ledger.tables import tables
from tests.ledger.test_ingest import read
from tests.ledger.wiki import accept, draft, morning, open_write, page_scene, show, subscribed, telling, told, want

TOMORROW, THIRD = "2026-08-18", "2026-08-19"


def _versions(make: Factory, ids: list[str]) -> list[tuple[int, int]]:
    states = [page.state(make.conn, one) for one in ids]
    return [(one.wanted, one.published) for one in states]


def _writes(make: Factory) -> list[tuple[int, int, str]]:
    return make.conn.execute("select token, version, status from page_write order by token, version").fetchall()


def _recheck_in(make: Factory, page_id: str) -> float | None:
    at = make.conn.execute("select recheck_at - ledger_now() from page where id = %s", (page_id,)).fetchone()
    assert at is not None
    return None if at[0] is None else at[0].total_seconds()


def test_an_edition_wants_a_page_for_its_story_its_topic_and_the_index_and_asked_again_it_wants_no_more(
    factory: Factory,
) -> None:
    at, ids = told(factory)
    assert [page.state(factory.conn, one).kind for one in ids] == ["story", "topic", "index"]
    assert sorted(page.find_dirty(factory.conn)) == page.dirty_of(factory.conn, ids) == sorted(ids)
    before = tables(factory.conn)
    assert want(factory, at) == ids
    assert tables(factory.conn) == before


def test_a_later_edition_makes_story_topic_and_index_due_again_and_an_earlier_one_does_not(factory: Factory) -> None:
    first, ids = told(factory)
    read(factory, item("a"), item("b", "What came of it."))
    second = morning(factory, day=TOMORROW)
    accept(factory, second)
    assert want(factory, second) == ids
    assert _versions(factory, ids) == [(2, 0)] * 3
    want(factory, second)
    claim = factory.claim(first.claim.key, step=first.claim.step)
    want(factory, replace(first, claim=claim))
    assert _versions(factory, ids) == [(2, 0)] * 3
    found = factory.conn.execute("select first_told, last_told from page where kind = 'story'").fetchone()
    assert found == (first.day, second.day)


def test_only_the_lists_that_a_story_is_on_are_due_with_it(factory: Factory) -> None:
    subscribed(factory, "ada")
    read(factory, item("a"), item("b"))
    at = morning(factory)
    accept(factory, at)
    a, b = at.pieces
    ids = want(factory, at, [telling(a, topic="rivers"), telling(b, topic="roads")])
    read(factory, item("a"), item("b", "Newer."))
    second = morning(factory, day=TOMORROW)
    accept(factory, second)
    want(factory, second, [telling(second.pieces[0], topic="roads")])
    names = ("a", "b", "rivers", "roads", "index")
    due = dict(zip(names, [wanted for wanted, _ in _versions(factory, ids)], strict=True))
    assert due == {"a": 1, "b": 3, "rivers": 1, "roads": 3, "index": 2}, "b, roads: for its text, and for its edition"


def test_a_story_that_has_no_accepted_text_has_no_page_and_no_list(factory: Factory) -> None:
    subscribed(factory, "ada")
    read(factory, item("a"))
    at = morning(factory)
    ids = want(factory, at)
    assert page.dirty_of(factory.conn, ids) == []
    assert factory.conn.execute("select count(*) from page").fetchone() == (0,)
    assert factory.conn.execute("select count(*) from work where kind = 'page'").fetchone() == (0,)


def test_a_topic_of_which_no_story_has_a_text_has_no_page_and_no_work(factory: Factory) -> None:
    subscribed(factory, "ada")
    read(factory, item("a"), item("b"))
    at = morning(factory)
    a, b = at.pieces
    accept(factory, at, draft(a))
    ids = want(factory, at, [telling(a, topic="rivers"), telling(b, topic="roads")])
    assert len(page.dirty_of(factory.conn, ids)) == 3
    assert factory.conn.execute("select count(*) from work where kind = 'page'").fetchone() == (3,)


def test_events_of_two_pages_that_become_one_story_are_told_on_the_oldest_page(factory: Factory) -> None:
    subscribed(factory, "ada")
    read(factory, item("a"))
    first = morning(factory)
    accept(factory, first)
    old = want(factory, first)[0]
    read(factory, item("a"), item("b"))
    second = morning(factory, day=TOMORROW)
    accept(factory, second)
    young = want(factory, second)[0]
    assert old != young
    read(factory, item("a", "Newer."), item("b", "Newer."), item("c"))
    third = morning(factory, day=THIRD)
    accept(factory, third)
    a, b, c = third.pieces
    assert want(factory, third, [telling(b, a, c)])[0] == old
    members = factory.conn.execute("select page_id, event_key from page_member").fetchall()
    assert set(members) == {(old, a[0]), (young, b[0]), (old, c[0])}
    lead = factory.conn.execute("select event_key from page where id = %s", (old,)).fetchone()
    assert lead == (b[0],), "the event that leads the story now"


def test_a_story_that_parts_in_two_stays_on_its_page_led_by_the_first_of_them(factory: Factory) -> None:
    _, ids = told(factory)
    read(factory, item("a", "Newer."), item("b", "Newer."), item("c"))
    second = morning(factory, day=TOMORROW)
    accept(factory, second)
    a, b, c = second.pieces
    assert want(factory, second, [telling(b), telling(a, c)]) == ids
    members = factory.conn.execute("select page_id, event_key from page_member").fetchall()
    assert set(members) == {(ids[0], event) for event, _ in second.pieces}
    lead = factory.conn.execute("select event_key from page where id = %s", (ids[0],)).fetchone()
    assert lead == (b[0],)


def test_two_owners_who_are_told_the_same_event_have_a_page_each(factory: Factory) -> None:
    subscribed(factory, "ada", "bob")
    read(factory, item("a"))
    pages = set()
    for owner in ("ada", "bob"):
        at = morning(factory, owner)
        accept(factory, at)
        pages |= set(want(factory, at))
    assert len(pages) == 6


def test_what_was_read_back_while_it_was_wanted_is_published_and_the_lease_is_free(factory: Factory) -> None:
    at, ids = told(factory)
    assert page.next_move(factory.conn, ids[0]).name == "publish"
    show(factory, ids[0], cards=at.pieces)
    assert _versions(factory, ids)[0] == (1, 1)
    assert page.state(factory.conn, ids[0]).objects == wiki.OBJECTS
    assert page.next_move(factory.conn, ids[0]).name == "done"
    found = factory.conn.execute("select published_at is not null from source_card").fetchall()
    assert found == [(True,), (True,)]
    assert page_scene(factory, ids[0], holder="worker-2").claim.attempts == 1


def test_a_mark_that_a_newer_text_overtook_is_refused_the_page_stays_due_and_its_write_open(factory: Factory) -> None:
    at = factory.scene("page_write/open_superseded")
    before = tables(factory.conn)
    with pytest.raises(Superseded):
        wiki.mark(factory, at)
    assert tables(factory.conn) == before
    assert _writes(factory) == [(1, 1, "open")]
    assert page.state(factory.conn, at.key).dirty
    open_write(factory, at, version=2)
    wiki.mark(factory, at, version=2)
    assert _writes(factory) == [(1, 1, "abandoned"), (1, 2, "closed")]
    assert (_versions(factory, [at.key]), _recheck_in(factory, at.key)) == ([(2, 2)], None)


def test_a_mark_of_another_version_than_was_opened_publishes_nothing(factory: Factory) -> None:
    at = factory.scene("page_write/open_superseded")
    with pytest.raises(Superseded):
        wiki.mark(factory, at, version=2)
    assert _versions(factory, [at.key]) == [(2, 0)]


def test_a_write_that_a_dead_worker_left_open_is_abandoned_and_the_page_is_read_once_more(factory: Factory) -> None:
    at = factory.scene("page_write/open_taken")
    open_write(factory, at)
    assert _writes(factory) == [(1, 1, "abandoned"), (2, 1, "open")]
    wiki.mark(factory, at)
    left = _recheck_in(factory, at.key)
    assert left is not None
    assert wiki.RECHECK - 1 < left <= wiki.RECHECK
    assert not page.state(factory.conn, at.key).dirty
    assert at.key not in page.find_dirty(factory.conn)
    factory.clock.forward(wiki.RECHECK)
    assert page.state(factory.conn, at.key).recheck
    assert at.key in page.find_dirty(factory.conn)
    again = page_scene(factory, at.key)
    page_write.confirm(factory.conn, again.claim, recheck_after=wiki.RECHECK)
    assert (_recheck_in(factory, at.key), page.state(factory.conn, at.key).dirty) == (None, False)
    assert page_scene(factory, at.key, holder="worker-2").claim.attempts == 1


def test_a_look_before_the_time_has_come_does_not_make_the_later_one_unnecessary(factory: Factory) -> None:
    at = factory.scene("page_write/open_taken")
    open_write(factory, at)
    wiki.mark(factory, at)
    page_write.confirm(factory.conn, page_scene(factory, at.key).claim, recheck_after=wiki.RECHECK)
    assert _recheck_in(factory, at.key) is not None
    show_again = page_scene(factory, at.key)
    open_write(factory, show_again)
    wiki.mark(factory, show_again)
    assert _recheck_in(factory, at.key) is not None


def test_a_look_that_finds_all_well_abandons_what_a_dead_worker_opened_and_asks_for_another_look(
    factory: Factory,
) -> None:
    _, ids = told(factory)
    show(factory, ids[0])
    page.doubt(factory.conn, ids[0])
    open_write(factory, page_scene(factory, ids[0]))
    factory.die()
    page_write.confirm(factory.conn, page_scene(factory, ids[0], holder="worker-2").claim, recheck_after=wiki.RECHECK)
    assert [status for _, _, status in _writes(factory)] == ["closed", "abandoned"]
    factory.clock.forward(wiki.RECHECK)
    page_write.confirm(factory.conn, page_scene(factory, ids[0]).claim, recheck_after=wiki.RECHECK)
    assert _recheck_in(factory, ids[0]) is None


def test_a_write_upon_a_page_that_was_up_to_date_makes_it_due_until_it_is_marked(factory: Factory) -> None:
    _, ids = told(factory)
    show(factory, ids[0])
    at = page_scene(factory, ids[0])
    open_write(factory, at)
    factory.die()
    assert ids[0] in page.find_dirty(factory.conn), "nobody knows what the dead worker has put"
    again = page_scene(factory, ids[0])
    open_write(factory, again)
    wiki.mark(factory, again)
    assert _recheck_in(factory, ids[0]) is not None


def test_a_page_that_somebody_without_a_lease_doubts_is_due_for_a_look(factory: Factory) -> None:
    _, ids = told(factory)
    show(factory, ids[0])
    page.doubt(factory.conn, ids[0])
    assert page.state(factory.conn, ids[0]).recheck
    assert ids[0] in page.find_dirty(factory.conn)
    show(factory, ids[0])
    assert not page.state(factory.conn, ids[0]).recheck


def test_a_page_that_is_held_or_postponed_is_not_found_and_one_that_always_fails_rests_but_is_never_closed(
    factory: Factory,
) -> None:
    _, ids = told(factory)
    at = page_scene(factory, ids[0])
    assert ids[0] not in page.find_dirty(factory.conn)
    for _ in range(limits.BUDGET + 2):
        failed = ending.fail(factory.conn, at.work_key, token=at.claim.token, reason="the store was down")
        assert not failed.exhausted
        assert ids[0] not in page.find_dirty(factory.conn)
        factory.clock.forward(1000)
        assert ids[0] in page.find_dirty(factory.conn)
        at = page_scene(factory, ids[0])
    factory.die()
    assert ending.find_spent(factory.conn) == [at.work_key]
    assert ending.expire(factory.conn, at.work_key)
    assert ids[0] not in page.find_dirty(factory.conn)
    factory.clock.forward(limits.PAGE_REST + 1)
    assert ids[0] in page.find_dirty(factory.conn)
    assert page_scene(factory, ids[0]).claim.attempts == limits.BUDGET


def test_a_page_has_one_publisher_at_a_time(factory: Factory) -> None:
    _, ids = told(factory)
    page_scene(factory, ids[0])
    with pytest.raises(LeaseHeld):
        page_scene(factory, ids[0], holder="worker-2")
