"""Two that read, settle or end windows at once."""

from __future__ import annotations

from dataclasses import replace

from matins.ledger import admission, ingest, source, window
from matins.rules import keys
from matins.rules.errors import Closed, LeaseHeld, LeaseLost, Refused
from tests.ledger.factory import LEASE, URL, item, reading
from tests.ledger.wiki import read, subscribed
from tests.races.race import Race, claim, do

OTHER = "https://herald.example/feed.xml"


def test_a_cursor_does_not_move_for_a_run_that_was_taken_over_while_it_settled(race: Race) -> None:
    at = race.first.scene("ingest_run/claimed_admitted")
    race.first.die()
    lost = race.run(claim(at), do("ingest.settle", at))
    assert type(lost.exception()) is LeaseLost
    assert race.tables()["source"][(at.key,)]["cursor_version"] == 1


def test_a_window_that_settles_while_a_new_reader_waits_is_closed_to_it(race: Race) -> None:
    at = race.first.scene("ingest_run/claimed_admitted")
    lost = race.run(do("ingest.settle", at), claim(at), meanwhile=lambda: race.clock.forward(LEASE + 1))
    assert type(lost.exception()) is Closed
    runs = race.tables()["ingest_run"]
    assert [run["status"] for run in runs.values()] == ["new"]


def test_one_run_settles_once_however_often_it_is_asked_at_once(race: Race) -> None:
    at = race.first.scene("ingest_run/claimed_admitted")
    alike = race.run(do("ingest.settle", at), do("ingest.settle", at))
    assert alike.result() == "new"
    assert race.tables()["source"][(at.key,)]["cursor_version"] == 2


def test_the_same_reader_claiming_twice_at_once_has_one_run(race: Race) -> None:
    at = race.first.scene("ingest_run/unclaimed")
    lost = race.run(claim(at, "worker-1"), claim(at, "worker-1"))
    assert type(lost.exception()) is LeaseHeld
    runs = race.tables()["ingest_run"]
    assert [(run["token"], run["status"]) for run in runs.values()] == [(1, "claimed")]


def test_of_two_sweeps_one_ends_a_spent_window(race: Race) -> None:
    at = race.first.scene("ingest_run/claimed_spent_dead")
    lost = race.run(do("window.expire", at), do("window.expire", at))
    assert lost.result() is False
    assert race.tables()["source"][(at.key,)]["cursor_version"] == 2


def test_two_pages_of_one_run_admitted_at_once_are_both_counted(race: Race) -> None:
    at = race.first.scene("ingest_run/claimed")
    window = at.window
    assert window is not None
    both = race.run(
        lambda make: admission.admit(make.conn, at.claim, window, [item("a")], baseline=True),
        lambda make: admission.admit(make.conn, at.claim, window, [item("b")], baseline=True),
    )
    assert both.result().items == 2
    assert ingest.settle(race.first.conn, at.claim, window, reading(item("a"), item("b")), declared=2) == "new"


def test_two_sources_whose_items_are_renamed_at_once_each_know_their_own(race: Race) -> None:
    subscribed(race.first, "ada")
    source.add(race.first.conn, "ada", url=OTHER, name="herald")
    found = [keys.source(URL), keys.source(OTHER)]
    for key in found:
        read(race.first, key, item("a"), item("b"))
    windows = [source.window(race.first.conn, key) for key in found]
    claims = [race.first.claim(at.work_key) for at in windows]
    renamed = [replace(item(name), identity=f"urn:{name}") for name in ("a", "b")]
    with race.held_by(lambda make: admission.admit(make.conn, claims[0], windows[0], renamed, baseline=False)):
        admitted = admission.admit(race.second.conn, claims[1], windows[1], renamed, baseline=False)
    assert (admitted.items, admitted.all_new) == (2, False)
    for at, held in zip(windows, claims, strict=True):
        assert ingest.settle(race.first.conn, held, at, reading(*renamed), declared=2) == "none"
    assert len(race.tables()["event"]) == len(race.tables()["identity_alias"]) == 4
    told = race.tables()["decision"].values()
    assert {(row["subject"], row["count"]) for row in told} == {(f"source/{key}", 2) for key in found}


def test_a_window_that_is_skipped_while_a_reader_waits_is_closed_to_it(race: Race) -> None:
    at = race.first.scene("ingest_run/unclaimed")
    lost = race.run(do("window.skip", at), claim(at))
    assert type(lost.exception()) is Closed


def test_a_window_that_is_claimed_while_somebody_waits_to_skip_or_renew_it_is_neither(race: Race) -> None:
    at = race.first.scene("ingest_run/unclaimed")
    window_ = at.window
    assert window_ is not None
    lost = race.run(claim(at), do("window.skip", at))
    assert type(lost.exception()) is Refused
    race.clock.forward(LEASE - 1)
    lost = race.run(
        lambda make: make.conn.execute("select 1 from work for no key update"),
        lambda make: window.renew(make.conn, window_, budget=True),
    )
    assert type(lost.exception()) is Refused
