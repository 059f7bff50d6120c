"""What the boards list today, against the last report."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations
from typing import Any

import pytest

from matins.brief.openings import report
from matins.brief.openings_fit import Words
from matins.rules.canonical import canonical
from matins.rules.evidence import SourceKind
from matins.rules.openings import Board, BoardLook, Openings, Posting
from tests.brief.boards import AT, DAY, WANTS, look, mornings, posting, sections, unreached

FIRST = look(posting())
OTHER = posting("2", "Database Engineer")


@pytest.mark.parametrize(
    ("looks", "new", "still_open", "gone"),
    [
        # a first report has nothing new; after it, what appears is new for one day
        ([FIRST], [], ["Engineer"], []),
        ([FIRST, look(posting(), OTHER)], ["Database Engineer"], ["Engineer"], []),
        ([FIRST, look(posting(), OTHER), look(posting(), OTHER)], [], ["Database Engineer", "Engineer"], []),
        # what is listed no more is gone, for one day
        ([look(posting(), OTHER), look(OTHER)], [], ["Database Engineer"], ["Engineer"]),
        ([look(posting(), OTHER), look(OTHER), look(OTHER)], [], ["Database Engineer"], []),
        # the same role under a new id is the same role; another team or text is another role
        ([FIRST, look(posting("9"))], [], ["Engineer"], []),
        ([FIRST, look(posting("9", text="You  keep\nthe INDEXES."))], [], ["Engineer"], []),
        ([FIRST, look(posting("9", place="Remote"))], [], ["Engineer"], []),
        ([FIRST, look(posting("9", team="Cranes"))], ["Engineer"], [], ["Engineer"]),
        ([FIRST, look(posting("9", text="You drive the crane."))], ["Engineer"], [], ["Engineer"]),
        ([FIRST, look(posting("9", "Senior Engineer"))], ["Senior Engineer"], [], ["Engineer"]),
        # one whose words were changed under its id is not new
        ([FIRST, look(posting(text="You mend the indexes."))], [], ["Engineer"], []),
        ([FIRST, look(posting(title="Senior Engineer"))], [], ["Senior Engineer"], []),
        # a board that was not reached removes nothing, however often
        ([FIRST, unreached()], [], ["Engineer"], []),
        ([FIRST, unreached(), unreached(), look(posting())], [], ["Engineer"], []),
        ([FIRST, unreached(), look(OTHER)], ["Database Engineer"], [], ["Engineer"]),
        # an empty answer from a board that had roles removes them when it is given twice in a row
        ([FIRST, look()], [], ["Engineer"], []),
        ([FIRST, look(), look()], [], [], ["Engineer"]),
        ([FIRST, look(), look(), look()], [], [], []),
        ([FIRST, look(), unreached()], [], ["Engineer"], []),
        ([FIRST, look(), unreached(), look()], [], [], ["Engineer"]),
        ([FIRST, look(), look(posting()), look()], [], ["Engineer"], []),
        ([FIRST, look(), look(posting())], [], ["Engineer"], []),
        # what comes to a board that was believed to be empty is new; else it is the board's first look
        ([look(), look(), look(posting())], ["Engineer"], [], []),
        ([look(), look(posting())], [], ["Engineer"], []),
        ([unreached(), look(posting())], [], ["Engineer"], []),
        # a board that joins has nothing new on its first day
        ([FIRST, [look(posting()), look(OTHER, name="beta")]], [], ["Database Engineer", "Engineer"], []),
        # a board that is not asked for any more takes its roles along, and none of them is gone
        ([[FIRST, look(OTHER, name="beta")], look(posting())], [], ["Engineer"], []),
        # the same words on two boards are two roles
        ([[FIRST, look(posting("2"), name="beta")]], [], ["Engineer", "Engineer"], []),
    ],
)
def test_what_is_new_what_is_open_and_what_is_gone(
    looks: list[Any], new: list[str], still_open: list[str], gone: list[str]
) -> None:
    made = mornings(*looks)
    assert sections(made) == (new, still_open, gone)
    assert made["counts"] == {"new": len(new), "open": len(new) + len(still_open), "removed": len(gone)}


@pytest.mark.parametrize(
    ("looks", "state", "checked"),
    [
        ([FIRST], "checked", True),
        ([FIRST, unreached()], "not checked", False),
        ([FIRST, unreached(), look(posting())], "checked", True),
        ([FIRST, look()], "says none", False),
        ([FIRST, look(), look()], "checked", None),
        ([look()], "unverified", None),
        ([look(), unreached()], "not checked", None),
        ([look(), look()], "checked", None),
        ([look(), look(), look()], "checked", None),
        ([unreached()], "not checked", None),
    ],
)
def test_a_board_says_how_far_it_is_to_be_believed_and_so_do_its_roles(
    looks: list[BoardLook], state: str, checked: bool | None
) -> None:
    made = mornings(*looks)
    assert [board["state"] for board in made["boards"]] == [state]
    assert [role["checked"] for role in made.get("open", [])] == ([] if checked is None else [checked])


def test_the_same_words_on_two_boards_have_two_ids() -> None:
    made = mornings([FIRST, look(posting("2"), name="beta")])
    assert len({role["id"] for role in made["open"]}) == 2


def test_a_role_keeps_its_id_and_the_day_it_was_first_seen_when_it_is_posted_again() -> None:
    first = mornings(FIRST)["open"][0]
    again = mornings(FIRST, look(posting("9", place="Remote", seen=AT + DAY)))["open"][0]
    assert (again["id"], again["first_seen"]) == (first["id"], first["first_seen"])
    assert (again["places"], again["urls"]) == (["Remote"], ["https://acme.example/9"])


@pytest.mark.parametrize(
    ("second", "roles", "title", "places"),
    [
        (posting("2", place="Remote"), 1, "Engineer", ["London", "Remote"]),
        (posting("2", place="Remote; London"), 1, "Engineer", ["London", "Remote"]),
        (posting("2", place="London"), 1, "Engineer", ["London"]),
        (posting("2", "Engineer (Remote)", place="Remote"), 1, "Engineer", ["London", "Remote"]),
        (posting("2", "Engineer - Remote", place="Remote, UK"), 1, "Engineer", ["London", "Remote, UK"]),
        (posting("2", "Engineer, Remote", place="Remote"), 1, "Engineer", ["London", "Remote"]),
        (posting("2", place="Remote", text="You keep the Remote indexes."), 1, "Engineer", ["London", "Remote"]),
        (posting("2", "Engineer (Cranes)", place="Remote"), 2, "Engineer", ["London"]),
        (posting("2", place="Remote", text="You keep the London office."), 2, "Engineer", ["London"]),
    ],
)
def test_a_role_in_several_places_is_one_role_with_all_of_them(
    second: Posting, roles: int, title: str, places: list[str]
) -> None:
    made = mornings(look(posting(), second))["open"]
    assert len(made) == roles
    assert (title, places) in [(role["title"], role["places"]) for role in made]


def test_a_role_that_splits_or_joins_is_neither_new_nor_gone_and_ids_stay_apart() -> None:
    both = look(posting(), posting("2", place="Remote"))
    split = mornings(both, look(posting(), posting("2", place="Remote", text="You mend them.")))
    assert sections(split) == ([], ["Engineer", "Engineer"], [])
    assert len({role["id"] for role in split["open"]}) == 2
    joined = mornings(both, look(posting(), posting("2", place="Remote", text="You mend them.")), both)
    assert sections(joined) == ([], ["Engineer"], [])
    swapped = mornings(look(posting()), look(posting(text="You mend them."), posting("2")))
    assert sections(swapped)[::2] == ([], [])
    assert len({role["id"] for role in swapped["open"]}) == 2


@pytest.mark.parametrize(
    ("title", "places", "why", "score"),
    [
        ("Engineer", ["London"], "title says engineer; London", 15),
        ("Database ENGINEERS", ["London, UK", "Remote - UK"], "title says engineer, database; London, remote", 30),
        ("Engineer", [], "title says engineer; no place named", 10),
        ("Engineer", ["Oslo"], None, "in none of your places"),
        ("Engineering Lead", ["London"], None, "the title says none of your words"),
        ("Bookkeeper", ["London"], None, "the title says none of your words"),
        ("Manager", ["London"], None, "the title says none of your words"),
        ("Engineer Manager", ["London"], None, "the title says manager"),
        ("Engineer, Managerial Accounts", ["London"], "title says engineer; London", 15),
    ],
)
def test_a_role_fits_by_words_that_can_be_checked(
    title: str, places: list[str], why: str | None, score: int | str
) -> None:
    fit = Words.of(WANTS).fit(title, places)
    assert (fit.asked_for, fit.why, fit.score) == (True, why, score) if why else (False, score, 0)


def test_without_places_any_place_will_do_and_capitals_are_found_in_capitals() -> None:
    words = Words.of(replace(WANTS, titles=("IT", "head of"), places=()))
    assert words.fit("IT lead", ["Oslo"]).why == "title says IT"
    assert not words.fit("Make it work", []).asked_for
    assert words.fit("Head  of Data", []).asked_for


def test_what_was_left_out_is_counted_by_its_reason() -> None:
    board = look(posting(), posting("2", "Bookkeeper"), posting("3", "Cook"), posting("4", place="Oslo", team="X"))
    assert mornings(board)["left_out"] == [
        {"reason": "in none of your places", "count": 1},
        {"reason": "the title says none of your words", "count": 2},
    ]
    assert mornings(look(posting()))["left_out"] == []


def test_the_best_come_first_and_a_first_report_names_three_of_them() -> None:
    board = look(
        *(
            posting(str(n), title)
            for n, title in enumerate(["Engineer", "Database Engineer", "A Database", "Z Engineer"])
        )
    )
    first = mornings(board)
    assert sections(first)[1] == ["Database Engineer", "A Database", "Engineer", "Z Engineer"]
    assert first["top"] == [role["id"] for role in first["open"][:3]]
    assert first["first"]
    second = mornings(board, board)
    assert not second["first"]
    assert "top" not in second


def test_an_owner_who_asks_for_other_words_finds_no_old_role_new_and_none_gone() -> None:
    books = replace(WANTS, titles=("bookkeeper",))
    both, gone = [posting(), posting("2", "Bookkeeper")], look(posting("2", "Bookkeeper"))
    start, again, reposted = look(*both), look(*both), look(posting(), posting("7", "Bookkeeper"))
    for looks, wants, still_open in (
        ([start, again], [WANTS, books], ["Bookkeeper"]),
        ([start, gone], [WANTS, books], ["Bookkeeper"]),
        ([start, reposted], [WANTS, books], ["Bookkeeper"]),
        ([start, unreached()], [WANTS, books], []),
        ([start, unreached(), again], [WANTS, books, books], ["Bookkeeper"]),
        ([start, unreached(), again], [WANTS, books, WANTS], ["Engineer"]),
        ([start, unreached(), unreached(), reposted], [WANTS, books, WANTS, books], ["Bookkeeper"]),
    ):
        assert sections(mornings(*looks, wants=wants)) == ([], still_open, []), (looks, wants)


def test_a_board_that_is_asked_for_and_that_nobody_looked_at_keeps_its_roles_and_is_named() -> None:
    asked = replace(WANTS, boards=(Board("acme", SourceKind.LEVER, "https://acme.example/roles"),))
    made = mornings(FIRST, [], wants=asked)
    assert sections(made) == ([], ["Engineer"], [])
    assert [(board["name"], board["state"]) for board in made["boards"]] == [("acme", "not checked")]
    assert mornings(FIRST, [], wants=WANTS)["boards"] == []


def test_a_report_is_the_same_bytes_in_whatever_order_boards_and_postings_come() -> None:
    before = mornings(FIRST)
    postings = [posting(), posting("2", place="Remote"), posting("3", "Database Engineer", seen=AT + DAY)]
    made = {
        canonical(report(before, boards, WANTS, key="sam/morning/2026-12-01", at=AT + DAY))
        for order in permutations(postings)
        for boards in ([look(*order), unreached("beta")], [unreached("beta"), look(*order)])
    }
    assert len(made) == 1


def test_dates_are_the_earliest_and_links_each_once() -> None:
    second = posting("2", place="Remote", url="https://acme.example/1", seen=AT - DAY, published=AT - 3 * DAY)
    (role,) = mornings(look(posting(published=AT - DAY), second, posting("3", url="")))["open"]
    assert role["urls"] == ["https://acme.example/1"]
    assert (role["first_seen"], role["published"]) == ("2026-11-29T05:01:00+00:00", "2026-11-27T05:01:00+00:00")


def test_a_report_can_be_made_without_any_board() -> None:
    made = mornings([], wants=Openings(("engineer",), (), (), False, ()))
    assert (made["boards"], made["counts"]) == ([], {"new": 0, "open": 0, "removed": 0})
