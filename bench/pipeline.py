"""One owner's morning as the ledger sees it, by the product's own functions: research with one effect, its completion,
and the steps of the plan, each of which writes one row. With the questions that activities ask in between
(`activities/desk.py`, `activities/stepping.py`); without evidence, letters and pages, which other measures have.
"""

from __future__ import annotations

from typing import Any

from psycopg import Connection, sql

from matins.ledger import action, continuation, obligation, plan, work
from matins.ledger.work import Claim
from matins.rules import keys, plans
from matins.rules.canonical import sha256
from matins.rules.limits import Limits
from matins.rules.receipt import Receipt

STEPS = plans.STEPS[plans.CURRENT]
_LIMITS = Limits()
_STORE = "s3:bench"

_OWNERS = """
set session_replication_role = replica;
insert into owner (name, profile_version) select 'owner-' || n, 1 from generate_series(0, {count} - 1) as n;
insert into profile (owner, version, hash, document, zone, opens, ready_by, useful_until, products)
select name, 1, repeat('a', 64), '{{}}', 'UTC', '00:00', '23:58', '23:59', array['morning'] from owner;
reset session_replication_role;
analyze;
"""


def owe(conn: Connection[Any], *, mornings: int) -> list[str]:
    """As many owners, each with a queued morning of today. Returns its keys."""
    conn.execute(sql.SQL(_OWNERS).format(count=sql.Literal(mornings)))
    queued = plan.plan(conn, limit=mornings).queued
    conn.execute("vacuum analyze")
    return queued


def run(conn: Connection[Any], key: str) -> None:
    """The whole morning of `key`."""
    obligation.next_move(conn, key)
    claim = _claim(conn, keys.obligation_work(key))
    output = f'{{"key":"{key}","items":[]}}'.encode()
    name = keys.action(key, plans.RESEARCH)
    action.start(
        conn, claim, key=name, subject=key, step=plans.RESEARCH, provider=_STORE, contents=[output]
    )  # fmt: skip
    receipt = Receipt(_STORE, f"{name}#{sha256(output)[:16]}", {"etag": sha256(output)[:32]})
    action.record_completed(conn, claim, key=name, receipt=receipt)
    obligation.complete(conn, key, claim, plan=plans.CURRENT, output_hash=sha256(output))
    for step in STEPS:
        _step(conn, key, step)


def _step(conn: Connection[Any], key: str, step: str) -> None:
    version = continuation.plan_of(conn, key)
    claim = _claim(conn, keys.continuation_work(key), step)
    done = f'{{"key":"{key}","step":"{step}"}}'.encode()
    written = (keys.action(key, step), sha256(done), done)
    continuation.complete_step(conn, key, claim, plan=version, written=written)


def _claim(conn: Connection[Any], key: str, step: str | None = None) -> Claim:
    claim = work.claim(conn, key, holder="bench/1", lease=_LIMITS.lease, limit=_LIMITS.deadline, step=step)
    action.stalled_in(conn, key)
    return claim


def finished(conn: Connection[Any]) -> int:
    """How many mornings are done to the last step."""
    [(count,)] = conn.execute("select count(*) from continuation where status = 'done'").fetchall()
    return int(count)
