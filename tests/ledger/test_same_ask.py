"""A retry after a lost reply: the same ask, already committed, gets the same answer; another one is refused by name."""

from __future__ import annotations

from typing import Any

import pytest

from matins.ledger import (
    action,
    admission,
    continuation,
    edition,
    evidence,
    ingest,
    message,
    obligation,
    profile,
    source,
)
from matins.rules import keys, plans
from matins.rules.canonical import sha256
from matins.rules.errors import IntentConflict, LeaseLost, OutputConflict
from matins.rules.receipt import Receipt
from tests.ledger.acts import ACTS, WRITTEN
from tests.ledger.factory import KEPT, PUT, RECEIPT, URL, Factory, item, reading
from tests.ledger.tables import tables

ONE, OTHER = sha256(b"{}"), sha256(b"other")


def _twice(make: Factory, ask: Any) -> tuple[Any, Any]:
    """What the first and the second ask answered; the second one changed nothing."""
    first = ask()
    before = tables(make.conn)
    second = ask()
    assert tables(make.conn) == before
    return first, second


def _unchanged(make: Factory, ask: Any, *, stored: str, asked: str, error: type[IntentConflict]) -> None:
    before = tables(make.conn)
    with pytest.raises(error) as refused:
        ask()
    assert (refused.value.stored, refused.value.asked) == (stored, asked)
    assert stored in str(refused.value)
    assert asked in str(refused.value)
    assert tables(make.conn) == before


@pytest.mark.parametrize(
    ("act", "scene"),
    [
        ("obligation.complete", "obligation/running"),
        ("continuation.complete_step", "continuation/running"),
        ("continuation.complete_step:written", "continuation/running"),
        ("continuation.complete_step", "edition/none"),
        ("edition.draft", "edition/none"),
        ("edition.publish", "edition/drafted"),
        ("action.record_completed", "action/in_flight"),
        ("action.record_refused", "action/in_flight"),
        ("action.record_not_done", "action/in_flight"),
        ("message.accept", "message/sending_in_flight"),
        ("message.accept", "message/uncertain"),
        ("ingest.settle", "ingest_run/claimed_admitted"),
        ("ingest.settle:empty", "ingest_run/claimed"),
    ],
)
def test_the_same_ask_again_is_answered_alike_and_changes_nothing(factory: Factory, act: str, scene: str) -> None:
    at = factory.scene(scene)
    first, second = _twice(factory, lambda: ACTS[act](factory, at))
    assert first == second


def test_the_same_ask_long_after_the_lease_has_died_is_still_answered(factory: Factory) -> None:
    at = factory.scene("obligation/running")
    first = ACTS["obligation.complete"](factory, at)
    factory.clock.forward(3600)
    assert ACTS["obligation.complete"](factory, at) == first


def test_another_output_of_a_succeeded_obligation_is_refused_naming_both(factory: Factory) -> None:
    at = factory.scene("obligation/succeeded")
    _unchanged(
        factory,
        lambda: obligation.complete(factory.conn, at.key, at.claim, plan=plans.CURRENT, output_hash=OTHER),
        stored=ONE, asked=OTHER, error=OutputConflict,
    )  # fmt: skip


def test_another_draft_of_a_composed_edition_is_refused_naming_both(factory: Factory) -> None:
    at = factory.scene("edition/none")
    ACTS["edition.draft"](factory, at)
    factory.freeze(b"other")
    _unchanged(
        factory,
        lambda: edition.draft(
            factory.conn, at.key, at.claim, plan=plans.CURRENT, kind="full", title="Monday", draft_hash=OTHER, facts={}
        ),
        stored=sha256(KEPT), asked=OTHER, error=OutputConflict,
    )  # fmt: skip


def test_another_bundle_of_a_published_edition_is_refused_naming_both(factory: Factory) -> None:
    at = factory.scene("edition/drafted")
    ACTS["edition.publish"](factory, at)
    factory.freeze(b"other")
    _unchanged(
        factory,
        lambda: edition.publish(
            factory.conn, at.key, at.claim, plan=plans.CURRENT, bundle_hash=OTHER, messages=[], send_at=None
        ),
        stored=sha256(KEPT), asked=OTHER, error=OutputConflict,
    )  # fmt: skip


