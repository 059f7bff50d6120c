"""Ingest: one claimed read of one source. It calls no model and decides nothing about news."""

from __future__ import annotations

from dataclasses import replace

from temporalio import activity

from activities.desk import Desk
from activities.failures import told
from activities.messages import Ask, Next
from matins.ledger import admission, ingest, source
from matins.ledger.source import Window
from matins.ledger.work import Claim
from matins.rules import limits
from matins.rules.crash import crashpoint
from matins.rules.errors import Closed, NotDue
from matins.rules.evidence import Cursor, Item, Reading, ReadOutcome, SourceKind
from matins.sources.fetch import Fetcher
from matins.sources.reader import read

BOARD_BYTES = 32 * 1024 * 1024
"""A board's answer holds every role with its whole text: a thousand of them were 8 MB."""


class Ingest:
    """The source's activity."""

    def __init__(self, desk: Desk, fetcher: Fetcher) -> None:
        self._desk, self._fetcher = desk, fetcher
        self._boards = replace(fetcher, caps=replace(fetcher.caps, max_bytes=BOARD_BYTES))

    @activity.defn(name="ingest.read", no_thread_cancel_exception=True)
    @told
    def read(self, ask: Ask) -> Next:
        """Read one window: claim, fetch, admit what was seen, settle with the validators. Not due is done for now."""
        with self._desk.ledger() as conn:
            window = source.window(conn, ask.key)
        try:
            with self._desk.claimed(window.work_key) as claim:
                crashpoint("fetch.after_claim")
                reading = self._read(window, window.url, cursor=_cursor(window))
                crashpoint("fetch.after_page")
                self._settle(claim, window, reading)
        except (Closed, NotDue):
            return Next("done")
        return Next("done")

    def _read(self, window: Window, url: str, *, cursor: Cursor) -> Reading:
        return read(self._boards if window.kind.is_board else self._fetcher, url, cursor=cursor, kind=window.kind)

    def _settle(self, claim: Claim, window: Window, reading: Reading) -> None:
        events: set[str] = set()
        if reading.items:
            reading = self._admit(claim, window, reading, events)
        with self._desk.ledger() as conn:
            if not reading.reached or reading.outcome is ReadOutcome.PARTIAL:
                ingest.fail(conn, claim, window, reading)
                return
            crashpoint("settle.before_commit")
            ingest.settle(conn, claim, window, reading, declared=len(events))
        crashpoint("settle.after_commit")

    def _admit(self, claim: Claim, window: Window, first: Reading, events: set[str]) -> Reading:
        """Admit the first page, and the older ones behind it while there may be something unseen on them.

        Returns the reading of all pages: partial if one of them did not come, and then the cursor stays.
        """
        with self._desk.ledger() as conn:
            baseline = admission.is_first_read(conn, window.source_key)
        whole, page, seen = first, first, [window.url]
        while True:
            all_new = self._admit_page(claim, window, page.items, events, baseline=baseline)
            follow = window.kind.is_board or (all_new and not baseline)
            most = limits.PAGES_OF_A_BOARD if window.kind.is_board else limits.PAGES_OF_A_FEED
            if not follow or not page.next_url or page.next_url in seen or whole.outcome is ReadOutcome.PARTIAL:
                return whole
            if len(seen) == most:
                return _broken(whole, f"has more than {most} pages") if window.kind.is_board else whole
            seen.append(page.next_url)
            page = self._read(window, page.next_url, cursor=Cursor())
            if not page.reached or page.outcome is ReadOutcome.PARTIAL:
                self._admit_page(claim, window, page.items, events, baseline=baseline)
                return _broken(whole, f"page {len(seen)}: {page.reason}")

    def _admit_page(
        self, claim: Claim, window: Window, items: tuple[Item, ...], events: set[str], *, baseline: bool
    ) -> bool:
        """Admit one page's items. Returns whether all of the read so far were new."""
        if not items:
            return False
        with self._desk.ledger() as conn:
            admitted = admission.admit(conn, claim, window, items, baseline=baseline)
        events.update(admitted.events)
        return admitted.all_new


def _cursor(window: Window) -> Cursor:
    """What the first page is compared with: nothing where pages behind it may change while it does not."""
    return Cursor() if window.kind is SourceKind.LEVER else window.cursor


def _broken(whole: Reading, reason: str) -> Reading:
    return replace(whole, outcome=ReadOutcome.PARTIAL, reason=reason)
