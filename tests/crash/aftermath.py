"""What a death left behind in the ledger, and what the recovery cost: plain phrases, the same for every run."""

from __future__ import annotations

from collections import Counter
from typing import Any

import psycopg

from tests.crash.scene import Scene

_HELD = """
select work.kind, coalesce(work.step, '') as step
  from work
 where work.holder is not null
   and work.kind = any(%s)
 order by 1, 2
"""
_STATES = """
select 'action ' || step || ' ' || status from action where status in ('in_flight', 'uncertain')
union
select 'mail ' || status from message where status <> 'observed'
union
select 'read ' || status from ingest_run where status = 'claimed'
union
select 'page write ' || status from page_write where status = 'open'
union
select 'items not settled' from ingest_run where status = 'claimed' and admitted > 0
union
select 'a summary that no page shows' from event left join page on page.summary_key = event.summary_key
 where event.summary_key is not null and page.id is null
union
select 'a morning ' || status || ', not queued' from obligation where status = 'declared' and follows is null
order by 1
"""
_ABOUT = {
    "": ("a morning",),
    "ingest": ("read", "items"),
    "obligation": ("action research",),
    "continuation": ("action publish",),
    "page": ("page", "a summary"),
    "message": ("action send", "mail"),
}
"""What is looked at for each kind of work: other pieces go on beside it, and are nobody's aftermath."""
_KINDS = {"page": ["continuation", "page"]}


def left_behind(conn: psycopg.Connection[Any], kind: str) -> str:
    """What a worker that has just died left in the ledger, of this kind of work."""
    held = conn.execute(_HELD, (_KINDS.get(kind, [kind]),)).fetchall()
    leases = [f"lease on {f'the step {step}' if step else _NAMES[kind_]}" for kind_, step in held]
    states = [state for (state,) in conn.execute(_STATES).fetchall() if state.startswith(_ABOUT[kind])]
    return "; ".join([*leases, *states]) or "nothing"


_NAMES = {"ingest": "the source", "obligation": "research", "message": "the mail", "page": "the page"}


def healer(left: str) -> str:
    """Who goes on, told by what was left."""
    if "action send in_flight" in left:
        return "the next worker or the five-minute check ends the send as of unknown fate, and looks for the mail"
    if "lease" in left:
        return "the next worker, when the lease is over"
    return "the next worker or the five-minute check, at once"


def cost(scene: Scene, conn: psycopg.Connection[Any]) -> str:
    """What one death cost in all: attempts, and acts done again; read from the ledger and the receiving ends."""
    claims = Counter(
        (subject.partition("/")[0], facts.get("step"))
        for subject, facts in conn.execute("select subject, facts from audit where event like '%.claimed'")
    )
    spent = [(kind, step) for (kind, step), count in sorted(claims.items(), key=str) if kind != "page" and count > 1]
    again = [f"one more attempt of {f'the step {step}' if step else _NAMES[kind]}" for kind, step in spent]
    if _number(conn, "select count(*) from ingest_run") > 1 or scene.feeds.reads > 1:
        again.append("the source read once more")
    if _number(conn, "select coalesce(max(token), 0) from work where kind = 'page'") > 1:
        again.append("one page put once more")
    puts = conn.execute("select step from action where generation > 1 and step <> 'send' order by step").fetchall()
    again += [f"the same bytes put again ({step})" for (step,) in puts]
    if _number(conn, "select coalesce(max(generation), 0) from action where step = 'send'") > 1:
        again.append("the mail handed over again, after it was proved not sent")
    elif _number(conn, "select count(*) from audit where event = 'message.uncertain'"):
        again.append("the mail looked for, found, and not sent again")
    return "; ".join(again) or "nothing"


def _number(conn: psycopg.Connection[Any], question: str) -> int:
    found = conn.execute(question.encode()).fetchone()
    assert found is not None
    return int(found[0])
