"""The word for a morning follows from its rows alone; READY needs evidence for every piece."""

from __future__ import annotations

from datetime import date

import pytest

from matins.ledger import standing
from matins.rules import verdict
from matins.rules.verdict import Morning
from tests.ledger.factory import DATE, LATE, Factory

READY_BY = "2026-08-17T05:30:01+00:00"


def _morning(make: Factory) -> Morning:
    (found,) = standing.mornings(make.conn, date.fromisoformat(DATE), owner="ada")
    return found


def _finish(make: Factory, message: str, *, proof: str = "mailbox") -> None:
    """Every step done, and the mail as `message` says."""
    make.message(message, proof=proof)
    for step in ("jobs", "wiki"):
        make.finish(f"ada/morning/{DATE}", make.claim(f"continuation/ada/morning/{DATE}", step=step))


@pytest.mark.parametrize(
    ("scene", "word", "piece"),
    [
        ("obligation/declared", "NOT YET", "research"),
        ("obligation/queued", "DUE", "research"),
        ("obligation/running", "DUE", "research"),
        ("obligation/running_dead", "DUE", "research"),
        ("obligation/succeeded", "DUE", "compose"),
        ("edition/none", "DUE", "compose"),
        ("edition/drafted", "DUE", "publish"),
        ("continuation/pending", "DUE", "wiki"),
        ("continuation/done", "DUE", "message email/inbox: accepted"),
        ("obligation/exhausted", "MISSED", "research"),
        ("obligation/missed", "MISSED", "research"),
        ("continuation/exhausted", "MISSED", "wiki"),
        ("message/held", "HELD", "jobs"),
        ("message/dead", "MISSED", "jobs"),
        ("message/expired", "MISSED", "jobs"),
    ],
)
def test_the_word_for_a_morning_and_its_first_missing_piece(
    factory: Factory, scene: str, word: str, piece: str
) -> None:
    factory.scene(scene)
    found = _morning(factory)
    assert verdict.state(found).value == word
    assert verdict.at_hand(found) == piece


@pytest.mark.parametrize(
    ("message", "proof", "word"),
    [
        ("pending", "mailbox", "DUE"), ("sending_in_flight", "mailbox", "DUE"), ("uncertain", "mailbox", "DUE"),
        ("accepted", "mailbox", "DUE"), ("accepted", "none", "READY"), ("observed", "mailbox", "READY"),
        ("held", "mailbox", "HELD"), ("dead", "mailbox", "MISSED"),
    ],
)  # fmt: skip
def test_a_morning_is_ready_only_when_its_mail_is_where_its_proof_asks(
    factory: Factory, message: str, proof: str, word: str
) -> None:
    _finish(factory, message, proof=proof)
    assert verdict.state(_morning(factory)).value == word


@pytest.mark.parametrize("scene", ["obligation/queued", "edition/none", "continuation/pending", "message/accepted"])
def test_what_is_not_proved_at_ready_by_is_late(factory: Factory, scene: str) -> None:
    factory.scene(scene)
    factory.clock.set(READY_BY)
    assert verdict.state(_morning(factory)).value == "LATE"


def test_a_ready_morning_does_not_become_late(factory: Factory) -> None:
    _finish(factory, "observed")
    factory.clock.set(LATE)
    assert verdict.state(_morning(factory)).value == "READY"


def test_the_evidence_of_a_morning_is_in_order_and_complete(factory: Factory) -> None:
    _finish(factory, "observed")
    told = [one.event for one in standing.evidence(factory.conn, _morning(factory))]
    for event in (
        "obligation.declared", "obligation.queued", "obligation.claimed", "evidence_set.frozen", "obligation.succeeded",
        "continuation.pending", "action.completed", "edition.drafted", "edition.published", "message.pending",
        "message.claimed", "message.accepted", "message.observed",
    ):  # fmt: skip
        assert event in told, event
    assert told.index("edition.published") < told.index("message.accepted") < told.index("message.observed")
