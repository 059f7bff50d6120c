"""Decisions: whoever looked and did nothing leaves the reason, coalesced."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from matins.ledger.query import execute, rows
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


@dataclass(frozen=True, slots=True)
class Decision:
    """One thing that was looked at and not done, or done with a warning, and how often."""

    kind: str
    reason: str
    first_seen_at: datetime
    last_seen_at: datetime
    count: int


_OF = """
select kind, reason, first_seen_at, last_seen_at, count
  from decision
 where subject = %(subject)s
   and (%(within)s::float8 is null or last_seen_at > ledger_now() - make_interval(secs => %(within)s))
 order by last_seen_at desc, kind, reason
 limit %(limit)s
"""


def of(conn: Conn, subject: str, *, within: float | None = None, limit: int = 20) -> list[Decision]:
    """What was decided about `subject`, the latest first; only what was seen in the last `within` seconds, if given."""
    return [Decision(**found) for found in rows(conn, _OF, subject=subject, within=within, limit=limit)]
