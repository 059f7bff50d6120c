"""The pages of an owner's wiki as a reader of the object store needs them. Reads only."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from matins.ledger.query import rows
from matins.ledger.work import Conn


@dataclass(frozen=True, slots=True)
class Published:
    """One page that was published, and whether it shows what it should."""

    id: str
    kind: str
    dirty: bool
    objects: dict[str, Any]
    """By form: {"hash": SHA-256 that was read back, "etag": ...}."""


_PUBLISHED = """
select id, kind, wanted > published as dirty, objects
  from page
 where owner = %(owner)s
   and published > 0
 order by kind, id
"""


def published(conn: Conn, owner: str) -> list[Published]:
    """The owner's pages that were ever read back from the object store."""
    return [Published(**found) for found in rows(conn, _PUBLISHED, owner=owner)]
