"""What `doctor` asks the ledger: where its tables are, whether its law holds, what is stuck, and who is read."""

from __future__ import annotations

from matins.ledger.query import row, rows
from matins.ledger.work import Conn

_SCHEMAS = """
select distinct pg_namespace.nspname as name, current_schema() as current
  from pg_class
  join pg_namespace on pg_namespace.oid = pg_class.relnamespace
 where pg_class.relname = 'obligation'
   and pg_class.relkind = 'r'
 order by 1
"""
_STUCK = "select count(*)::integer as count from stuck"
_HOSTS = "select distinct split_part(url, '/', 3) as host from source order by 1 limit %(limit)s"
_FAILED_PASSES = """
select subject, reason
  from decision
 where kind = 'pass.failed'
   and last_seen_at > ledger_now() - interval '1 hour'
 order by last_seen_at desc
"""


def schemas(conn: Conn) -> tuple[list[str], str | None]:
    """The schemas that hold a ledger, and the one that the search path leads to."""
    found = rows(conn, _SCHEMAS)
    return [one["name"] for one in found], found[0]["current"] if found else None


def stuck(conn: Conn) -> int:
    """How much open work nobody moved, holds or postponed for a quarter of an hour."""
    found = row(conn, _STUCK)
    return int(found["count"]) if found else 0


def failed_passes(conn: Conn) -> list[str]:
    """The sweep's passes that failed in the last hour, with the kind of error."""
    return [f"{one['subject'].removeprefix('sweep/')} ({one['reason']})" for one in rows(conn, _FAILED_PASSES)]


def feed_hosts(conn: Conn, *, limit: int = 50) -> list[str]:
    """The hosts that sources are read from, in order."""
    return [one["host"] for one in rows(conn, _HOSTS, limit=limit)]
