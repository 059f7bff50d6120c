"""What a morning waits for: sources not tried since it was queued, on the first day and on every day after."""

from matins.ledger import obligation, profile, source, today, work
from matins.rules import keys
from matins.rules.profile import parse

WAIT = 60.0


def owned(conn, owner: str) -> str:
    raw = {"owner": owner, "zone": "Europe/London", "window": "00:00-23:59"}
    profile.apply(conn, parse(raw, where="the test"))
    source.add(conn, owner, url="http://example.net/feed", name="The Gazette")
    return source.of_owner(conn, owner)[0].key


def tried(conn, source_key: str) -> None:
    conn.execute("update source set tried_at = ledger_now(), settled_at = ledger_now() where key = %s", (source_key,))


def waits(conn, key: str) -> bool:
    return obligation.next_move(conn, key, poll_wait=WAIT).name == "polls"


def test_every_day_asks_anew_and_waits_until_its_sources_were_tried(conn, clock) -> None:
    read = owned(conn, "sam")
    for _ in range(3):
        key = today.ask(conn, "sam")
        assert waits(conn, key), "not asked yet today"
        assert source.ask(conn, key) == [read]
        assert waits(conn, key), "asked, and not tried yet"
        tried(conn, read)
        assert not waits(conn, key)
        clock.forward(86_400)


def test_an_owner_who_shares_a_source_asks_for_a_read_of_its_own(conn, clock) -> None:
    read = owned(conn, "sam")
    source.ask(conn, today.ask(conn, "sam"))
    tried(conn, read)
    clock.forward(420)
    owned(conn, "kim")
    key = today.ask(conn, "kim")
    assert waits(conn, key)
    assert source.ask(conn, key) == [read]
    assert waits(conn, key)


def test_a_source_that_never_answers_is_waited_for_so_long_and_no_longer(conn, clock) -> None:
    owned(conn, "sam")
    key = today.ask(conn, "sam")
    source.ask(conn, key)
    clock.forward(WAIT - 1)
    assert waits(conn, key)
    clock.forward(2)
    assert not waits(conn, key)
    (look,) = source.looks(conn, key)
    assert (look.reached, look.reason) == (False, "not answered in time")


def test_a_source_that_backs_off_delays_no_morning(conn) -> None:
    read = owned(conn, "sam")
    key = today.ask(conn, "sam")
    conn.execute("update work set retry_at = ledger_now() + interval '5 minutes' where key = %s",
                 (source.window(conn, read).work_key,))  # fmt: skip
    assert not waits(conn, key)


def test_a_morning_without_sources_waits_for_nothing(conn) -> None:
    profile.apply(conn, parse({"owner": "jo", "zone": "Europe/London", "window": "00:00-23:59"}, where="the test"))
    key = today.ask(conn, "jo")
    assert obligation.next_move(conn, key).name == "research"
    assert work.claim(conn, keys.obligation_work(key), holder="h", lease=5, limit=5).attempts == 1
