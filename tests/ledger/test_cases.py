"""What once went wrong with feeds, each by its number in the list of cases: renamed items, reposts, failed reads."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from matins.ledger import admission, evidence, ingest, source
from matins.rules.evidence import Item, ReadOutcome
from tests.ledger.factory import DATE, Factory, failure, item
from tests.ledger.test_ingest import KEY, read
from tests.ledger.wiki import research, subscribed

TOMORROW = "ada/morning/2026-08-18"
LONG = "What the town council decided about the bridge on its {} meeting, and what it costs the town."
FEED = tuple(
    Item(f"http://gazette.example/{n}", f"http://gazette.example/{n}", f"Meeting {n}", LONG.format(n))
    for n in range(30)
)

Rename = Callable[[Item], Item]


def _number(one: Item) -> str:
    return one.identity.rpartition("/")[2]


RENAMES: dict[str, Rename] = {
    "http became https in guids and links": lambda one: replace(
        one, identity=one.identity.replace("http:", "https:"), url=one.url.replace("http:", "https:")
    ),
    "new guids, the same links": lambda one: replace(one, identity=f"urn:uuid:{_number(one)}"),
    "another host": lambda one: replace(
        one, identity=one.identity.replace("gazette", "herald"), url=one.url.replace("gazette", "herald")
    ),
    "new guids and new links": lambda one: replace(
        one, identity=f"tag:{_number(one)}", url=f"https://gazette.example/archive/2026/{_number(one)}"
    ),
}


def _decisions(make: Factory) -> list[tuple[Any, ...]]:
    return make.conn.execute("select subject, kind, reason, count from decision order by kind").fetchall()


def _warned(count: int) -> list[tuple[Any, ...]]:
    return [(f"source/{KEY}", "identities.changed", admission.CHANGED, count)]


def _fresh(make: Factory) -> list[str]:
    """What tomorrow's edition could tell, by title."""
    research(make, day="2026-08-18")
    found = make.conn.execute(
        "select evidence.title from evidence_item join evidence"
        "    on evidence.event_key = evidence_item.event_key and evidence.hash = evidence_item.evidence_hash"
        " where evidence_item.key = %s order by title",
        (TOMORROW,),
    )
    return [title for (title,) in found.fetchall()]


@pytest.mark.parametrize("rename", RENAMES.values(), ids=RENAMES)
@pytest.mark.parametrize("order", [1, -1], ids=["in order", "shuffled"])
def test_c40_a_feed_that_renames_all_its_items_brings_nothing_new_and_one_warning_that_names_it(
    factory: Factory, rename: Rename, order: int
) -> None:
    subscribed(factory, "ada")
    read(factory, *FEED)
    research(factory)
    renamed = [rename(one) for one in FEED][::order]
    assert read(factory, *renamed) == "none"
    assert _decisions(factory) == _warned(30)
    assert read(factory, *renamed) == "none"
    assert _decisions(factory) == _warned(30), "the next read is quiet"
    assert _fresh(factory) == []
    assert factory.conn.execute("select renamed from ingest_run order by claimed_at").fetchall() == [(0,), (30,), (0,)]


@pytest.mark.parametrize("rename", RENAMES.values(), ids=RENAMES)
def test_c40_a_new_item_among_renamed_ones_is_new(factory: Factory, rename: Rename) -> None:
    subscribed(factory, "ada")
    read(factory, *FEED)
    research(factory)
    new = rename(Item("http://gazette.example/30", "http://gazette.example/30", "A flood", LONG.format("last")))
    assert read(factory, new, *(rename(one) for one in FEED[:-1])) == "new"
    assert _decisions(factory) == _warned(29)
    assert _fresh(factory) == ["A flood"]


def test_c40_a_renamed_item_with_new_words_is_a_new_version_of_the_same_event(factory: Factory) -> None:
    subscribed(factory, "ada")
    read(factory, *FEED[:2])
    research(factory)
    https = RENAMES["http became https in guids and links"]
    assert read(factory, replace(https(FEED[0]), title="Meeting 0, corrected"), https(FEED[1])) == "new"
    assert _fresh(factory) == ["Meeting 0, corrected"]
    assert factory.conn.execute("select count(*) from event").fetchone() == (2,)


