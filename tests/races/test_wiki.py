"""Two that write about one page at once: the newer text wins, and whoever lost says so or leaves the page due."""

from __future__ import annotations

from matins.ledger import page
from matins.rules import keys, limits
from matins.rules.errors import LeaseLost, Superseded
from tests.ledger import wiki
from tests.ledger.factory import LEASE, URL, Scene, item
from tests.ledger.wiki import Morning, accept, draft, morning, read, subscribed, want
from tests.races.race import Act, Race


def _accept(at: Morning) -> Act:
    return lambda make: accept(make, at, draft(at.pieces[0], prompt="2", text="What happened since."))


def _told(race: Race) -> tuple[Morning, str]:
    at, ids = wiki.told(race.first)
    return at, ids[0]


def _page(race: Race, page_id: str) -> tuple[int, int]:
    row = race.tables()["page"][(page_id,)]
    return row["wanted"], row["published"]


def test_a_mark_that_waits_for_a_newer_text_is_superseded(race: Race) -> None:
    at, page_id = _told(race)
    made = wiki.page_scene(race.first, page_id)
    wiki.open_write(race.first, made)
    lost = race.run(_accept(at), lambda make: wiki.mark(make, made))
    assert type(lost.exception()) is Superseded
    assert _page(race, page_id) == (2, 0)


def test_a_newer_text_that_waits_for_a_mark_leaves_the_page_due(race: Race) -> None:
    at, page_id = _told(race)
    made = wiki.page_scene(race.first, page_id)
    wiki.open_write(race.first, made)
    won = race.run(lambda make: wiki.mark(make, made), _accept(at))
    assert won.result() == []
    assert _page(race, page_id) == (2, 1)


def test_a_mark_whose_rival_text_rolls_back_is_published(race: Race) -> None:
    at, page_id = _told(race)
    made = wiki.page_scene(race.first, page_id)
    wiki.open_write(race.first, made)
    won = race.run(_accept(at), lambda make: wiki.mark(make, made), undo=True)
    assert won.exception() is None
    assert _page(race, page_id) == (1, 1)


def test_an_intent_that_waits_for_a_newer_text_is_superseded(race: Race) -> None:
    at, page_id = _told(race)
    made = wiki.page_scene(race.first, page_id)
    lost = race.run(_accept(at), lambda make: wiki.open_write(make, made))
    assert type(lost.exception()) is Superseded
    assert race.tables()["page_write"] == {}


def test_two_owners_who_want_a_page_of_one_event_at_once_have_one_each(race: Race) -> None:
    subscribed(race.first, "ada", "bob")
    read(race.first, keys.source(URL), item("a"))
    ada, bob = (morning(race.first, owner) for owner in ("ada", "bob"))
    accept(race.first, ada)
    with race.held_by(lambda make: want(make, ada)):
        pages = want(race.second, bob)
    assert len({*pages, *want(race.first, ada)}) == 6
    assert {row["wanted"] for row in race.tables()["page"].values()} == {1}


def test_one_morning_that_wants_its_pages_twice_at_once_wants_them_once(race: Race) -> None:
    at, ids = wiki.told(race.first)
    again = race.run(lambda make: want(make, at), lambda make: want(make, at))
    assert again.result() == ids
    assert {row["wanted"] for row in race.tables()["page"].values()} == {1}


def test_of_two_texts_on_one_event_accepted_at_once_both_are_counted_and_the_second_is_current(race: Race) -> None:
    at, page_id = _told(race)
    other = draft(at.pieces[0], prompt="3", text="What happened at last.")
    both = race.run(_accept(at), lambda make: accept(make, at, other))
    assert both.result() == []
    assert _page(race, page_id) == (3, 0)
    assert race.tables()["event"][(at.pieces[0][0],)]["summary_key"] == other.key


def test_a_zombie_that_opens_a_write_while_its_page_is_taken_over_opens_none(race: Race) -> None:
    _, page_id = _told(race)
    dead = wiki.page_scene(race.first, page_id)
    race.clock.forward(LEASE + 1)
    lost = race.run(
        lambda make: wiki.page_scene(make, page_id, holder="worker-2"), lambda make: wiki.open_write(make, dead)
    )
    assert type(lost.exception()) is LeaseLost
    assert race.tables()["page_write"] == {}


def test_a_page_taken_over_while_a_write_is_opened_has_that_write_abandoned_by_its_new_publisher(race: Race) -> None:
    _, page_id = _told(race)
    first = wiki.page_scene(race.first, page_id)
    race.clock.forward(LEASE - 1)
    won = race.run(
        lambda make: wiki.open_write(make, first),
        lambda make: wiki.page_scene(make, page_id, holder="worker-2"),
        meanwhile=lambda: race.clock.forward(2),
    )
    wiki.open_write(race.second, won.result())
    found = [(row["token"], row["status"]) for row in race.tables()["page_write"].values()]
    assert sorted(found) == [(1, "abandoned"), (2, "open")]
    assert race.tables()["page"][(page_id,)]["recheck_at"] is not None


def _carded(race: Race) -> tuple[Morning, Scene]:
    """A page that is published without the card that a write left on it, claimed again. It may be collected."""
    at, page_id = _told(race)
    made = wiki.page_scene(race.first, page_id)
    wiki.open_write(race.first, made, cards=at.pieces)
    wiki.mark(race.first, made)
    race.clock.forward(limits.CARDS_KEPT + 1)
    page.doubt(race.first.conn, page_id)
    return at, wiki.page_scene(race.first, page_id)


def _shown(race: Race) -> list[bool]:
    return [row["published_at"] is not None for row in race.tables()["source_card"].values()]


def test_a_card_that_is_collected_while_a_write_is_opened_is_on_the_page_all_the_same(race: Race) -> None:
    at, made = _carded(race)
    won = race.run(
        lambda make: page.collect_cards(make.conn), lambda make: wiki.open_write(make, made, cards=at.pieces)
    )
    assert won.exception() is None
    wiki.mark(race.first, made, cards=at.pieces)
    assert _shown(race) == [True, True]


def test_a_card_that_is_collected_before_its_write_is_seen_is_there_again_with_the_mark(race: Race) -> None:
    at, made = _carded(race)
    with race.held_by(lambda make: wiki.open_write(make, made, cards=at.pieces)):
        assert page.collect_cards(race.second.conn) == 2
    lost = race.run(
        lambda make: wiki.mark(make, made, cards=at.pieces), lambda make: wiki.mark(make, made, cards=at.pieces)
    )
    assert lost.exception() is None
    assert _shown(race) == [True, True]


def test_a_card_that_is_being_marked_is_not_collected(race: Race) -> None:
    at, made = _carded(race)
    wiki.open_write(race.first, made, cards=at.pieces)
    with race.held_by(lambda make: wiki.mark(make, made, cards=at.pieces)):
        assert page.collect_cards(race.second.conn) == 0
    assert page.collect_cards(race.second.conn) == 0


def test_of_two_sweeps_that_collect_cards_each_card_is_collected_once(race: Race) -> None:
    at, page_id = _told(race)
    made = wiki.page_scene(race.first, page_id)
    wiki.open_write(race.first, made, cards=at.pieces)
    wiki.mark(race.first, made)
    race.clock.forward(limits.CARDS_KEPT + 1)
    with race.held_by(lambda make: page.collect_cards(make.conn)):
        assert page.collect_cards(race.second.conn) == 0
    told = [line for line in race.tables()["audit"].values() if line["event"] == "source_card.collected"]
    assert len(told) == 2
