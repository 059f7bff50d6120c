"""The step that keeps the wiki: accept the day's texts, have a page for each story, and bring the pages up to date."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from typing import Any

from temporalio import activity

from activities import stepping
from activities.desk import Desk
from activities.failures import told
from activities.messages import Ask, Next
from activities.pages import Pages
from activities.research import frozen_evidence
from matins.brief.summary import MODEL, PROMPT_VERSION, stories_of, summaries
from matins.ledger import continuation, edition, obligation, page, summary
from matins.ledger.move import Move
from matins.ledger.page import Telling
from matins.ledger.summary import Draft
from matins.ledger.work import Claim
from matins.providers.objects import Objects
from matins.rules import keys, plans
from matins.rules.canonical import canonical, sha256
from matins.rules.crash import crashpoint
from matins.rules.errors import LeaseHeld, LeaseLost, NotDue, Superseded

_GLANCE = 0.3
"""Seconds between two tries of a page that somebody else is at."""


class Wiki:
    """The activity of the step `wiki`."""

    def __init__(self, desk: Desk, objects: Objects, pages: Pages) -> None:
        self._desk, self._objects, self._pages = desk, objects, pages

    @activity.defn(name="continuation.wiki", no_thread_cancel_exception=True)
    @told
    def wiki(self, ask: Ask) -> Next:
        """Bring the wiki up to date with the edition. A page that cannot be now stays due, and the sweep sees to it."""
        return stepping.make(self._desk, ask.key, plans.WIKI, self._wiki)

    def _wiki(self, claim: Claim, key: str, plan: int) -> Move:
        due = self._want(claim, key)
        late = self._publish(due)
        if late and claim.attempts < claim.budget:
            self._desk.fail(claim, reason=f"{len(late)} of {len(due)} pages are not up to date")
        done = canonical({"key": key, "pages": due, "still_due": late})
        crashpoint("complete.before_commit")
        with self._desk.ledger() as conn:
            return continuation.complete_step(
                conn, key, claim, plan=plan, written=(keys.action(key, plans.WIKI), sha256(done), done)
            )

    def _want(self, claim: Claim, key: str) -> list[str]:
        """The ids of the pages that this edition touches; they are owed from now on."""
        with self._desk.ledger() as conn:
            draft: dict[str, Any] = json.loads(edition.find(conn, key).draft)
            owed = obligation.owed(conn, key)
        evidence_set = frozen_evidence(self._desk, self._objects, key)
        drafts = [Draft(prompt_version=PROMPT_VERSION, model=MODEL, **one) for one in summaries(draft, evidence_set)]
        tellings = [
            Telling(one["lead"], tuple(one["members"]), one["topic"]) for one in stories_of(draft, evidence_set)
        ]
        if not tellings:
            return []
        with self._desk.ledger() as conn:
            summary.accept(conn, claim, drafts)
            crashpoint("summary.after_accept")
            return page.want(conn, claim, owed.owner, owed.local_date, tellings)

    def _publish(self, due: Sequence[str]) -> list[str]:
        """Publish what is not up to date, and return what still is not.

        A page that somebody else brings up to date right now is waited for as long as a lease lasts.
        """
        until = time.monotonic() + self._desk.limits.lease
        late = self._dirty(due)
        while late:
            held = [page_id for page_id in late if not self._try(page_id)]
            late = self._dirty(due)
            if not set(held) & set(late) or time.monotonic() > until:
                break
            time.sleep(_GLANCE)
        return late

    def _try(self, page_id: str) -> bool:
        """Bring one page up to date, or not. Returns False if somebody else is at it."""
        try:
            self._pages.bring_up_to_date(page_id)
        except LeaseHeld:
            return False
        except (LeaseLost, NotDue, Superseded):
            return True
        return True

    def _dirty(self, due: Sequence[str]) -> list[str]:
        """Those of `due` that do not show what they should, in the order of `due`."""
        with self._desk.ledger() as conn:
            dirty = frozenset(page.dirty_of(conn, due))
        return [page_id for page_id in due if page_id in dirty]
