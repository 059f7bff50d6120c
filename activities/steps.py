"""The steps of the continuation: compose, publish, jobs. Each is claimed, done and completed by name."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from datetime import date, datetime
from email.utils import parseaddr
from typing import Any

from temporalio import activity

from activities.desk import Desk, following
from activities.failures import told
from activities.messages import Ask, Next
from activities.research import read_evidence
from matins.brief.audit import check
from matins.brief.bundle import bundle, manifest
from matins.brief.compose import compose
from matins.brief.coverage import title
from matins.brief.mail import build, message_id
from matins.ledger import action, continuation, edition, evidence, message, obligation, profile
from matins.ledger.edition import Outgoing
from matins.ledger.move import Move
from matins.ledger.work import Claim
from matins.providers.objects import Objects
from matins.rules import calendar, keys, plans
from matins.rules.canonical import canonical, sha256
from matins.rules.crash import crashpoint
from matins.rules.errors import Closed, EvidenceMissing, StepOutOfOrder
from matins.rules.profile import Destination, from_document
from matins.rules.receipt import Receipt

CONTENT_TYPES = {
    ".json": "application/json",
    ".jsonl": "application/jsonl",
    ".md": "text/markdown; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".txt": "text/plain; charset=utf-8",
}


class Steps:
    """The continuation's activities."""

    def __init__(self, desk: Desk, objects: Objects, *, sender: str) -> None:
        self._desk, self._objects, self._sender = desk, objects, sender

    @activity.defn(name="continuation.compose", no_thread_cancel_exception=True)
    @told
    def compose(self, ask: Ask) -> Next:
        """Write the edition from the frozen evidence and draft it."""
        return self._step(ask.key, plans.COMPOSE, self._compose)

    @activity.defn(name="continuation.publish", no_thread_cancel_exception=True)
    @told
    def publish(self, ask: Ask) -> Next:
        """Check evidence and copy again, write the bundle, read it back, move the pointer, freeze the messages."""
        return self._step(ask.key, plans.PUBLISH, self._publish)

    @activity.defn(name="continuation.jobs", no_thread_cancel_exception=True)
    @told
    def jobs(self, ask: Ask) -> Next:
        """Record that no openings were asked for."""
        return self._step(ask.key, plans.JOBS, self._jobs)

    def _step(self, key: str, step: str, act: Callable[[Claim, str, int], Move]) -> Next:
        try:
            with self._desk.ledger() as conn:
                plan = continuation.plan_of(conn, key)
            with self._desk.claimed(keys.continuation_work(key), step=step) as claim:
                move = act(claim, key, plan)
                crashpoint("complete.after_commit")
                return following(move)
        except (Closed, StepOutOfOrder):
            with self._desk.ledger() as conn:
                unsent, move = message.pending_of(conn, key), continuation.next_move(conn, key)
            self._hand_out(key, unsent)
            return following(move)

    def _hand_out(self, key: str, messages: Sequence[str]) -> None:
        """Start what sends the messages; one that runs already is used."""
        for work_key in messages:
            self._desk.advance("message", Move(work_key, "send"), about=key)

    def _compose(self, claim: Claim, key: str, plan: int) -> Move:
        name = keys.action(key, plans.COMPOSE)
        with self._desk.ledger() as conn:
            content = action.frozen_request(conn, name)
        draft = json.loads(content) if content else self._draft(key)
        found = check(draft, self._evidence(key))
        content = content or canonical(draft)
        content_hash = sha256(content)
        self._desk.effect(
            claim,
            key=name,
            subject=key,
            step=plans.COMPOSE,
            provider=self._objects.provider,
            contents=[content],
            call=lambda: self._objects.put(
                f"{key}/draft-{content_hash[:16]}.json",
                content,
                content_type="application/json",
                idempotency_key=name,
            ),
        )
        crashpoint("complete.before_commit")
        with self._desk.ledger() as conn:
            return edition.draft(
                conn,
                key,
                claim,
                plan=plan,
                kind=draft["kind"],
                title=title(draft),
                draft_hash=content_hash,
                facts={
                    "stories": len(draft["stories"]),
                    "minutes": draft["minutes"],
                    "writer": draft["writer"],
                    "links": found.links,
                    "numbers": found.numbers,
                    "quotations": found.quotations,
                },
            )

    def _draft(self, key: str) -> dict[str, Any]:
        with self._desk.ledger() as conn:
            owed = obligation.owed(conn, key)
            wanted = from_document(profile.version(conn, owed.owner, owed.profile_version).document)
        return compose(self._evidence(key), wanted, date=owed.local_date)

    def _evidence(self, key: str) -> dict[str, Any]:
        with self._desk.ledger() as conn:
            stored = evidence.frozen_set(conn, key)
        if stored is None:
            raise EvidenceMissing("no evidence was frozen for this date", key=key)
        return read_evidence(self._objects, key, stored)

    def _publish(self, claim: Claim, key: str, plan: int) -> Move:
        with self._desk.ledger() as conn:
            drafted = edition.find(conn, key)
        draft: dict[str, Any] = json.loads(drafted.draft)
        evidence_set = self._evidence(key)
        check(draft, evidence_set)
        name = keys.action(key, plans.PUBLISH)
        files, listing = self._files(name, draft, evidence_set)
        folder = f"{key}/{sha256(listing)[:16]}"
        self._desk.effect(
            claim,
            key=name,
            subject=key,
            step=plans.PUBLISH,
            provider=self._objects.provider,
            contents=[listing, *files.values()],
            call=lambda: self._put_bundle(folder, files, listing, idempotency_key=name),
        )
        crashpoint("complete.before_commit")
        with self._desk.ledger() as conn:
            owed = obligation.owed(conn, key)
            there = profile.destinations(conn, owed.owner, owed.profile_version)
            published = edition.publish(
                conn,
                key,
                claim,
                plan=plan,
                bundle_hash=sha256(listing),
                messages=[self._outgoing(one, key, owed.owner, draft, files, drafted.drafted_at) for one in there],
                send_at=_send_at(owed),
            )
        crashpoint("complete.after_commit")
        self._hand_out(key, published.messages)
        return published.next

    def _files(self, name: str, draft: dict[str, Any], evidence_set: dict[str, Any]) -> tuple[dict[str, bytes], bytes]:
        """The bundle's files and their manifest: the frozen ones if there are any, else rendered now."""
        with self._desk.ledger() as conn:
            listing = action.frozen_request(conn, name)
            if listing is None:
                files = bundle(draft, evidence_set)
                return files, manifest(files)
            named = {entry["name"]: action.frozen(conn, entry["sha256"]) for entry in json.loads(listing)["files"]}
        if None in named.values():
            raise EvidenceMissing("a frozen file of the bundle is gone", key=name)
        return {path: content for path, content in named.items() if content is not None}, listing

    def _put_bundle(self, folder: str, files: dict[str, bytes], listing: bytes, *, idempotency_key: str) -> Receipt:
        crashpoint("put.before")
        for path, content in files.items():
            kind = CONTENT_TYPES["." + path.rpartition(".")[2]]
            self._objects.put(f"{folder}/{path}", content, content_type=kind, idempotency_key=idempotency_key)
        receipt = self._objects.put(
            f"{folder}/manifest.json", listing, content_type="application/json", idempotency_key=idempotency_key
        )
        crashpoint("put.after")
        for path, content in {**files, "manifest.json": listing}.items():
            if not self._objects.read_back(f"{folder}/{path}", sha256(content)):
                raise EvidenceMissing(f"{path} is not in the object store as it was written", key=idempotency_key)
        return receipt

    def _outgoing(
        self,
        there: Destination,
        key: str,
        owner: str,
        draft: dict[str, Any],
        files: dict[str, bytes],
        drafted_at: datetime,
    ) -> Outgoing:
        message_key = keys.message(key, plans.BRIEF, there.channel, there.name)
        address = parseaddr(self._sender)[1]
        domain = address.rpartition("@")[2]
        mail_id = message_id(message_key, domain)
        mail = build(
            draft,
            files,
            sender=self._sender,
            to=there.address,
            message_key=message_key,
            message_id=mail_id,
            sent_at=drafted_at,
            list_id=f"{owner}.matins.{domain}",
            unsubscribe=f"mailto:{address}?subject=stop%20{owner}",
        )
        return Outgoing(
            kind=plans.BRIEF,
            channel=there.channel,
            destination=there.name,
            address=there.address,
            proof=there.proof,
            if_unknown=there.if_unknown,
            mail=mail,
            mail_hash=sha256(mail),
            mail_id=mail_id,
        )

    def _jobs(self, claim: Claim, key: str, plan: int) -> Move:
        asked = canonical({"boards": [], "key": key, "result": "nothing asked"})
        with self._desk.ledger() as conn:
            crashpoint("complete.before_commit")
            return continuation.complete_step(
                conn, key, claim, plan=plan, written=(keys.action(key, plans.JOBS), sha256(asked), asked)
            )


def _send_at(owed: obligation.Owed) -> datetime | None:
    day: date = owed.local_date
    return calendar.first_instant(day, owed.send_at, owed.zone) if owed.send_at else None
