"""Ingest: one claimed read of one source. It calls no model and decides nothing about news."""

from __future__ import annotations

from temporalio import activity

from activities.desk import Desk
from activities.failures import told
from activities.messages import Ask, Next
from matins.ledger import ingest, source
from matins.ledger.source import Window
from matins.ledger.work import Claim
from matins.rules.crash import crashpoint
from matins.rules.errors import Closed, NotDue
from matins.rules.evidence import Reading
from matins.sources.fetch import Fetcher
from matins.sources.reader import read


class Ingest:
    """The source's activity."""

    def __init__(self, desk: Desk, fetcher: Fetcher) -> None:
        self._desk, self._fetcher = desk, fetcher

    @activity.defn(name="ingest.read", no_thread_cancel_exception=True)
    @told
    def read(self, ask: Ask) -> Next:
        """Read one window: claim, fetch, admit what was seen, settle with the validators. Not due is done for now."""
        with self._desk.ledger() as conn:
            window = source.window(conn, ask.key)
        try:
            with self._desk.claimed(window.work_key) as claim:
                crashpoint("fetch.after_claim")
                reading = read(self._fetcher, window.url, cursor=window.cursor)
                crashpoint("fetch.after_page")
                self._settle(claim, window, reading)
        except (Closed, NotDue):
            return Next("done")
        return Next("done")

    def _settle(self, claim: Claim, window: Window, reading: Reading) -> None:
        with self._desk.ledger() as conn:
            if not reading.reached:
                ingest.fail(conn, claim, window, reading)
                return
            if reading.items:
                baseline = ingest.is_first_read(conn, window.source_key)
                ingest.admit(conn, claim, window, reading.items, baseline=baseline)
            crashpoint("settle.before_commit")
            ingest.settle(conn, claim, window, reading)
        crashpoint("settle.after_commit")
