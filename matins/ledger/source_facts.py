"""One source, closer than a list shows it: the attempts of its window, and what it has given. Reads only."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from matins.ledger.query import row, rows
from matins.ledger.work import Conn
from matins.rules import keys
from matins.rules.errors import NoSuchRow


@dataclass(frozen=True, slots=True)
class Facts:
    """The window of a source, and what it has given so far."""

    attempts: int
    """Attempts that its window has used up."""
    budget: int
    retry_at: datetime | None
    """Before this nobody may read it; None: at any time."""
    read_until: datetime | None
    """Until when somebody reads it now, if somebody does."""
    events: int
    """Items kept, each counted once."""
    readers: int
    """Owners who read it."""
    now: datetime

    @property
    def waits(self) -> bool:
        """Whether its next attempt has to wait."""
        return self.retry_at is not None and self.retry_at > self.now


_FACTS = """
select work.attempts, work.budget, work.retry_at,
       case when work.lease_expires_at > ledger_now() then work.lease_expires_at end as read_until,
       (select count(*) from event where event.source_key = source.key)::integer as events,
       (select count(*) from subscription where subscription.source_key = source.key)::integer as readers,
       ledger_now() as now
  from source
  join work on work.key = source.window_key
 where source.key = %(key)s
"""


def facts(conn: Conn, source_key: str) -> Facts:
    """The facts of a source at the database's instant. Raises NoSuchRow."""
    found = row(conn, _FACTS, key=source_key)
    if found is None:
        raise NoSuchRow(key=keys.ingest(source_key))
    return Facts(**found)


@dataclass(frozen=True, slots=True)
class Kept:
    """One item of a source, as it is now."""

    title: str
    url: str
    published_at: datetime | None
    first_seen_at: datetime


_LATEST = """
select evidence.title, evidence.url, evidence.published_at, event.first_seen_at
  from event
  join evidence on evidence.event_key = event.key and evidence.hash = event.evidence_hash
 where event.source_key = %(key)s
 order by event.first_seen_at desc, evidence.published_at desc nulls last, event.key
 limit %(limit)s
"""


def latest(conn: Conn, source_key: str, *, limit: int = 5) -> list[Kept]:
    """The items of a source that were seen last, newest first."""
    return [Kept(**found) for found in rows(conn, _LATEST, key=source_key, limit=limit)]


_SKIPPED = """
select subscription.source_key
  from subscription
  join source on source.key = subscription.source_key
  join unread_window on unread_window.source_key = source.key
 where subscription.owner = %(owner)s
   and unread_window.how = 'skipped'
   and unread_window.ended_at = source.tried_at
"""


def skipped(conn: Conn, owner: str) -> frozenset[str]:
    """Keys of the owner's sources whose last window a person gave up, and which were not read since."""
    return frozenset(found["source_key"] for found in rows(conn, _SKIPPED, owner=owner))