def test_other_bytes_of_a_written_step_are_refused_naming_both(factory: Factory) -> None:
    at = factory.scene("continuation/running")
    ACTS["continuation.complete_step:written"](factory, at)
    other = (keys.action(at.key, plans.WIKI), OTHER, b"other")
    _unchanged(
        factory,
        lambda: continuation.complete_step(factory.conn, at.key, at.claim, plan=plans.CURRENT, written=other),
        stored=sha256(WRITTEN), asked=OTHER, error=OutputConflict,
    )  # fmt: skip


def test_another_receipt_of_a_completed_effect_is_refused_naming_both(factory: Factory) -> None:
    at = factory.scene("action/completed")
    _unchanged(
        factory,
        lambda: action.record_completed(
            factory.conn, at.claim, key=keys.action(at.key, "research"), receipt=Receipt(PUT.provider, "other@1")
        ),
        stored=PUT.reference, asked="other@1", error=OutputConflict,
    )  # fmt: skip


def test_another_receipt_of_an_accepted_mail_is_refused_naming_both(factory: Factory) -> None:
    at = factory.scene("message/accepted")
    _unchanged(
        factory,
        lambda: message.accept(factory.conn, at.claim, Receipt(RECEIPT.provider, "9Zz", {"reply": "250 9Zz"})),
        stored=RECEIPT.reference, asked="9Zz", error=OutputConflict,
    )  # fmt: skip


def test_a_receipt_that_comes_after_its_mail_was_found_changes_nothing(factory: Factory) -> None:
    at = factory.scene("message/uncertain")
    ACTS["doubt.accept_found"](factory, at)
    before = tables(factory.conn)
    with pytest.raises(LeaseLost):
        message.accept(factory.conn, at.claim, RECEIPT)
    assert tables(factory.conn) == before


def test_other_bytes_under_a_key_are_refused_before_any_provider_sees_them(factory: Factory) -> None:
    at = factory.scene("action/not_done")
    _unchanged(
        factory,
        lambda: action.start(
            factory.conn, at.claim, key=keys.action(at.key, "research"), subject=at.key, step="research",
            provider=PUT.provider, contents=[b"other"],
        ),
        stored=sha256(b"evidence"), asked=OTHER, error=IntentConflict,
    )  # fmt: skip
    assert action.frozen_request(factory.conn, keys.action(at.key, "research")) == b"evidence"


def test_the_first_freeze_of_an_evidence_set_wins_and_is_returned(factory: Factory) -> None:
    at = factory.scene("obligation/running")

    def freeze(content: bytes) -> evidence.FrozenSet:
        return evidence.freeze(
            factory.conn, at.key, at.claim, owner="ada", content_hash=sha256(content), content=content, coverage={},
            items=[],
        )  # fmt: skip

    first, second = _twice(factory, lambda: freeze(b"{}"))
    assert first == second
    before = tables(factory.conn)
    assert freeze(b"other") == first
    assert tables(factory.conn) == before
    assert evidence.frozen_set(factory.conn, at.key) == first


def test_nobody_freezes_an_evidence_set_without_a_live_lease(factory: Factory) -> None:
    at = factory.scene("obligation/running_dead")
    before = tables(factory.conn)
    with pytest.raises(LeaseLost):
        evidence.freeze(
            factory.conn, at.key, at.claim, owner="ada", content_hash=ONE, content=b"{}", coverage={}, items=[]
        )
    assert tables(factory.conn) == before


def test_a_profile_applied_twice_is_one_version(factory: Factory) -> None:
    made = factory.owner()
    first, second = profile.apply(factory.conn, made), profile.apply(factory.conn, made)
    assert (first.version, first.changed) == (second.version, second.changed) == (1, False)
    factory.owner(ready_by="07:00")
    changed = profile.apply(factory.conn, made)
    assert (changed.version, changed.changed) == (3, True)
    assert profile.version(factory.conn, "ada", 1).hash == profile.current(factory.conn, "ada").hash == made.hash


def test_a_source_added_twice_is_one_subscription(factory: Factory) -> None:
    factory.owner()
    first, second = _twice(factory, lambda: source.add(factory.conn, "ada", url=URL, name="gazette"))
    assert (first, second) == (True, False)


def test_the_same_page_admitted_twice_counts_once(factory: Factory) -> None:
    at = factory.scene("ingest_run/claimed")
    assert at.window is not None
    page = [item("a"), item("b")]
    window = at.window
    first, second = _twice(factory, lambda: admission.admit(factory.conn, at.claim, window, page, baseline=True).items)
    assert (first, second) == (2, 2)
    assert ingest.settle(factory.conn, at.claim, window, reading(*page), declared=2) == "new"
