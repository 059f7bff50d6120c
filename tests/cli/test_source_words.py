"""What a source is said to be: every outcome in words, and which source a person means. No database."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from matins.cli.naming import choose
from matins.cli.source_words import Viewer, address, following, left, run, went
from matins.ledger.source import Subscribed
from matins.ledger.source_facts import Facts
from matins.ledger.window import Run, UnreadWindow
from matins.rules.errors import Refused

NOW = datetime(2026, 11, 30, 7, 58, tzinfo=UTC)
FRIDAY = datetime(2026, 11, 27, 3, 10, tzinfo=UTC)
READ = datetime(2026, 11, 30, 7, 41, tzinfo=UTC)
SEEN = Viewer("Europe/London", NOW, network_down=False, skipped=frozenset())
SOURCE = Subscribed(
    name="The Gazette", purpose="news", kind="feed", key="k", url="https://www.gazette.example/feed", fetch_url=None,
    title="The Gazette", outcome="new", reason="", settled_at=READ, tried_at=READ, failing_since=None, due_at=READ,
    items_read=15, failures=0, moved_to=None, moved_since=None,
)  # fmt: skip
FAILING = replace(SOURCE, outcome="unreachable", reason="503", failing_since=FRIDAY)
FACTS = Facts(attempts=0, budget=5, retry_at=None, read_until=None, events=212, readers=1, now=NOW)
NETWORK = "most likely it is this machine's network"


@pytest.mark.parametrize(
    ("one", "seen", "said"),
    [
        (SOURCE, SEEN, "15 items, read 07:41"),
        (replace(SOURCE, outcome=None, tried_at=None), SEEN, "not read yet"),
        (FAILING, SEEN, "could not look since Fri 27 Nov 03:10: 503"),
        (FAILING, replace(SEEN, network_down=True), f"could not look since Fri 27 Nov 03:10: {NETWORK} (503)"),
        (replace(FAILING, outcome="invalid", reason="404"), replace(SEEN, network_down=True), "could not look since"),
        (replace(FAILING, outcome="gone"), SEEN, "says it is gone for good (410) since Fri 27 Nov 03:10; asked again"),
        (replace(SOURCE, outcome="partial", reason="broke off after 12 entries"), SEEN, "read only in part 07:41: b"),
        (replace(FAILING, reason="on holiday"), replace(SEEN, skipped=frozenset("k")), "skipped by you 07:41: on h"),
    ],
)
def test_every_outcome_of_a_read_is_told_in_words(one, seen, said) -> None:
    assert went(one, seen).startswith(said)
    assert NETWORK not in went(one, seen) or NETWORK in said


@pytest.mark.parametrize(
    ("facts", "due", "said"),
    [
        (FACTS, READ, "Matins reads it with the next check."),
        (FACTS, NOW + timedelta(minutes=30), "Matins reads it at 08:28."),
        (replace(FACTS, read_until=NOW), READ, "It is being read right now."),
        (replace(FACTS, attempts=4, retry_at=NOW + timedelta(minutes=15)), READ,
         "Matins tries again at 08:13; 1 try left before the next window."),
    ],
)  # fmt: skip
def test_whose_move_is_next_with_a_source_is_told(facts, due, said) -> None:
    assert following(replace(SOURCE, due_at=due), facts, SEEN) == said


def test_a_redirect_is_told_with_the_day_on_which_it_is_believed() -> None:
    moving = replace(SOURCE, moved_to="https://new.example/feed", moved_since=FRIDAY)
    assert address(SOURCE, SEEN) == [("address", SOURCE.url)]
    assert address(moving, SEEN)[1] == (
        "moves to",
        "https://new.example/feed since Fri 27 Nov 03:10; believed after 7 days, Fri 4 Dec 03:10",
    )
    moved = address(replace(moving, fetch_url=moving.moved_to), SEEN)
    assert moved[1:] == [("read at", "https://new.example/feed (it moved there for good)")]


@pytest.mark.parametrize(
    ("status", "fields", "said"),
    [
        ("new", {"fresh": 3, "items": 15}, "3 new of 15 items"),
        ("new", {"fresh": 0, "items": 1, "renamed": 1}, "0 new of 1 item, 1 under another name"),
        ("none", {"reads": 12}, "nothing new, 12 times"),
        ("none", {}, "nothing new"),
        ("partial", {"reason": "broke off", "fresh": 1, "items": 2}, "only in part: broke off; 1 new of 2 items"),
        ("gone", {}, "says it is gone for good (410)"),
        ("claimed", {}, "being read"),
        ("failed", {"reason": "its readers died"}, "could not look: its readers died"),
    ],
)
def test_every_read_is_told_in_words(status, fields, said) -> None:
    plain = {"reason": "", "items": 0, "fresh": 0, "renamed": 0, "reads": 1}
    assert run(Run(status=status, since=READ, ended_at=READ, **{**plain, **fields})) == said


def test_every_window_that_was_left_says_why() -> None:
    told = [left(UnreadWindow(1, how, "503", 5, READ)) for how in ("spent", "gone", "died", "skipped")]
    assert told == [
        "gave up after 5 tries: 503", "is gone for good", "its readers died, after 5 tries", "skipped by you: 503"
    ]  # fmt: skip


NAMES = ("The Gazette", "The Gazette (b.example)", "LWN", "lwn kernel")
FOUND = [
    replace(SOURCE, name=name, url=f"https://www.{at}.example/feed") for at, name in zip("abcd", NAMES, strict=True)
]


@pytest.mark.parametrize(
    ("wanted", "meant"),
    [
        ("The Gazette", 0),
        ("the gazette", 0),
        ("the gazette (", 1),
        ("lwn", 2),
        ("LWN k", 3),
        ("https://www.c.example/feed", 2),
        ("d.example", 3),
        ("the", '"the" could be The Gazette or The Gazette (b.example); write more of it'),
        ("times", 'no source called "times". There are: The Gazette, The Gazette (b.example), LWN and lwn kernel'),
        ("", 'no source called ""'),
        ("%", 'no source called "%"'),
    ],
)
def test_a_source_is_meant_by_name_address_or_beginning_and_else_the_candidates_are_named(wanted, meant) -> None:
    if isinstance(meant, int):
        assert choose(FOUND, "sam", wanted) is FOUND[meant]
    else:
        with pytest.raises(Refused) as refused:
            choose(FOUND, "sam", wanted)
        assert meant in refused.value.message


@pytest.mark.parametrize(("wanted", "meant"), [("Acme", 1), ("bol", 2), ("openings at b", 2), ("bolt news", 0)])
def test_a_board_may_be_called_as_the_profile_calls_it(wanted, meant) -> None:
    found = [replace(SOURCE, name=name) for name in ("Bolt News", "openings at acme", "openings at bolivia")]
    assert choose(found[:2] if meant == 0 else found[1:], "sam", wanted) is found[meant]


def test_of_many_candidates_only_some_are_named() -> None:
    with pytest.raises(Refused, match=r"and 12 more$"):
        choose([replace(SOURCE, name=f"n{number}") for number in range(20)], "sam", "x")
    with pytest.raises(Refused, match="sam reads nothing yet"):
        choose([], "sam", "x")
