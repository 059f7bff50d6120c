"""The step that reports open roles: what the boards list now, against the last report. Off unless boards are named."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from temporalio import activity

from activities import mailing, stepping
from activities.desk import Desk
from activities.failures import told
from activities.messages import Ask, Next
from matins.brief.openings import report
from matins.brief.openings_letter import build, worth_a_mail
from matins.brief.openings_render import rendered
from matins.brief.openings_sheet import headline
from matins.ledger import action, continuation, edition, obligation, openings, outgoing, profile
from matins.ledger.move import Move
from matins.ledger.openings import Followed
from matins.ledger.work import Claim
from matins.providers.objects import Objects
from matins.rules import keys, plans
from matins.rules.canonical import canonical, sha256
from matins.rules.crash import crashpoint
from matins.rules.media import content_type
from matins.rules.openings import Board
from matins.rules.openings import Openings as Wanted
from matins.rules.profile import from_document
from matins.rules.receipt import Receipt
from matins.sources.address import canonical_url


class Openings:
    """The activity of the step `jobs`."""

    def __init__(self, desk: Desk, objects: Objects, *, sender: str) -> None:
        self._desk, self._objects, self._sender = desk, objects, sender

    @activity.defn(name="continuation.jobs", no_thread_cancel_exception=True)
    @told
    def jobs(self, ask: Ask) -> Next:
        """Report open roles, or record that none were asked for."""
        return stepping.make(self._desk, ask.key, plans.JOBS, self._jobs)

    def _jobs(self, claim: Claim, key: str, plan: int) -> Move:
        with self._desk.ledger() as conn:
            owed = obligation.owed(conn, key)
            wanted = from_document(profile.version(conn, owed.owner, owed.profile_version).document).openings
        if wanted is None:
            return self._nothing_asked(claim, key, plan)
        content = self._document(key, wanted)
        document = json.loads(content)
        self._store(claim, key, content, rendered(document, zone=owed.zone))
        messages = self._tell(claim, owed, document, sha256(content), mail=wanted.mail)
        crashpoint("complete.before_commit")
        with self._desk.ledger() as conn:
            move = continuation.complete_step(conn, key, claim, plan=plan)
        crashpoint("complete.after_commit")
        stepping.hand_out(self._desk, key, messages)
        return move

    def _nothing_asked(self, claim: Claim, key: str, plan: int) -> Move:
        asked = canonical({"boards": [], "key": key, "result": "nothing asked"})
        with self._desk.ledger() as conn:
            crashpoint("complete.before_commit")
            return continuation.complete_step(
                conn, key, claim, plan=plan, written=(keys.action(key, plans.JOBS), sha256(asked), asked)
            )

    def _document(self, key: str, wanted: Wanted) -> bytes:
        """The report as it was frozen; if it was not yet, made now."""
        with self._desk.ledger() as conn:
            frozen = action.frozen_request(conn, keys.action(key, plans.JOBS))
            if frozen is not None:
                return frozen
            looks, last, owed = openings.looks(conn, key), openings.last_report(conn, key), obligation.owed(conn, key)
        return canonical(report(json.loads(last) if last else None, looks, wanted, key=key, at=owed.now))

    def _store(self, claim: Claim, key: str, content: bytes, files: dict[str, bytes]) -> None:
        """The report's files beside the edition's, under one intent."""
        with self._desk.ledger() as conn:
            bundle = str(edition.find(conn, key).bundle_hash)
        name = keys.action(key, plans.JOBS)
        self._desk.effect(
            claim,
            key=name,
            subject=key,
            step=plans.JOBS,
            provider=self._objects.provider,
            contents=[content, *files.values()],
            call=lambda: self._put(f"{key}/{bundle[:16]}", files, idempotency_key=name),
        )

    def _put(self, folder: str, files: dict[str, bytes], *, idempotency_key: str) -> Receipt:
        receipts = [
            self._objects.put(
                f"{folder}/{name}",
                content,
                content_type=content_type(name),
                idempotency_key=idempotency_key,
            )
            for name, content in files.items()
        ]
        return receipts[0]

    def _tell(
        self, claim: Claim, owed: obligation.Owed, document: dict[str, Any], content_hash: str, *, mail: bool
    ) -> Sequence[str]:
        """Keep the report; and a message of its own, if the profile asks and there is something to tell."""
        facts = {"headline": headline(document), **document["counts"]}
        with self._desk.ledger() as conn:
            kept_at = openings.keep(conn, owed.key, claim, content_hash=content_hash, facts=facts)
            if not mail or not worth_a_mail(document):
                return ()
            there = profile.destinations(conn, owed.owner, owed.profile_version)
        mails = mailing.outgoing(
            there,
            subject=owed.key,
            owner=owed.owner,
            kind=plans.OPENINGS,
            sender=self._sender,
            build=lambda heading: build(document, zone=owed.zone, sent_at=kept_at, **asdict(heading)),
        )
        with self._desk.ledger() as conn:
            return outgoing.queue(conn, owed.key, claim, messages=mails, send_at=mailing.send_at(owed))


def followed(boards: Sequence[Board]) -> list[Followed]:
    """A profile's boards, as sources."""
    return [Followed(board.name, board.kind, canonical_url(board.url)) for board in boards]
