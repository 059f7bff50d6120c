"""A profile is checked as a whole and refused in one sentence that says what, where and what to do."""

from __future__ import annotations

from typing import Any

import pytest

from matins.rules.errors import ProfileRefused
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
    ],
)
def test_a_profile_that_cannot_be_is_refused_in_one_sentence(changes: dict[str, Any], says: str) -> None:
    with pytest.raises(ProfileRefused) as refused:
        parse({name: value for name, value in (GOOD | changes).items() if value is not None}, where="ada.toml")
    assert says in refused.value.message
    assert ", in ada.toml. To mend it: " in refused.value.message


def test_a_refusal_does_not_repeat_an_address() -> None:
    with pytest.raises(ProfileRefused) as refused:
        parse(GOOD | {"destinations": [{"name": "inbox", "address": "secret person@x"}]}, where="ada.toml")
    assert "secret" not in refused.value.message
