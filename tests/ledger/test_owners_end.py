"""An owner who was ended: nothing is owed any more, nothing is read, and what was made stays."""

import pytest

from matins.ledger import health, openings, plan, profile, source, standing, today
from matins.ledger.obligation import next_move
from matins.ledger.openings import Followed
from matins.rules import keys
from matins.rules.errors import ProfileMissing, Refused
from matins.rules.evidence import SourceKind
from tests.ledger.factory import Factory
from tests.ledger.wiki import show, told

BOARD = {"name": "acme", "kind": "lever", "url": "https://jobs.example/acme"}


def test_nothing_is_owed_to_an_ended_owner_and_applying_a_profile_begins_anew(factory: Factory) -> None:
    wanted = factory.owner("ada")
    factory.owner("bo")
    source.add(factory.conn, "ada", url="https://a.example/feed", name="a")
    assert profile.end(factory.conn, "ada")
    assert not profile.end(factory.conn, "ada")
    factory.clock.forward(86400)
    assert {keys.parse(key).owner for key in plan.plan(factory.conn).declared} == {"bo"}
    assert source.of_owner(factory.conn, "ada") == []
    assert source.find_due(factory.conn) == []
    assert (profile.owners(factory.conn), list(standing.owners(factory.conn))) == (["bo"], ["bo"])
    assert profile.is_taken(factory.conn, "ada")
    with pytest.raises(Refused, match="was ended"):
        today.ask(factory.conn, "ada")
    assert profile.apply(factory.conn, wanted).changed
    assert {keys.parse(key).owner for key in plan.plan(factory.conn).declared} == {"ada"}


def test_a_morning_that_is_declared_for_an_ended_owner_is_not_begun(factory: Factory) -> None:
    at = factory.scene("obligation/declared_open")
    profile.end(factory.conn, "ada")
    assert plan.plan(factory.conn).queued == []
    assert keys.parse(at.key).owner == "ada"


def test_an_owner_that_does_not_exist_cannot_be_ended(factory: Factory) -> None:
    with pytest.raises(ProfileMissing):
        profile.end(factory.conn, "nobody")


def test_boards_that_nobody_follows_yet_are_followed_before_the_research(factory: Factory) -> None:
    key = factory.scene("obligation/queued").key
    factory.owner("ada", openings={"titles": ["engineer"], "boards": [BOARD]})
    version = profile.current(factory.conn, "ada").version
    factory.conn.execute("update obligation set profile_version = %s where key = %s", (version, key))
    assert next_move(factory.conn, key).name == "polls"
    openings.follow(factory.conn, "ada", [Followed("acme", SourceKind.LEVER, BOARD["url"])])
    factory.conn.execute("update source set tried_at = ledger_now()")
    assert next_move(factory.conn, key).name == "research"


def test_a_page_that_is_up_to_date_is_not_stuck_and_one_that_is_due_is(factory: Factory) -> None:
    _, ids = told(factory)
    for page_id in ids:
        show(factory, page_id)
    factory.clock.forward(3600)
    others = health.stuck(factory.conn)
    assert factory.conn.execute("select count(*) from stuck where kind = 'page'").fetchone() == (0,)
    factory.conn.execute("update page set wanted = wanted + 1 where id = %s", (ids[0],))
    assert health.stuck(factory.conn) == others + 1
    factory.conn.execute("update page set wanted = published where id = %s", (ids[0],))
