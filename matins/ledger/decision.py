"""Decisions: whoever looked and did nothing leaves the reason, coalesced."""

from __future__ import annotations

from matins.ledger.query import execute
from matins.ledger.work import Conn

_NOTE = """
insert into decision (subject, kind, reason, first_seen_at, last_seen_at)
select %(subject)s, %(kind)s, %(reason)s, at, at
  from (select ledger_now() as at) as moment
on conflict (subject, kind, reason) do update
   set last_seen_at = excluded.last_seen_at, count = decision.count + 1
"""


def note(conn: Conn, subject: str, kind: str, reason: str) -> None:
    """Remember that `kind` of act was looked at for `subject` and not done, and why; a repeat only counts."""
    execute(conn, _NOTE, subject=subject, kind=kind, reason=reason[:500])
