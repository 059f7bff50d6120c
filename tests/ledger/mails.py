"""Messages in any state, by the real transitions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from matins.ledger import action, doubt, edition, ending, observation
from matins.ledger import message as messages
from matins.rules import keys, plans
from matins.rules.canonical import sha256
from matins.rules.receipt import Receipt
from tests.ledger.scene import LATE, QUARANTINE, RECEIPT, SEEN, Scene, unclaimed

if TYPE_CHECKING:
    from tests.ledger.factory import Factory


def message(make: Factory, variant: str, owner: str = "ada", *, proof: str = "mailbox") -> Scene:
    """pending, sending, sending_in_flight, uncertain, uncertain_quiet, held, accepted, observed, expired, ..."""
    made = make.continuation("running", owner, step=plans.PUBLISH)
    outgoing = make.outgoing(made.key, proof=proof)
    make.effect(made.key, made.claim, plans.PUBLISH, b"bundle", Receipt("s3:test", f"{made.key}/bundle@1"))
    edition.publish(
        make.conn, made.key, made.claim, plan=plans.CURRENT, bundle_hash=sha256(b"bundle"), messages=[outgoing],
        send_at=None,
    )  # fmt: skip
    key = keys.message(made.key, "brief", "email", "inbox")
    work_key = keys.message_work(key)
    if "spent" in variant:
        make.on_last_attempt(work_key)
    claim = unclaimed(work_key, kind="message")
    if not variant.startswith(("pending", "expired")):
        claim = make.claim(work_key)
        _move(make, variant, Scene("", key, work_key, claim), outgoing.mail)
    if variant == "pending_again":
        claim = make.claim(work_key)
        ending.fail(make.conn, work_key, token=claim.token, reason="connection refused")
    if variant.endswith("_late") or variant == "expired":
        make.clock.set(LATE)
    elif variant.endswith("_dead"):
        make.die()
    if variant == "expired":
        messages.expire(make.conn, work_key)
    return Scene("", key, work_key, claim)


def _move(make: Factory, variant: str, made: Scene, mail: bytes) -> None:
    state = variant.partition("_")[0]
    if state == "dead":
        ending.fail(make.conn, made.work_key, token=made.claim.token, reason="no such mailbox", final=True)
    elif state != "sending" or "in_flight" in variant:
        start_sending(make, made, mail)
    if state in ("accepted", "observed"):
        messages.accept(make.conn, made.claim, RECEIPT)
    if state == "observed":
        observation.observe(make.conn, made.work_key, SEEN)
    if state in ("uncertain", "held", "let"):
        doubt.doubt(make.conn, made.claim, reason="the reply was lost", quarantine=QUARANTINE)
    if "refunded" in variant:
        make.conn.execute("update action set refunded = true where key = %s", (made.key,))
    if "quiet" in variant:
        make.clock.forward(QUARANTINE + 1)
    if state == "held":
        doubt.hold(make.conn, made.work_key, reason="nobody can look")
    if state == "let":
        doubt.let_go(make.conn, made.work_key, reason="nobody can look")


def start_sending(make: Factory, made: Scene, mail: bytes | None = None) -> None:
    """The send of a message, under way."""
    action.start(
        make.conn, made.claim, key=made.key, subject=made.key.partition("/brief/")[0], step="send",
        provider=RECEIPT.provider, contents=[mail or messages.envelope(make.conn, made.work_key).mail],
    )  # fmt: skip
