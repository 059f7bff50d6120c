"""Research: ask for the reads that are due, wait for them, and freeze the evidence of the date."""

from __future__ import annotations

import json
from typing import Any

from temporalio import activity

from activities.desk import Desk, following
from activities.failures import told
from activities.messages import Ask, Next
from activities.openings import followed
from matins.brief.select import select
from matins.ledger import continuation, evidence, obligation, openings, profile, source
from matins.ledger.evidence import FrozenSet
from matins.ledger.move import Move
from matins.ledger.work import Claim, Conn
from matins.providers.objects import Objects
from matins.rules import keys, plans
from matins.rules.canonical import canonical, sha256
from matins.rules.crash import crashpoint
from matins.rules.errors import Closed, EvidenceMissing, NoSuchRow, NotDue
from matins.rules.profile import from_document

_GLANCE = 0.4
"""Seconds between two looks at whether the sources have been read."""


class Research:
    """The obligation's activities."""

    def __init__(self, desk: Desk, objects: Objects, *, poll_wait: float) -> None:
        self._desk, self._objects, self._poll_wait = desk, objects, poll_wait

    @activity.defn(name="obligation.polls", no_thread_cancel_exception=True)
    @told
    def polls(self, ask: Ask) -> Next:
        """Have every source read that was not tried since this morning was queued; waits by its own retry.

        It claims nothing: waiting must not use up attempts.
        """
        with self._desk.ledger() as conn:
            self._follow_boards(conn, ask.key)
            waiting = source.ask(conn, ask.key)
        for source_key in waiting:
            self._desk.advance("ingest", Move(source_key, "read"))
        with self._desk.ledger() as conn:
            move = obligation.next_move(conn, ask.key, poll_wait=self._poll_wait)
            now = obligation.owed(conn, ask.key).now if move.name == "polls" else None
        if now is not None:
            raise NotDue("its sources are being read", key=ask.key, at=now, wait=_GLANCE)
        return following(move)

    def _follow_boards(self, conn: Conn, key: str) -> None:
        """Have the boards that the current profile names among the owner's sources."""
        owner = keys.parse(key).owner
        wanted = from_document(profile.current(conn, owner).document).openings
        openings.follow(conn, owner, followed(wanted.boards) if wanted else ())

    @activity.defn(name="obligation.research", no_thread_cancel_exception=True)
    @told
    def research(self, ask: Ask) -> Next:
        """Freeze the evidence set, put it in the object store, and complete the obligation with its continuation."""
        desk = self._desk
        try:
            with desk.claimed(keys.obligation_work(ask.key)) as claim:
                frozen = self._evidence_set(claim, ask.key)
                self._keep(claim, ask.key, frozen)
                crashpoint("complete.before_commit")
                with desk.ledger() as conn:
                    plan = obligation.owed(conn, ask.key).plan
                    done = obligation.complete(conn, ask.key, claim, plan=plan, output_hash=frozen.hash)
                crashpoint("complete.after_commit")
                first = done.next
        except Closed:
            first = self._follow_up(ask.key)
        if not first.done:
            desk.advance("continuation", first)
        return Next("done")

    def _follow_up(self, key: str) -> Move:
        """What an earlier life completed and may not have started: its continuation, if there is one."""
        with self._desk.ledger() as conn:
            try:
                return continuation.next_move(conn, key)
            except NoSuchRow:
                return Move(key, "done")

    def _evidence_set(self, claim: Claim, key: str) -> FrozenSet:
        with self._desk.ledger() as conn:
            stored = evidence.frozen_set(conn, key)
            if stored is not None:
                return stored
            owed = obligation.owed(conn, key)
            wanted = from_document(profile.version(conn, owed.owner, owed.profile_version).document)
            found, looks, told = evidence.fresh(conn, key), source.looks(conn, key), evidence.told(conn, key)
        document = select(found, looks, wanted, key=key, at=owed.now, told=told)
        content = canonical(document)
        items = [(item["event_key"], item["evidence_hash"], bool(item["chosen"])) for item in document["items"]]
        coverage = {
            "sources": len(looks),
            "reached": sum(look.reached for look in looks),
            "items": len(items),
            "new": sum(bool(item["rank"]) for item in document["items"]),
            "unseen": [{"name": look.name, "reason": look.reason} for look in looks if not look.reached],
            "in_part": [{"name": look.name, "reason": look.reason} for look in looks if look.partial],
        }
        with self._desk.ledger() as conn:
            return evidence.freeze(
                conn,
                key,
                claim,
                owner=owed.owner,
                content_hash=sha256(content),
                content=content,
                coverage=coverage,
                items=items,
            )

    def _keep(self, claim: Claim, key: str, frozen: FrozenSet) -> None:
        name = keys.action(key, plans.RESEARCH)
        self._desk.effect(
            claim,
            key=name,
            subject=key,
            step=plans.RESEARCH,
            provider=self._objects.provider,
            contents=[frozen.content],
            call=lambda: self._objects.put(
                evidence_object(key, frozen.hash),
                frozen.content,
                content_type="application/json",
                idempotency_key=name,
            ),
        )


def evidence_object(key: str, content_hash: str) -> str:
    """The object key of a date's evidence set."""
    return f"{key}/evidence-{content_hash[:16]}.json"


def frozen_evidence(desk: Desk, objects: Objects, key: str) -> dict[str, Any]:
    """The evidence set of a date, from the object store. Raises EvidenceMissing if it was not frozen or is gone."""
    with desk.ledger() as conn:
        stored = evidence.frozen_set(conn, key)
    if stored is None:
        raise EvidenceMissing("no evidence was frozen for this date", key=key)
    return _read_evidence(objects, key, stored)


def _read_evidence(objects: Objects, key: str, stored: FrozenSet) -> dict[str, Any]:
    """The frozen evidence set, read back from the object store and checked against its hash.

    Raises EvidenceMissing when it is not there as it was frozen.
    """
    content = objects.get(evidence_object(key, stored.hash))
    if content is None or sha256(content) != stored.hash:
        raise EvidenceMissing("the evidence set in the object store is not the one that was frozen", key=key)
    document: dict[str, Any] = json.loads(content)
    return document
