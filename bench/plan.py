"""Planning for everybody: the first plan of a day, and the one five minutes later that changes nothing.

Owners of five zones, each with one morning and its brief. The database's clock stands at half past midnight in UTC, so
that nothing is queued yet. Each first plan is on a copy of its own of the same database.
"""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta
from typing import Any, LiteralString

import psycopg

from bench.ground import Ground, forward
from bench.table import Row
from matins.ledger import plan
from matins.rules.errors import Refused

FIRST = 3
_OWNERS: LiteralString = """
insert into owner (name, profile_version, created_at)
select 'owner-' || n, 1, ledger_now() from generate_series(0, %(owners)s - 1) as n;
insert into profile (owner, version, hash, document, zone, opens, ready_by, useful_until, products)
select name, 1, repeat('a', 64), '{}', (%(zones)s::text[])[1 + abs(hashtext(name)) %% 5], '05:00', '06:30', '09:00',
       '{morning}'
  from owner;
"""
_ZONES = ["Europe/London", "Europe/Berlin", "Europe/Lisbon", "UTC", "Africa/Lagos"]


def measure(ground: Ground) -> list[Row]:
    """FIRST first plans, and after the last of them as many that change nothing as there are runs."""
    owners = ground.sizes.owners
    with psycopg.connect(ground.empty("plan"), autocommit=True) as conn:
        _people(conn, owners)
    first: list[float] = []
    for number in range(FIRST):
        name = f"plan_{number}"
        with psycopg.connect(ground.empty(name, like="plan"), autocommit=True) as conn:
            first.append(_planned(conn, owners))
            conn.execute("vacuum analyze")
            again = [_planned(conn, 0) for _ in range(ground.sizes.runs)]
        ground.drop(name)
    return [
        Row(f"plan: the first of the day, {owners:,} owners", first, "ms"),
        Row("  one that changes nothing", again, "ms"),
        Row("  the second to the first", [one / sorted(first)[len(first) // 2] for one in again], at_most=0.1),
    ]


def _people(conn: psycopg.Connection[Any], owners: int) -> None:
    now = datetime.now(UTC)
    night = now.replace(hour=0, minute=30, second=0) + timedelta(days=1)
    forward(conn, seconds=(night - now).total_seconds())
    conn.execute("set session_replication_role = replica")
    with psycopg.ClientCursor(conn) as cursor:
        cursor.execute(_OWNERS, {"owners": owners, "zones": _ZONES})
    conn.execute("vacuum analyze")


def _planned(conn: psycopg.Connection[Any], declared: int) -> float:
    """Milliseconds of one plan. Raises Refused if it did not declare so many mornings."""
    began = time.perf_counter()
    made = plan.plan(conn)
    took = (time.perf_counter() - began) * 1e3
    if (len(made.declared), made.queued) != (declared, []):
        raise Refused(f"{len(made.declared)} of {declared} mornings were declared, {len(made.queued)} queued")
    return took
