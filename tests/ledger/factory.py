"""Puts a row in any state with one call, by the real transitions; `scene("message/uncertain")` names what is wanted.

A scene's name is its machine and a variant: a state, and where it matters what the lease, the budget or the effect
under way are like (`_dead`: the lease is over; `_spent`: on its last attempt; `_in_flight`: an effect under way;
`_late`: past its useful time).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from psycopg import Connection

from matins.ledger import action, continuation, edition, ending, evidence, obligation, plan, profile, work
from matins.ledger.outgoing import Outgoing
from matins.ledger.work import Claim
from matins.rules import keys, plans
from matins.rules.canonical import sha256
from matins.rules.profile import Profile, parse
from matins.rules.receipt import Receipt
from tests.ledger import mails, reads, wiki
from tests.ledger.clock import Clock
from tests.ledger.scene import (
    DATE,
    DAY,
    EVENING,
    KEPT,
    LATE,
    LEASE,
    LIMIT,
    NIGHT,
    OPEN,
    PUT,
    QUARANTINE,
    RECEIPT,
    SEEN,
    URL,
    Scene,
    failure,
    item,
    reading,
    unclaimed,
)

__all__ = [
    "DATE", "EVENING", "KEPT", "LATE", "LEASE", "LIMIT", "NIGHT", "OPEN", "PUT", "QUARANTINE", "RECEIPT", "SEEN", "URL",
    "Factory", "Scene", "failure", "item", "reading", "unclaimed",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Factory:
    """Makes rows in the database behind `conn`."""

    conn: Connection[Any]
    clock: Clock

    def scene(self, name: str, *, owner: str = "ada") -> Scene:
        """The row that `name` describes, such as "obligation/running_dead"."""
        machine, _, variant = name.partition("/")
        makers: dict[str, Callable[[str, str], Scene]] = {
            "obligation": self.obligation,
            "continuation": self.continuation,
            "action": self.action,
            "message": self.message,
            "edition": self.edition,
            "ingest_run": lambda variant, owner: reads.ingest_run(self, variant, owner),
            "page_write": lambda variant, owner: wiki.written_page(self, variant, owner),
        }
        return replace(makers[machine](variant, owner), name=name)

    def owner(self, name: str = "ada", **changes: Any) -> Profile:
        """An owner in London with one destination, and whatever else is asked for."""
        asked = {
            "owner": name,
            "zone": "Europe/London",
            "window": "05:00-09:00",
            "ready_by": "06:30",
            "destinations": [{"name": "inbox", "address": f"{name}@example.net"}],
        }
        made = parse(asked | changes, where="this test")
        profile.apply(self.conn, made)
        return made

    def claim(self, work_key: str, *, step: str | None = None, holder: str = "worker-1") -> Claim:
        """A claim by `holder` for the usual lease."""
        return work.claim(self.conn, work_key, holder=holder, lease=LEASE, limit=LIMIT, step=step)

    def die(self) -> None:
        """Let every lease end."""
        self.clock.forward(LEASE + 1)

    def on_last_attempt(self, work_key: str) -> None:
        """Let the next claim of this work be its last."""
        self.conn.execute("update work set attempts = budget - 1 where key = %s", (work_key,))

    def obligation(self, variant: str, owner: str = "ada") -> Scene:
        """declared, queued, queued_again, running[_dead, _spent, _spent_dead, _in_flight...], succeeded, ..."""
        key, work_key = keys.obligation(owner, "morning", DAY), f"obligation/{owner}/morning/{DATE}"
        none = Scene("", key, work_key, unclaimed(work_key, kind="obligation"))
        self.clock.set(EVENING)
        self.owner(owner)
        plan.plan(self.conn, owner=owner)
        self.clock.set(NIGHT)
        if variant == "undeclared":
            return none
        plan.plan(self.conn, owner=owner)
        self.clock.set(LATE if variant in ("missed", "declared_late") else OPEN)
        if variant == "declared":
            self.clock.set(NIGHT)
        if variant.startswith("declared"):
            return none
        plan.plan(self.conn, owner=owner)
        if variant in ("missed", "queued", "queued_late", "missed_queued"):
            if variant != "queued":
                self.clock.set(LATE)
            if variant == "missed_queued":
                plan.plan(self.conn, owner=owner)
            return none
        if "spent" in variant or variant == "exhausted":
            self.on_last_attempt(work_key)
        claim = self.claim(work_key)
        if "in_flight" in variant:
            self.start_research(key, claim)
        if variant in ("queued_again", "exhausted"):
            ending.fail(self.conn, work_key, token=claim.token, reason="the store was down")
        elif variant.startswith("succeeded"):
            self.complete(key, claim)
            if variant == "succeeded_unadvanced":
                self.unadvance(key)
        elif variant.endswith("_dead"):
            self.die()
        return Scene("", key, work_key, claim)

    def unadvance(self, key: str) -> None:
        """Take away the continuation of a succeeded morning, as if its plan had had none."""
        work_key = keys.continuation_work(key)
        self.conn.execute("delete from continuation where key = %s", (key,))
        self.conn.execute("delete from work where key = %s", (work_key,))
        self.conn.execute("update obligation set unadvanced = true where key = %s", (key,))

    def start_research(self, key: str, claim: Claim) -> None:
        """The effect of research, under way."""
        action.start(
            self.conn, claim, key=keys.action(key, "research"), subject=key, step="research", provider=PUT.provider,
            contents=[b"evidence"],
        )  # fmt: skip

    def complete(self, key: str, claim: Claim, content: bytes = b"{}") -> None:
        """Research finished, with an empty evidence set."""
        evidence.freeze(
            self.conn, key, claim, owner=keys.parse(key).owner, content_hash=sha256(content), content=content,
            coverage={}, items=[],
        )  # fmt: skip
        obligation.complete(self.conn, key, claim, plan=plans.CURRENT, output_hash=sha256(content))

    def continuation(self, variant: str, owner: str = "ada", *, step: str = plans.WIKI) -> Scene:
        """pending, pending_again, running[_dead, _spent...], done, exhausted: with `step` at hand (the last one)."""
        key, work_key = keys.obligation(owner, "morning", DAY), f"continuation/{owner}/morning/{DATE}"
        self.obligation("succeeded", owner)
        for name, finish in ((plans.COMPOSE, self.draft), (plans.PUBLISH, self.publish), (plans.JOBS, self.finish)):
            if step == name:
                break
            finish(key, self.claim(work_key, step=name))
        if variant == "pending":
            return Scene("", key, work_key, unclaimed(work_key, kind="continuation", step=step))
        if "spent" in variant or variant == "exhausted":
            self.on_last_attempt(work_key)
        claim = self.claim(work_key, step=step)
        if "in_flight" in variant:
            action.start(
                self.conn, claim, key=keys.action(key, step), subject=key, step=step, provider=PUT.provider,
                contents=[b"content"],
            )  # fmt: skip
        if variant in ("pending_again", "exhausted"):
            ending.fail(self.conn, work_key, token=claim.token, reason="the store was down")
        elif variant == "done":
            continuation.complete_step(self.conn, key, claim, plan=plans.CURRENT)
        elif variant.endswith("_dead"):
            self.die()
        return Scene("", key, work_key, claim)

    def draft(self, key: str, claim: Claim, content: bytes = b"draft") -> None:
        """Composing finished."""
        self.effect(key, claim, plans.COMPOSE, content, Receipt("s3:test", f"{key}/draft@1"))
        edition.draft(
            self.conn, key, claim, plan=plans.CURRENT, kind="full", title="Monday", draft_hash=sha256(content), facts={}
        )

    def publish(self, key: str, claim: Claim, content: bytes = b"bundle") -> None:
        """Publishing finished, with one message to the inbox."""
        self.effect(key, claim, plans.PUBLISH, content, Receipt("s3:test", f"{key}/bundle@1"))
        edition.publish(
            self.conn, key, claim, plan=plans.CURRENT, bundle_hash=sha256(content), messages=[self.outgoing(key)],
            send_at=None,
        )  # fmt: skip

    def finish(self, key: str, claim: Claim) -> None:
        """The step that is claimed, finished with nothing written."""
        continuation.complete_step(self.conn, key, claim, plan=plans.CURRENT)

    def outgoing(self, key: str, *, proof: str = "mailbox") -> Outgoing:
        """A mail to the inbox, frozen."""
        mail = f"mail of {key}".encode()
        return Outgoing("brief", "email", "inbox", "ada@example.net", proof, "ask", mail, sha256(mail), f"<{key}@x>")

    def effect(self, key: str, claim: Claim, step: str, content: bytes, receipt: Receipt) -> None:
        name = keys.action(key, step)
        action.start(
            self.conn, claim, key=name, subject=key, step=step, provider="s3:test", contents=[content]
        )  # fmt: skip
        action.record_completed(self.conn, claim, key=name, receipt=receipt)

    def freeze(self, content: bytes) -> None:
        """Keep bytes under their hash."""
        self.conn.execute("insert into frozen values (%s, %s) on conflict do nothing", (sha256(content), content))

    def edition(self, variant: str, owner: str = "ada") -> Scene:
        """none, drafted, published[_dead, _spent, _in_flight ...], while the step that would move it on is claimed."""
        state, _, rest = variant.partition("_")
        self.freeze(KEPT)
        step = {"none": plans.COMPOSE, "drafted": plans.PUBLISH, "published": plans.WIKI}[state]
        return self.continuation(f"running_{rest}" if rest else "running", owner, step=step)

    def action(self, variant: str, owner: str = "ada") -> Scene:
        """none, in_flight, in_flight_dead, in_flight_taken, completed, refused, not_done, abandoned (harmless ones)."""
        made = self.obligation(
            {"none": "running", "none_dead": "running_dead"}.get(variant, "running_in_flight"), owner
        )
        name, claim = keys.action(made.key, "research"), made.claim
        match variant:
            case "completed":
                action.record_completed(self.conn, claim, key=name, receipt=PUT)
            case "refused":
                action.record_refused(self.conn, claim, key=name, reason="no such bucket")
            case "not_done":
                action.record_not_done(self.conn, claim, key=name, reason="connection refused")
            case "in_flight_dead":
                self.die()
            case "in_flight_taken" | "abandoned" | "abandoned_stale":
                self.die()
                taken = self.claim(made.work_key, holder="worker-2")
                if variant != "in_flight_taken":
                    action.abandon(self.conn, name, token=claim.token, quarantine=QUARANTINE)
                claim = taken if variant == "abandoned" else claim
        return replace(made, claim=claim)

    def message(self, variant: str, owner: str = "ada", *, proof: str = "mailbox") -> Scene:
        """pending, sending, sending_in_flight, uncertain, uncertain_quiet, held, accepted, observed, expired, ..."""
        return mails.message(self, variant, owner, proof=proof)

    def start_sending(self, made: Scene) -> None:
        """The send of a message, under way."""
        mails.start_sending(self, made)