def test_c40_a_name_that_was_given_up_and_comes_back_is_the_same_item_still(factory: Factory) -> None:
    subscribed(factory, "ada")
    https = RENAMES["http became https in guids and links"]
    read(factory, *FEED)
    read(factory, *map(https, FEED))
    assert read(factory, *FEED) == "none"
    assert read(factory, *map(https, FEED), *FEED) == "none", "even both in one document"
    assert _decisions(factory) == _warned(30)


def test_c41_an_old_guid_with_another_text_is_a_new_version_and_is_decided_as_an_update(factory: Factory) -> None:
    subscribed(factory, "ada")
    read(factory, item("a", "Old."), item("b"))
    research(factory)
    assert read(factory, item("a", "New."), item("b")) == "new"
    assert _decisions(factory) == [(f"source/{KEY}", "items.updated", admission.UPDATED, 1)]
    assert read(factory, item("a", "New."), item("b")) == "none"
    assert _decisions(factory)[0][-1] == 1
    assert _fresh(factory) == ["a"]
    versions = factory.conn.execute("select body from evidence where title = 'a' order by admitted_at").fetchall()
    assert versions == [("Old.",), ("New.",)]


def test_c43_an_item_dated_in_the_future_is_in_one_evidence_set_and_on_no_later_day_fresh(factory: Factory) -> None:
    subscribed(factory, "ada")
    later = replace(item("a"), published_at=datetime(2027, 1, 1, tzinfo=UTC))
    read(factory, later)
    _, told = research(factory)
    assert len(told) == 1
    assert read(factory, later, item("b")) == "new"
    assert _fresh(factory) == ["b"]
    times = factory.conn.execute("select count(*) from evidence_item where event_key = %s", (told[0][0],)).fetchone()
    assert times == (1,)


@pytest.mark.parametrize("outcome", [ReadOutcome.UNREACHABLE, ReadOutcome.INVALID, ReadOutcome.GONE])
def test_c44_a_read_that_fails_forgets_nothing_and_the_next_one_adds_nothing(
    factory: Factory, outcome: ReadOutcome
) -> None:
    subscribed(factory, "ada")
    read(factory, *FEED)
    before = source.window(factory.conn, KEY)
    seen = factory.conn.execute("select key, evidence_hash from event order by key").fetchall()
    ingest.fail(factory.conn, factory.claim(before.work_key), before, failure(outcome))
    assert source.window(factory.conn, KEY).cursor == before.cursor
    assert factory.conn.execute("select key, evidence_hash from event order by key").fetchall() == seen
    factory.clock.forward(90_000)
    assert read(factory, *FEED) == "none"
    assert factory.conn.execute("select count(*) from evidence").fetchone() == (30,)


def _look(make: Factory, items: Sequence[Item] | None) -> tuple[bool, str, int, bool]:
    """This morning's look at the gazette, which listed `items`, or did not answer."""
    subscribed(make, "ada")
    research(make)
    if items is None:
        window = source.window(make.conn, KEY)
        ingest.fail(make.conn, make.claim(window.work_key), window, failure())
    else:
        read(make, *items)
    (look,) = source.looks(make.conn, f"ada/morning/{DATE}")
    return look.reached, look.reason, look.items_read, look.since is None


def test_c53_a_feed_that_is_empty_was_reached_and_one_that_does_not_answer_was_not(factory: Factory) -> None:
    with factory.conn.transaction(force_rollback=True):
        assert _look(factory, [item("a")]) == (True, "", 1, True)
    with factory.conn.transaction(force_rollback=True):
        assert _look(factory, []) == (True, "", 0, True)
    assert _look(factory, None) == (False, "connection refused", 0, False)


def test_a_source_that_broke_off_was_reached_and_says_where(factory: Factory) -> None:
    subscribed(factory, "ada")
    research(factory)
    window = source.window(factory.conn, KEY)
    claim = factory.claim(window.work_key)
    admission.admit(factory.conn, claim, window, FEED[:3], baseline=True)
    ingest.fail(factory.conn, claim, window, replace(failure(ReadOutcome.PARTIAL), reached=True))
    (look,) = source.looks(factory.conn, f"ada/morning/{DATE}")
    assert (look.reached, look.partial, look.reason) == (True, True, "connection refused")
    assert len(evidence.fresh(factory.conn, f"ada/morning/{DATE}")) == 3
