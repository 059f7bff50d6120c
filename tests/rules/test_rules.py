"""Keys, plans, limits, hashes, errors and crash points."""

from __future__ import annotations

import inspect
import re
from datetime import UTC, date, datetime
from pathlib import Path

import pytest

from matins.rules import crash, effects, errors, keys, limits, plans, states
from matins.rules.canonical import canonical, hash_of, sha256
from matins.rules.errors import MatinsError, Refused, StepOutOfOrder
from matins.rules.evidence import Item
from matins.rules.limits import Limits

ROOT = Path(__file__).resolve().parents[2]


def test_a_key_is_derived_from_its_parts_and_parsed_back() -> None:
    key = keys.obligation("ada", "morning", date(2026, 8, 17))
    assert key == "ada/morning/2026-08-17"
    assert keys.parse(key) == ("ada", "morning", date(2026, 8, 17))
    assert keys.obligation_work(key) == f"obligation/{key}"
    assert keys.continuation_work(key) == f"continuation/{key}"


@pytest.mark.parametrize(
    "text", ["", "ada", "ada/morning", "ada/morning/17", "Ada/morning/2026-08-17", "a/b/c/d", "a//2026-08-17"]
)
def test_what_is_no_key_is_refused(text: str) -> None:
    with pytest.raises(Refused, match="not a key"):
        keys.parse(text)


@pytest.mark.parametrize(
    ("text", "yes"),
    [
        ("ada", True),
        ("a", True),
        ("a-b", True),
        ("-a", False),
        ("a-", False),
        ("A", False),
        ("a_b", False),
        ("a" * 33, False),
        ("é", False),
    ],
)
def test_a_name_may_stand_in_a_key_an_id_and_a_path(text: str, yes: bool) -> None:
    assert keys.is_name(text) is yes


def test_no_id_is_too_long_for_temporal_and_none_holds_an_address_or_a_url() -> None:
    message = keys.message("a" * 32 + "/morning/2026-08-17", "brief", "email", "d" * 32)
    source = keys.source("https://user@gazette.example/" + "x" * 2000, "secret")
    for made in (
        keys.message_work(message),
        keys.ingest(source),
        keys.ingest_work(source, 10**9),
        keys.event(source, "y" * 5000),
    ):
        assert len(made) < 100
        assert re.fullmatch(r"[a-z0-9/-]+", made)


def test_a_source_read_with_another_secret_is_another_source() -> None:
    assert keys.source("https://a.example/") != keys.source("https://a.example/", "token")
    assert keys.source("https://a.example/", "b") != keys.source("b\nhttps://a.example/")[1:]


def test_a_plan_goes_through_its_steps_in_order_and_names_an_unknown_one() -> None:
    walked, step = [], plans.first_step(plans.CURRENT)
    while step is not None:
        walked.append(step)
        step = plans.next_step(plans.CURRENT, step)  # type: ignore[assignment]
    assert walked == ["compose", "publish", "jobs", "wiki"]
    with pytest.raises(StepOutOfOrder, match="has no step dance"):
        plans.next_step(plans.CURRENT, "dance")


def test_every_step_says_what_repeating_it_would_cost() -> None:
    assert set(effects.EFFECTS) == {plans.RESEARCH, *plans.STEPS[plans.CURRENT], "send"}
    assert all(name == effect.step for name, effect in effects.EFFECTS.items())


def test_an_intent_has_the_same_hash_whatever_the_order_of_its_options() -> None:
    one = plans.intent("morning", 1, {"a": "1", "b": "2"})
    other = plans.intent("morning", 1, {"b": "2", "a": "1"})
    assert hash_of(one) == hash_of(other) != hash_of(plans.intent("morning", 2))


def test_canonical_bytes_and_hashes() -> None:
    assert canonical({"b": 1, "a": [True, None, "é"]}) == '{"a":[true,null,"é"],"b":1}'.encode()
    assert sha256(b"") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"


def test_the_hash_of_evidence_is_over_what_a_reader_could_be_told_and_not_its_date() -> None:
    one = Item("id", "https://a.example/", "Title", "Text.")
    assert one.evidence_hash == Item("other", "https://a.example/", "Title", "Text.", datetime.now(UTC)).evidence_hash
    assert one.evidence_hash != Item("id", "https://a.example/", "Title", "Text!").evidence_hash


def test_the_limits_agree_with_each_other_and_with_what_a_test_needs() -> None:
    Limits().check()
    Limits(lease=2, beat=0.6, heartbeat_timeout=2.4, provider_timeout=2, quarantine=4, smtp_idle=3, grace=3).check()


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"beat": 4}, "beat <= lease / 3"),
        ({"lease": 11}, "lease <= heartbeat timeout - beat + first back-off"),
        ({"provider_timeout": 120}, "provider timeout < deadline"),
        ({"quarantine": 120}, "quarantine > the mail server's idle timeout"),
        ({"quarantine": 60, "smtp_idle": 50}, "quarantine > provider timeout"),
        ({"grace": 60}, "grace > provider timeout"),
    ],
)
def test_limits_that_do_not_agree_are_refused_by_their_sentence(changes: dict[str, float], sentence: str) -> None:
    with pytest.raises(Refused) as refused:
        Limits(**changes).check()
    assert sentence in refused.value.message


def test_the_spacing_grows_and_then_stays() -> None:
    assert [limits.spacing(attempt) for attempt in (1, 2, 3, 4, 5, 9)] == [30, 120, 300, 900, 900, 900]
    assert limits.SWEEP_TIMEOUT < limits.SWEEP_EVERY < limits.UNADVANCED_BUDGET


def test_every_error_is_in_the_drawn_tree_with_a_sentence_of_its_own() -> None:
    tree = errors.__doc__ or ""
    for name, found in inspect.getmembers(errors, inspect.isclass):
        if issubclass(found, MatinsError):
            assert re.search(rf"(?<![A-Za-z]){name}(?![A-Za-z])", tree), name
            assert (found.__doc__ or "").endswith("."), name


def test_an_error_says_its_key_and_its_sentence() -> None:
    assert str(errors.LeaseLost(key="work/1")) == "work/1: This token no longer holds the work."
    assert str(errors.OutputConflict(key="k", stored="a", asked="b")) == "k: stored a, asked b"


def test_an_arrow_is_allowed_or_not() -> None:
    assert states.allowed("obligation", None, "declared")
    assert states.allowed("message", "sending", "sending")
    assert not states.allowed("message", "accepted", "pending")
    assert not states.allowed("obligation", "succeeded", "running")


def test_a_crash_point_does_nothing_unless_it_is_armed_and_an_unknown_one_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv(crash.SETTING, raising=False)
    crash.crashpoint("no.such.point")
    monkeypatch.setenv(crash.SETTING, "put.before@2,put.after:stop")
    with pytest.raises(KeyError):
        crash.crashpoint("no.such.point")


def test_every_crash_point_is_in_the_program() -> None:
    program = "\n".join(
        file.read_text(encoding="utf-8")
        for folder in ("matins", "activities", "workflows")
        for file in (ROOT / folder).rglob("*.py")
        if file.name != "crash.py"
    )
    for point in crash.POINTS:
        family, _, name = point.partition(".")
        assert f'"{point}"' in program or (f'"{family}.{{' in program and f'"{name}"' in program), point
