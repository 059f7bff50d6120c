"""What every provider with an effect keeps to, whatever it is: one receipt or one of three outcomes, and no secrets."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from dataclasses import dataclass

import pytest

from matins.providers.objects import Objects
from matins.providers.smtp import Smtp
from matins.rules.errors import MatinsError, OutcomeUnknown, ProviderRefused, ProviderUnavailable
from matins.rules.receipt import Receipt
from tests.providers import faulty_s3
from tests.providers.faulty_s3 import FaultyS3
from tests.providers.faulty_smtp import AUTH, DOT, RCPT, FaultySmtp, hang_up, say
from tests.providers.mailbox_process import free_port
from tests.providers.mails import Mail, send

SECRETS = ("hush", "reader-9c21", "sender-7f3a", "access-id", "example.net", "example.org")
FAULTS = ("none", "refused", "busy", "dropped before", "reply lost")


@dataclass(frozen=True, slots=True)
class Subject:
    """One provider against a server with one fault."""

    effect: Callable[[], Receipt]
    effects: Callable[[], int]
    """How often it took effect, by the server's own ledger."""


def smtp(fault: str, until: ExitStack) -> Subject:
    """A mail server that logs us in."""
    script = {
        "refused": {RCPT: say("550 5.1.1 <reader-9c21@example.net> hush")},
        "busy": {RCPT: say("450 4.2.1 <reader-9c21@example.net> hush")},
        "dropped before": {AUTH: hang_up},
        "reply lost": {DOT: hang_up},
    }
    server = until.enter_context(FaultySmtp(script.get(fault, {}), extensions=("AUTH PLAIN",)))
    port = free_port() if fault == "dead" else server.port
    mail, client = Mail().raw, Smtp(f"smtp://user:hush@127.0.0.1:{port}")
    return Subject(lambda: send(client, mail), lambda: len(server.bodies))


@pytest.fixture(scope="module")
def stores() -> Iterator[tuple[FaultyS3, Objects, Objects]]:
    """An object store, and two views of it: one that reaches it and one that does not."""
    keys = {"access_key": "access-id", "secret_key": "hush-hush", "bucket": faulty_s3.BUCKET}
    with (
        FaultyS3() as server,
        closing(Objects(server.endpoint, **keys)) as alive,
        closing(Objects(f"http://127.0.0.1:{free_port()}", **keys)) as dead,
    ):
        yield server, alive, dead


def objects(fault: str, stores: tuple[FaultyS3, Objects, Objects]) -> Subject:
    """An object store."""
    script = {
        "refused": ["400"],
        "busy": ["503"],
        "dropped before": [faulty_s3.DROP],
        "reply lost": [faulty_s3.SAVE_AND_DROP],
    }
    server, alive, dead = stores
    server.script(put=script.get(fault, []))
    store = dead if fault == "dead" else alive
    return Subject(
        lambda: store.put("a", b"body", content_type="text/plain", idempotency_key="ada/brief/publish"),
        lambda: sum(len(versions) for versions in server.versions.values()),
    )


@pytest.fixture(params=["smtp", "objects"])
def subject(
    request: pytest.FixtureRequest, stores: tuple[FaultyS3, Objects, Objects]
) -> Iterator[Callable[[str], Subject]]:
    """Makes a provider whose server has the fault that is named."""
    with ExitStack() as until:
        yield lambda fault: smtp(fault, until) if request.param == "smtp" else objects(fault, stores)


def outcome(subject: Subject) -> Receipt | MatinsError:
    """What the effect came to. Any other exception fails the test."""
    try:
        return subject.effect()
    except (ProviderRefused, ProviderUnavailable, OutcomeUnknown) as error:
        return error


def test_an_effect_gives_a_receipt_with_provider_and_reference(subject: Callable[[str], Subject]) -> None:
    working = subject("none")
    receipt = outcome(working)
    assert isinstance(receipt, Receipt)
    assert receipt.provider
    assert receipt.reference
    assert all(isinstance(value, str) for value in receipt.evidence.values())
    assert working.effects() == 1


def test_a_refused_effect_did_not_happen_and_says_so(subject: Callable[[str], Subject]) -> None:
    refusing = subject("refused")
    assert type(outcome(refusing)) is ProviderRefused
    assert refusing.effects() == 0


@pytest.mark.parametrize("fault", ["busy", "dropped before", "dead"])
def test_an_effect_that_did_not_happen_may_be_tried_again(subject: Callable[[str], Subject], fault: str) -> None:
    unavailable = subject(fault)
    assert type(outcome(unavailable)) is ProviderUnavailable
    assert unavailable.effects() == 0


def test_a_lost_reply_is_unknown_or_resolved_and_never_called_not_done(
    subject: Callable[[str], Subject],
) -> None:
    losing = subject("reply lost")
    assert isinstance(outcome(losing), Receipt | OutcomeUnknown)
    assert losing.effects() == 1


@pytest.mark.parametrize("fault", [*FAULTS, "dead"])
def test_no_outcome_tells_a_secret_or_an_address(subject: Callable[[str], Subject], fault: str) -> None:
    came_to = outcome(subject(fault))
    told = f"{came_to} {came_to!r} {getattr(came_to, '__cause__', '')}"
    assert not [secret for secret in SECRETS if secret in told]
    assert isinstance(came_to, Receipt) or came_to.__context__ is None or came_to.__suppress_context__


def test_every_provider_says_whether_it_remembers_keys() -> None:
    assert (Smtp.remembers_keys, Objects.remembers_keys) == (False, True)
