"""Owners and the versions of their profiles."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from psycopg.types.json import Jsonb

from matins.ledger.query import row, rows
from matins.ledger.work import Conn
from matins.rules.errors import ProfileMissing
from matins.rules.profile import Destination, Profile


@dataclass(frozen=True, slots=True)
class Applied:
    """What applying a profile came to."""

    owner: str
    version: int
    changed: bool


_CURRENT = """
select profile.version, profile.hash, profile.document, owner.ended_at
  from owner
  join profile on profile.owner = owner.name and profile.version = owner.profile_version
 where owner.name = %(owner)s
"""

_APPLY = """
with next as materialized (
    select %(seen)s::integer + 1 as version, ledger_now() as at
), written as (
    insert into profile (owner, version, hash, document, zone, opens, ready_by, useful_until, send_at, products,
                         applied_at)
    select %(owner)s, version, %(hash)s, %(document)s, %(zone)s, %(opens)s, %(ready_by)s, %(useful_until)s,
           %(send_at)s, %(products)s, at
      from next
    on conflict (owner, version) do nothing
    returning owner, version, applied_at
), owned as (
    insert into owner (name, profile_version, created_at)
    select owner, version, applied_at from written
    on conflict (name) do update set profile_version = excluded.profile_version, ended_at = null
), addressed as (
    insert into destination (owner, version, name, channel, address, proof, if_unknown)
    select written.owner, written.version, d.name, d.channel, d.address, d.proof, d.if_unknown
      from written, unnest(%(names)s::text[], %(channels)s::text[], %(addresses)s::text[], %(proofs)s::text[],
                           %(if_unknowns)s::text[]) as d (name, channel, address, proof, if_unknown)
), noted as (
    insert into audit (at, subject, event, facts)
    select applied_at, 'owner/' || owner, 'profile.applied',
           jsonb_build_object('version', version, 'hash', %(hash)s::text)
      from written
)
select version from written
"""


def apply(conn: Conn, profile: Profile) -> Applied:
    """A new version of the owner's profile, or the current one if it says the same and the owner was not ended.

    Where two are applied at once, the second one to come reads again what is current, and then decides.
    """
    while True:
        found = row(conn, _CURRENT, owner=profile.owner)
        if found and found["hash"] == profile.hash and found["ended_at"] is None:
            return Applied(profile.owner, found["version"], changed=False)
        got = row(conn, _APPLY, seen=found["version"] if found else 0, **_columns(profile))
        if got is not None:
            return Applied(profile.owner, got["version"], changed=True)


def _columns(profile: Profile) -> dict[str, object]:
    there = profile.destinations
    return {
        "owner": profile.owner,
        "hash": profile.hash,
        "document": Jsonb(profile.document()),
        "zone": profile.zone,
        "opens": profile.opens,
        "ready_by": profile.ready_by,
        "useful_until": profile.useful_until,
        "send_at": profile.send_at,
        "products": list(profile.products),
        "names": [one.name for one in there],
        "channels": [one.channel for one in there],
        "addresses": [one.address for one in there],
        "proofs": [one.proof for one in there],
        "if_unknowns": [one.if_unknown for one in there],
    }


@dataclass(frozen=True, slots=True)
class Stored:
    """One stored version of a profile."""

    version: int
    hash: str
    document: dict[str, Any]
    ended_at: datetime | None = None
    """Since when nothing is owed to its owner, if that is so."""


def current(conn: Conn, owner: str) -> Stored:
    """The owner's current profile. Raises ProfileMissing, by name."""
    found = row(conn, _CURRENT, owner=owner)
    if found is None:
        raise ProfileMissing(f'there is no profile for "{owner[:40]}"; apply one: matins profile apply FILE')
    return Stored(**found)


_END = """
with ended as (
    update owner
       set ended_at = moment.at
      from (select ledger_now() as at) as moment
     where owner.name = %(owner)s
       and owner.ended_at is null
    returning owner.name, owner.ended_at
), unread as (
    delete from subscription
     using ended
     where subscription.owner = ended.name
    returning subscription.source_key
), noted as (
    insert into audit (at, subject, event, facts)
    select ended_at, 'owner/' || name, 'owner.ended', jsonb_build_object('sources', (select count(*) from unread))
      from ended
)
select name from ended
"""


def end(conn: Conn, owner: str) -> bool:
    """Owe nothing more to `owner`, and read none of its sources: what was made stays, and what was begun is finished.

    Applying a profile begins anew. Returns False if the owner was ended before. Raises ProfileMissing.
    """
    current(conn, owner)
    return row(conn, _END, owner=owner) is not None


_VERSION = "select version, hash, document from profile where owner = %(owner)s and version = %(version)s"


def version(conn: Conn, owner: str, version: int) -> Stored:
    """One version of the owner's profile. Raises ProfileMissing."""
    found = row(conn, _VERSION, owner=owner, version=version)
    if found is None:
        raise ProfileMissing(f"{owner} has no profile version {version}")
    return Stored(**found)


_OWNERS = "select name from owner where ended_at is null order by name"


def owners(conn: Conn) -> list[str]:
    """The names of all owners that mornings are owed to, in order."""
    return [found["name"] for found in rows(conn, _OWNERS)]


_TAKEN = "select exists (select 1 from owner where name = %(name)s) as yes"


def is_taken(conn: Conn, name: str) -> bool:
    """Whether there is, or ever was, an owner of this name."""
    found = row(conn, _TAKEN, name=name)
    return bool(found and found["yes"])


_DESTINATIONS = """
select name, address, channel, proof, if_unknown
  from destination
 where owner = %(owner)s
   and version = %(version)s
 order by name
"""


def destinations(conn: Conn, owner: str, version: int) -> list[Destination]:
    """Where mail goes under one version of a profile, by name."""
    return [Destination(**found) for found in rows(conn, _DESTINATIONS, owner=owner, version=version)]
