"""The steps that make the edition: compose and publish."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any

from temporalio import activity

from activities import mailing, stepping
from activities.desk import Desk
from activities.failures import told
from activities.messages import Ask, Next
from activities.research import frozen_evidence
from matins.brief.audit import check
from matins.brief.bundle import bundle, manifest
from matins.brief.compose import compose
from matins.brief.coverage import title
from matins.brief.mail import build
from matins.ledger import action, edition, obligation, profile
from matins.ledger.move import Move
from matins.ledger.outgoing import Outgoing
from matins.ledger.work import Claim
from matins.providers.objects import Objects
from matins.rules import keys, plans
from matins.rules.canonical import canonical, sha256
from matins.rules.crash import crashpoint
from matins.rules.errors import EvidenceMissing
from matins.rules.media import content_type
from matins.rules.profile import Destination, from_document
from matins.rules.receipt import Receipt


class Steps:
    """The continuation's activities."""

    def __init__(self, desk: Desk, objects: Objects, *, sender: str) -> None:
        self._desk, self._objects, self._sender = desk, objects, sender

    @activity.defn(name="continuation.compose", no_thread_cancel_exception=True)
    @told
    def compose(self, ask: Ask) -> Next:
        """Write the edition from the frozen evidence and draft it."""
        return stepping.make(self._desk, ask.key, plans.COMPOSE, self._compose)

    @activity.defn(name="continuation.publish", no_thread_cancel_exception=True)
    @told
    def publish(self, ask: Ask) -> Next:
        """Check evidence and copy again, write the bundle, read it back, move the pointer, freeze the messages."""
        return stepping.make(self._desk, ask.key, plans.PUBLISH, self._publish)

    def _compose(self, claim: Claim, key: str, plan: int) -> Move:
        name = keys.action(key, plans.COMPOSE)
        with self._desk.ledger() as conn:
            content = action.frozen_request(conn, name)
        draft = json.loads(content) if content else self._draft(key)
        found = check(draft, frozen_evidence(self._desk, self._objects, key))
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
        return compose(frozen_evidence(self._desk, self._objects, key), wanted, date=owed.local_date)

    def _publish(self, claim: Claim, key: str, plan: int) -> Move:
        with self._desk.ledger() as conn:
            drafted = edition.find(conn, key)
        draft: dict[str, Any] = json.loads(drafted.draft)
        evidence_set = frozen_evidence(self._desk, self._objects, key)
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
                messages=self._outgoing(there, owed, draft, files, drafted.drafted_at),
                send_at=mailing.send_at(owed),
            )
        crashpoint("complete.after_commit")
        stepping.hand_out(self._desk, key, published.messages)
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
            self._objects.put(
                f"{folder}/{path}", content, content_type=content_type(path), idempotency_key=idempotency_key
            )
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
        there: Sequence[Destination],
        owed: obligation.Owed,
        draft: dict[str, Any],
        files: dict[str, bytes],
        drafted_at: datetime,
    ) -> list[Outgoing]:
        return mailing.outgoing(
            there,
            subject=owed.key,
            owner=owed.owner,
            kind=plans.BRIEF,
            sender=self._sender,
            build=lambda heading: build(draft, files, sent_at=drafted_at, **asdict(heading)),
        )
