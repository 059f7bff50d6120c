"""Open roles: the boards that an owner's profile names, what each lists now, and what was reported of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from psycopg.types.json import Jsonb

from matins.ledger import source
from matins.ledger.query import Row, row, rows
from matins.ledger.work import Claim, Conn, explain_holder
from matins.rules import keys
from matins.rules.errors import OutputConflict
from matins.rules.evidence import SourceKind
from matins.rules.openings import BoardLook, Posting

_NAMED = "select name, source_key from subscription where owner = %(owner)s and purpose = 'openings'"


@dataclass(frozen=True, slots=True)
class Followed:
    """A board under the canonical address of its API."""

    name: str
    kind: SourceKind
    url: str

    @property
    def key(self) -> str:
        """The key of its source."""
        return keys.source(self.url)

    @property
    def title(self) -> str:
        """What it is called among an owner's sources; no feed's name has this form by chance."""
        return f"openings at {self.name}"


def follow(conn: Conn, owner: str, boards: Sequence[Followed]) -> None:
    """Read exactly `boards` for the owner's openings, under their names: others are read no more. Asked again, it
    changes nothing.
    """
    there = {found["source_key"]: found["name"] for found in rows(conn, _NAMED, owner=owner)}
    wanted = {board.key: board for board in boards}
    for key, name in there.items():
        if key not in wanted or wanted[key].title != name:  # names may be swapped: all are free before any is given
            source.remove(conn, owner, key)
    for key, board in wanted.items():
        if there.get(key) != board.title:
            source.add(conn, owner, url=board.url, name=board.title, kind=board.kind)


_LOOKS = """
select source.key, subscription.name, source.reason, source.failing_since as since, source.listed_work,
       source.listed_token, coalesce(source.settled_at >= obligation.queued_at, false) as reached
  from obligation
  join subscription on subscription.owner = obligation.owner
  join source on source.key = subscription.source_key
 where obligation.key = %(key)s
   and subscription.purpose = 'openings'
 order by subscription.name
"""
_LISTED = """
select event.key as event_key, event.identity, evidence.title, evidence.url, evidence.body as text, evidence.facts,
       event.first_seen_at, evidence.published_at
  from declared_item
  join event on event.key = declared_item.event_key
  join evidence on evidence.event_key = declared_item.event_key and evidence.hash = declared_item.evidence_hash
 where declared_item.work_key = %(work)s
   and declared_item.token = %(token)s
 order by event.key
"""


def looks(conn: Conn, obligation_key: str) -> list[BoardLook]:
    """What a morning's look at each of its boards came to. What a board lists is what its last whole read listed."""
    return [_look(conn, found) for found in rows(conn, _LOOKS, key=obligation_key)]


def _look(conn: Conn, found: Row) -> BoardLook:
    reached = bool(found["reached"])
    listed = rows(conn, _LISTED, work=found["listed_work"], token=found["listed_token"]) if reached else []
    return BoardLook(
        name=found["name"].removeprefix("openings at "),
        reached=reached,
        reason="" if reached else found["reason"] or "not answered in time",
        since=None if reached else found["since"],
        postings=tuple(_posting(one) for one in listed),
    )


def _posting(found: Row) -> Posting:
    facts = found.pop("facts")
    return Posting(**found, place=facts.get("places") or facts.get("place", ""), team=facts.get("team", ""))


_LAST = """
select frozen.bytes as content
  from openings_report
  join frozen on frozen.hash = openings_report.hash
  join obligation on obligation.key = %(key)s
 where openings_report.owner = obligation.owner
   and openings_report.local_date < obligation.local_date
 order by openings_report.local_date desc
 limit 1
"""


def last_report(conn: Conn, obligation_key: str) -> bytes | None:
    """The owner's last report before this date, as it was frozen, or None."""
    found = row(conn, _LAST, key=obligation_key)
    return found["content"] if found else None


_REPORT = """
select frozen.bytes as content
  from openings_report
  join frozen on frozen.hash = openings_report.hash
 where openings_report.key = %(key)s
"""


def report(conn: Conn, obligation_key: str) -> bytes | None:
    """The report of this date, as it was frozen, or None."""
    found = row(conn, _REPORT, key=obligation_key)
    return found["content"] if found else None


_KEEP = """
with held as materialized (
    select *
      from work
     where key = %(work_key)s
       and token = %(token)s
       for no key update
), live as materialized (
    select *, ledger_now() as at
      from held
     where lease_expires_at > ledger_now()
), kept as (
    insert into openings_report (key, owner, local_date, hash, facts, reported_at)
    select obligation.key, obligation.owner, obligation.local_date, %(hash)s, %(facts)s, live.at
      from live
      join obligation on obligation.key = %(key)s
    on conflict (key) do nothing
    returning key, reported_at
), noted as (
    insert into audit (at, subject, event, token, facts)
    select reported_at, %(work_key)s, 'openings.reported', %(token)s, jsonb_build_object('hash', %(hash)s::text)
      from kept
)
select (select count(*) from live) as live
"""
_KEPT = "select hash, reported_at from openings_report where key = %(key)s"


def keep(conn: Conn, key: str, claim: Claim, *, content_hash: str, facts: dict[str, Any]) -> datetime:
    """Keep the report of a date, whose bytes are frozen; the next one is compared with it. Returns when it was kept.

    The same report again changes nothing; another one raises OutputConflict. Raises LeaseLost.
    """
    got = row(conn, _KEEP, work_key=claim.key, token=claim.token, key=key, hash=content_hash, facts=Jsonb(facts))
    if got is None or not got["live"]:
        raise explain_holder(conn, claim.key, token=claim.token)
    stored = row(conn, _KEPT, key=key)
    assert stored is not None, "it was kept now or earlier"
    if stored["hash"] != content_hash:
        raise OutputConflict(key=key, stored=stored["hash"], asked=content_hash)
    at: datetime = stored["reported_at"]
    return at
