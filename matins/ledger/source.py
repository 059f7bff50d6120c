"""Sources: where evidence comes from, shared by owners. Each has one window that may be read now."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from matins.ledger.query import Row, row, rows
from matins.ledger.work import Conn
from matins.rules import keys, limits
from matins.rules.errors import NoSuchRow
from matins.rules.evidence import Cursor, SourceKind, SourceLook

_ADD = """
with moment as materialized (
    select ledger_now() as at
), worked as (
    insert into work (key, kind, budget, moved_at) select %(window)s, 'ingest', %(budget)s, at from moment
    on conflict (key) do nothing
), added as (
    insert into source (key, kind, url, secret_name, window_key, due_at, created_at)
    select %(key)s, %(kind)s, %(url)s, %(secret_name)s, %(window)s, at, at from moment
    on conflict (key) do nothing
), subscribed as (
    insert into subscription (owner, source_key, name, purpose, added_at)
    select %(owner)s, %(key)s, %(name)s, %(purpose)s, at from moment
    on conflict (owner, source_key) do nothing
    returning owner, source_key, added_at
), noted as (
    insert into audit (at, subject, event, facts)
    select added_at, 'source/' || source_key, 'source.added', jsonb_build_object('owner', owner) from subscribed
)
select source_key from subscribed
"""


NEWS, OPENINGS = "news", "openings"
"""What an owner reads a source for."""


def add(
    conn: Conn,
    owner: str,
    *,
    url: str,
    name: str,
    secret_name: str = "",
    kind: SourceKind = SourceKind.FEED,
) -> bool:
    """Let `owner` read the source at the canonical `url` under `name`. Returns False if it already did.

    A board is read for its open roles, a feed for news. Raises psycopg's IntegrityError when the owner does not exist
    or the name is taken; `named` tells beforehand.
    """
    key = keys.source(url, secret_name)
    got = row(
        conn,
        _ADD,
        owner=owner,
        key=key,
        url=url,
        secret_name=secret_name,
        name=name,
        kind=kind.value,
        purpose=OPENINGS if kind.is_board else NEWS,
        window=keys.ingest_work(key, 1),
        budget=limits.BUDGET,
    )
    return got is not None


_REMOVE = """
with removed as (
    delete from subscription
     where owner = %(owner)s
       and source_key = %(key)s
    returning owner, source_key
), noted as (
    insert into audit (at, subject, event, facts)
    select ledger_now(), 'source/' || source_key, 'source.removed', jsonb_build_object('owner', owner) from removed
)
select source_key from removed
"""


def remove(conn: Conn, owner: str, source_key: str) -> bool:
    """Let `owner` read the source no more. What was read and told stays. Returns False if the owner did not read it.

    A source that nobody reads is not polled any more.
    """
    return row(conn, _REMOVE, owner=owner, key=source_key) is not None


_LIST = """
select subscription.name, subscription.purpose, source.kind, source.key, source.url, source.fetch_url, source.title,
       source.outcome, source.reason, source.settled_at,
       source.tried_at, source.failing_since, source.due_at, source.items_read, source.failures, source.moved_to,
       source.moved_since
  from subscription
  join source on source.key = subscription.source_key
 where subscription.owner = %(owner)s
 order by subscription.name
"""


@dataclass(frozen=True, slots=True)
class Subscribed:
    """One source of one owner, and how its last read went."""

    name: str
    purpose: str
    kind: str
    key: str
    url: str
    fetch_url: str | None
    """Where it is read, if a permanent redirect has held; None: at `url`."""
    title: str
    outcome: str | None
    reason: str
    settled_at: datetime | None
    tried_at: datetime | None
    failing_since: datetime | None
    due_at: datetime
    items_read: int
    failures: int
    """Windows spent one after the other."""
    moved_to: str | None
    moved_since: datetime | None


def of_owner(conn: Conn, owner: str) -> list[Subscribed]:
    """The owner's sources, by name."""
    return [Subscribed(**found) for found in rows(conn, _LIST, owner=owner)]


@dataclass(frozen=True, slots=True)
class Window:
    """What may be read now of one source, and how far it was read before."""

    source_key: str
    work_key: str
    kind: SourceKind
    url: str
    """Where it is read now."""
    secret_name: str
    cursor_version: int
    cursor: Cursor


_WINDOW = """
select key, window_key, kind, coalesce(fetch_url, url) as url, secret_name, cursor_version, etag, last_modified,
       body_hash
  from source
 where key = %(key)s
"""


def window(conn: Conn, source_key: str) -> Window:
    """The source's current window. Raises NoSuchRow."""
    found = row(conn, _WINDOW, key=source_key)
    if found is None:
        raise NoSuchRow(key=keys.ingest(source_key))
    return Window(
        source_key=found["key"],
        work_key=found["window_key"],
        kind=SourceKind(found["kind"]),
        url=found["url"],
        secret_name=found["secret_name"],
        cursor_version=found["cursor_version"],
        cursor=Cursor(found["etag"], found["last_modified"], found["body_hash"]),
    )


_ASK = """
with held as materialized (
    select source.key, source.asked_at, obligation.queued_at
      from obligation
      join subscription on subscription.owner = obligation.owner
      join source on source.key = subscription.source_key
     where obligation.key = %(key)s
       and coalesce(source.tried_at, '-infinity') < obligation.queued_at
     order by source.key
       for no key update of source
), found as materialized (
    select *, ledger_now() as at from held
), asked as (
    update source
       set asked_at = found.at, due_at = least(source.due_at, found.at)
      from found
     where source.key = found.key
       and coalesce(found.asked_at, '-infinity') < found.queued_at
)
select key from found order by key
"""


def ask(conn: Conn, obligation_key: str) -> list[str]:
    """Ask for a read of every source of a morning not tried since it was queued. Returns the keys still to come."""
    return [found["key"] for found in rows(conn, _ASK, key=obligation_key)]


_FIND_DUE = """
select source.key
  from source
  join work on work.key = source.window_key
 where source.due_at <= ledger_now()
   and (work.lease_expires_at is null or work.lease_expires_at <= ledger_now())
   and exists (select 1 from subscription where subscription.source_key = source.key)
 order by source.due_at
 limit %(limit)s
"""


def find_due(conn: Conn, *, limit: int = 2500) -> list[str]:
    """Keys of sources whose read is due and that nobody reads, longest due first."""
    return [found["key"] for found in rows(conn, _FIND_DUE, limit=limit)]


_LOOKS = """
select source.key as source_key, subscription.name, source.items_read, source.reason, source.failing_since as since,
       coalesce(source.settled_at >= obligation.queued_at, false) as reached,
       source.outcome = 'partial' and source.tried_at >= obligation.queued_at as partial
  from obligation
  join subscription on subscription.owner = obligation.owner
  join source on source.key = subscription.source_key
 where obligation.key = %(key)s
   and subscription.purpose = 'news'
 order by subscription.name
"""


def looks(conn: Conn, obligation_key: str) -> list[SourceLook]:
    """What a morning's look at each of its sources came to: reached since it was queued, or not, and why."""
    return [_look(found) for found in rows(conn, _LOOKS, key=obligation_key)]


def _look(found: Row) -> SourceLook:
    partial = bool(found["partial"]) and not found["reached"]
    reached = found["reached"] or partial
    return SourceLook(
        source_key=found["source_key"],
        name=found["name"],
        reached=reached,
        items_read=found["items_read"] if found["reached"] else 0,
        reason="" if found["reached"] else found["reason"] or "not answered in time",
        since=None if reached else found["since"],
        partial=partial,
    )
