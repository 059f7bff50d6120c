"""A profile is checked as a whole and refused in one sentence that says what, where and what to do."""

from __future__ import annotations

import json
from typing import Any

import pytest

from matins.rules.errors import ProfileRefused
from matins.rules.evidence import SourceKind
from matins.rules.openings import Board
from matins.rules.profile import from_document, parse

GOOD: dict[str, Any] = {
    "owner": "ada",
    "name": "Ada Okafor",
    "zone": "Europe/London",
    "window": "05:00-09:00",
    "ready_by": "06:30",
    "send_at": "06:00",
    "interests": {"shipping": ["port", "container"]},
    "destinations": [{"name": "inbox", "address": "ada@example.net", "if_unknown": "send_again"}],
}

ACME: dict[str, Any] = {"name": "acme", "kind": "greenhouse", "board": "acme"}
OWN: dict[str, Any] = {"name": "own", "kind": "lever", "url": "http://127.0.0.1:8080/roles"}


def _openings(**changes: Any) -> dict[str, Any]:
    asked = {"titles": ["engineer"], "boards": [ACME]} | changes
    return {"openings": {name: value for name, value in asked.items() if value is not None}}


def _board(**changes: Any) -> dict[str, Any]:
    return _openings(boards=[{name: value for name, value in (ACME | changes).items() if value is not None}])


def test_a_good_profile_is_read_written_down_and_read_again_as_it_was() -> None:
    made = parse(GOOD, where="ada.toml")
    assert from_document(made.document()) == made
    assert from_document(made.document()).hash == made.hash
    assert made.useful_until == made.closes


def test_two_profiles_that_differ_in_anything_have_different_hashes() -> None:
    made = parse(GOOD, where="ada.toml")
    for field, value in {"name": "Ada", "window": "05:00-08:00", "long": 6, "zone": "Europe/Rome"}.items():
        assert parse(GOOD | {field: value}, where="ada.toml").hash != made.hash


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"owner": "Ada O"}, 'owner "Ada O" is not a name'),
        ({"owner": ""}, "no owner"),
        ({"owner": "a" * 33}, "is not a name"),
        ({"zone": "Asia/Hanoi"}, 'unknown zone "Asia/Hanoi"'),
        ({"zone": None}, "no zone"),
        ({"window": "05:00"}, "window is not two times"),
        ({"window": "09:00-05:00"}, "ends before it starts"),
        ({"window": "5:00-9:00"}, "window is not a time of day"),
        ({"ready_by": "04:59"}, "ready_by 04:59 is not inside the window"),
        ({"ready_by": "24:00"}, "ready_by is not a time of day"),
        ({"useful_until": "06:00"}, "useful_until 06:00 is before ready_by"),
        ({"send_at": "04:00"}, "send_at 04:00 is not inside the window"),
        ({"products": ["evening"]}, 'unknown product "evening"'),
        ({"products": []}, "products is not a list of words"),
        ({"long": 21}, "long is not a number from 0 to 20"),
        ({"long": True}, "long is not a number"),
        ({"name": "two\nlines"}, "name is not one printable line"),
        ({"interests": ["port"]}, "interests is not a table"),
        ({"interests": {"shipping": [7]}}, "shipping is not a list of words"),
        ({"colour": "red"}, 'unknown field "colour"'),
        ({"destinations": [{"name": "inbox"}]}, "no address"),
        ({"destinations": [{"name": "In box", "address": "a@b"}]}, 'destination "In box" is not a name'),
        ({"destinations": [{"name": "inbox", "address": "a@b, c@d"}]}, "is not one mail address"),
        ({"destinations": [{"name": "inbox", "address": "a@b\nBcc: c@d"}]}, "is not one mail address"),
        ({"destinations": [{"name": "inbox", "address": "a@b", "proof": "hope"}]}, 'proof "hope" is unknown'),
        ({"destinations": [{"name": "inbox", "address": "a@b", "to": "x"}]}, 'unknown field "destinations.to"'),
        ({"destinations": [{"name": "inbox", "address": "a@b"}] * 2}, "two destinations have the same name"),
        ({"destinations": "inbox"}, "destinations is not a list of tables"),
        ({"openings": ["engineer"]}, "openings is not a table"),
        (_openings(colour="red"), 'unknown field "openings.colour"'),
        (_openings(titles=None), "titles is not a list of words"),
        (_openings(titles=[]), "titles is not a list of words"),
        (_openings(titles=[" "]), "titles has a word that is empty"),
        (_openings(avoid=["x" * 61]), "avoid has a word that is empty or longer than 60 characters"),
        (_openings(places="London"), "places is not a list of words"),
        (_openings(places=[7]), "places is not a list of words"),
        (_openings(mail="yes"), "mail is neither true nor false"),
        (_openings(boards=None), "openings names no boards"),
        (_openings(boards=["acme"]), "openings.boards is not a list of tables"),
        (_openings(boards=[ACME | {"name": f"b{n}", "board": f"b{n}"} for n in range(51)]), "openings names 51 boards"),
        (_openings(boards=[ACME, ACME]), "two boards have the same name"),
        (_openings(boards=[ACME, ACME | {"name": "other"}]), "two boards are the same one"),
        (_board(name="Acme Ltd"), 'board "Acme Ltd" is not a name'),
        (_board(kind="workday"), 'kind "workday" is unknown'),
        (_board(kind="feed"), 'kind "feed" is unknown'),
        (_board(kind=["lever"]), "no kind"),
        (_board(kind=None), "no kind"),
        (_board(board=None), "no board"),
        (_board(board="acme/../x"), '"acme/../x" is no board at greenhouse'),
        (_board(token="acme"), 'unknown field "openings.boards.token"'),
        (_board(url="ftp://acme.example/jobs"), "the url of board acme is not an address"),
        (_board(url="https://me:secret@acme.example/jobs"), "the url of board acme is not an address"),
        (_board(url="https://acme.example/a b"), "the url of board acme is not an address"),
        (_board(url="https://acme.example:0/jobs"), "the url of board acme is not an address"),
        (_board(url="https://acme.example:70000/jobs"), "the url of board acme is not an address"),
        (_board(url="https://[acme/jobs"), "the url of board acme is not an address"),
    ],
)
def test_a_profile_that_cannot_be_is_refused_in_one_sentence(changes: dict[str, Any], says: str) -> None:
    with pytest.raises(ProfileRefused) as refused:
        parse({name: value for name, value in (GOOD | changes).items() if value is not None}, where="ada.toml")
    assert says in refused.value.message
    assert ", in ada.toml. To mend it: " in refused.value.message


def test_a_profile_without_openings_has_the_document_and_the_hash_that_it_had_before_there_were_any() -> None:
    made = parse(GOOD, where="ada.toml")
    assert "openings" not in made.document()
    assert made.hash == "61909601c1d3f421ec84c64e003b2d39f12d7c3d31b57db2b4eb3edeba82f089"
    assert made.openings is None


def test_openings_are_written_down_and_read_again_and_are_part_of_the_hash() -> None:
    asked = _openings(places=["London", "remote"], avoid=["head  of"], mail=True, boards=[ACME, OWN])
    made = parse(GOOD | asked, where="ada.toml")
    assert made.openings is not None
    assert (made.openings.places, made.openings.avoid, made.openings.mail) == (("London", "remote"), ("head of",), True)
    assert from_document(json.loads(json.dumps(made.document()))) == made
    assert made.hash != parse(GOOD, where="ada.toml").hash
    assert made.hash != parse(GOOD | _openings(), where="ada.toml").hash


@pytest.mark.parametrize(
    ("board", "url"),
    [
        (ACME, "https://boards-api.greenhouse.io/v1/boards/acme/jobs?content=true"),
        (ACME | {"kind": "lever"}, "https://api.lever.co/v0/postings/acme?limit=100&mode=json"),
        (ACME | {"kind": "ashby"}, "https://api.ashbyhq.com/posting-api/job-board/acme"),
        (OWN, "http://127.0.0.1:8080/roles"),
    ],
)
def test_the_address_of_a_board_is_its_providers_public_one_unless_another_is_given(
    board: dict[str, Any], url: str
) -> None:
    openings = parse(GOOD | _openings(boards=[board]), where="ada.toml").openings
    assert openings is not None
    assert openings.boards == (Board(board["name"], SourceKind(board["kind"]), url),)


def test_a_refusal_does_not_repeat_an_address() -> None:
    with pytest.raises(ProfileRefused) as refused:
        parse(GOOD | {"destinations": [{"name": "inbox", "address": "secret person@x"}]}, where="ada.toml")
    assert "secret" not in refused.value.message
