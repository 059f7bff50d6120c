"""A ledger with a long past and a busy present, made by sets: finished rows without end, and a few hundred of each kind
that wait. The owners and the sources are as many whatever the past is like.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, LiteralString

import psycopg
from psycopg import sql

OWNERS = 500
SOURCES = 1_000
BATCH = 500
"""Of each kind that waits, and of each that comes, moves and finishes in a batch of churn."""
HISTORY = frozenset(
    {"work", "obligation", "continuation", "action", "message", "ingest_run", "page", "page_write", "source_card",
     "unread_window", "audit", "event", "evidence", "evidence_item", "edition", "declared_item", "decision"}
)  # fmt: skip
"""Tables that grow as long as Matins runs. A find must not read one from end to end."""

_PEOPLE: LiteralString = """
insert into owner (name, profile_version) select 'owner-' || n, 1 from generate_series(0, %(owners)s - 1) as n;
insert into profile (owner, version, hash, document, zone, opens, ready_by, useful_until, products)
select name, 1, repeat('a', 64), '{}', 'UTC', '05:00', '06:30', '09:00', '{morning}' from owner;
insert into work (key, kind) select 'ingest/' || n || '/0', 'ingest' from generate_series(0, %(sources)s - 1) as n;
insert into source (key, url, window_key, due_at, created_at)
select left(encode(sha256(convert_to(E'\nu' || n, 'UTF8')), 'hex'), 40), 'u' || n, 'ingest/' || n || '/0',
       ledger_now() + case when n < %(batch)s then interval '-1 hour' else interval '1 hour' end, ledger_now()
  from generate_series(0, %(sources)s - 1) as n;
insert into subscription (owner, source_key, name)
select 'owner-' || row_number() over (order by key) %% %(owners)s, key, url from source;
insert into frozen (hash, bytes) values (encode(sha256('m'::bytea), 'hex'), 'm');
"""
_PAST: LiteralString = """
create temporary table past as
select 'owner-' || n %% %(owners)s as owner, ledger_now()::date - 1 - (n / %(owners)s)::int as day, n
  from generate_series(0, %(mornings)s - 1) as n;
insert into work (key, kind, token, attempts, moved_at, closed_at)
select kind || '/' || n, kind, 1, 1, day, day
  from past, unnest('{obligation,continuation,message,ingest}'::text[]) as kind;
insert into obligation (key, owner, product, local_date, status, plan, intent_hash, profile_version, tzdata,
                        day_starts_at, opens_at, ready_by_at, useful_until_at, work_key, output_hash, declared_at,
                        queued_at, started_at, ended_at)
select owner || '/morning/' || day, owner, 'morning', day, 'succeeded', 2, repeat('a', 64), 1, '2026b',
       day, day, day, day, 'obligation/' || n, repeat('b', 64), day, day, day, day
  from past;
insert into continuation (key, work_key, plan, status, created_at, ended_at)
select owner || '/morning/' || day, 'continuation/' || n, 2, 'done', day, day from past;
insert into action (key, subject, step, work_key, token, status, repeat, provider, request_hash, reference, started_at,
                    ended_at)
select owner || '/morning/' || day || '/publish', owner || '/morning/' || day, 'publish', 'continuation/' || n, 1,
       'completed', 'harmless', 'store', repeat('c', 64), 'publish' || n, day, day
  from past;
insert into message (key, work_key, subject, kind, channel, destination, address, mail_hash, mail_id, proof, if_unknown,
                     status, useful_until_at, created_at, provider, reference, accepted_at, mechanism, placement,
                     observed_at, ended_at)
select owner || '/morning/' || day || '/brief/email/inbox', 'message/' || n, owner || '/morning/' || day, 'brief',
       'email', 'inbox', 'a@example.net', encode(sha256('m'::bytea), 'hex'), 'mail-' || n, 'mailbox', 'ask', 'observed',
       day, day, 'smtp', 'r' || n, day, 'imap', 'INBOX', day, day
  from past;
insert into ingest_run (work_key, token, source_key, cursor_version, status, declared, claimed_at, ended_at)
select 'ingest/' || n, 1, left(encode(sha256(convert_to(E'\nu' || n %% %(sources)s, 'UTF8')), 'hex'), 40), 1, 'none', 0,
       day, day
  from past;
insert into work (key, kind, token) select 'page/past-' || n, 'page', 1 from past where n %% 4 = 0;
insert into page (id, owner, kind, topic, event_key, work_key, wanted, published, first_told, last_told, created_at,
                  published_at)
select 'past-' || n, owner, 'story', 'town', 'e' || n, 'page/past-' || n, 1, 1, day, day, day, day
  from past where n %% 4 = 0;
insert into page_write (page_id, token, version, status, hashes, opened_at, ended_at)
select 'past-' || n, 1, 1, 'closed', '{}', day, day from past where n %% 4 = 0;
insert into source_card (page_id, event_key, evidence_hash, carded_at, published_at)
select 'past-' || n, 'e' || n, repeat('d', 64), day, day from past where n %% 4 = 0;
drop table past;
"""
_BEGUN: LiteralString = """
create temporary table begun on commit drop as
select 'owner-' || n %% %(owners)s as owner, %(name)s || n as name,
       (ledger_now() + make_interval(days => %(day)s))::date as day, ledger_now() as at, n
  from generate_series(0, %(batch)s - 1) as n;
insert into work (key, kind, step, attempts, moved_at)
select kind || '/' || name, kind, case kind when 'continuation' then 'compose' end, 0, at
  from begun, unnest('{obligation,continuation,message,page}'::text[]) as kind;
insert into obligation (key, owner, product, local_date, status, plan, intent_hash, profile_version, tzdata,
                        day_starts_at, opens_at, ready_by_at, useful_until_at, work_key, declared_at, queued_at)
select owner || '/morning/' || day, owner, 'morning', day, 'queued', 2, repeat('a', 64), 1, '2026b',
       at, at, at, at + interval '9 hours', 'obligation/' || name, at, at
  from begun;
insert into continuation (key, work_key, plan, status, created_at)
select owner || '/morning/' || day, 'continuation/' || name, 2, 'pending', at from begun;
insert into action (key, subject, step, work_key, token, status, repeat, provider, request_hash, started_at)
select owner || '/morning/' || day || '/publish', owner || '/morning/' || day, 'publish', 'continuation/' || name, 1,
       'in_flight', 'harmless', 'store', repeat('c', 64), at
  from begun;
insert into message (key, work_key, subject, kind, channel, destination, address, mail_hash, mail_id, proof, if_unknown,
                     status, useful_until_at, created_at)
select owner || '/morning/' || day || '/brief/email/inbox', 'message/' || name, owner || '/morning/' || day, 'brief',
       'email', 'inbox', 'a@example.net', encode(sha256('m'::bytea), 'hex'), 'mail-' || name, 'mailbox', 'ask',
       'pending', at + interval '9 hours', at
  from begun;
insert into page (id, owner, kind, topic, event_key, work_key, wanted, first_told, last_told, created_at)
select name, owner, 'story', 'town', 'e' || name, 'page/' || name, 1, day, day, at from begun;
insert into source_card (page_id, event_key, evidence_hash, carded_at)
select name, 'e' || name, repeat('d', 64), at - interval '1 hour' from begun;
insert into ingest_run (work_key, token, source_key, cursor_version, status, claimed_at)
select window_key, %(token)s, key, cursor_version, 'claimed', ledger_now() from source order by key limit %(batch)s;
"""
_DEAD: LiteralString = """
update work
   set token = 1, holder = 'dead',
       attempts = case when substring(key from '[0-9]+$')::int %% 4 = 0 then budget else 1 end,
       lease_expires_at = ledger_now() - interval '1 minute', deadline_at = ledger_now()
 where key = any(%(works)s)
   and substring(key from '[0-9]+$')::int %% 2 = 0
   and kind <> 'page';
update work
   set token = 1, attempts = budget, holder = 'dead', lease_expires_at = ledger_now() - interval '1 minute',
       deadline_at = ledger_now()
 where key in (select window_key from source order by key limit 100);
update obligation set status = 'running', started_at = ledger_now()
  from work where work.key = obligation.work_key and work.holder = 'dead';
update continuation set status = 'running' from work where work.key = continuation.work_key and work.holder = 'dead';
update message set status = 'sending' from work where work.key = message.work_key and work.holder = 'dead';
"""
"""Every second one of the present is held by the dead, half of these for the last time."""
_MOVES: LiteralString = """
update work
   set token = token + 1, attempts = attempts + 1, holder = 'w', deadline_at = ledger_now() + interval '2 minutes',
       lease_expires_at = ledger_now() + interval '10 seconds'
 where key = any(%(works)s);
update work set lease_expires_at = lease_expires_at + interval '3 seconds' where key = any(%(works)s);
update obligation set status = 'running', started_at = ledger_now() where work_key = any(%(works)s);
update obligation set status = 'succeeded', output_hash = repeat('b', 64), ended_at = ledger_now(), unadvanced = true
 where work_key = any(%(works)s);
update obligation set unadvanced = false where work_key = any(%(works)s);
update action set status = 'completed', reference = key, ended_at = ledger_now() where work_key = any(%(works)s);
update continuation set status = 'running' where work_key = any(%(works)s);
update continuation set status = 'done', ended_at = ledger_now() where work_key = any(%(works)s);
update message set status = 'sending' where work_key = any(%(works)s);
update message
   set status = 'accepted', provider = 'smtp', reference = key, accepted_at = ledger_now(), look_at = ledger_now()
 where work_key = any(%(works)s);
update message
   set status = 'observed', look_at = null, mechanism = 'imap', placement = 'INBOX', observed_at = ledger_now(),
       ended_at = ledger_now()
 where work_key = any(%(works)s);
update page set published = wanted, published_at = ledger_now() where id = any(%(names)s);
update source_card set published_at = ledger_now() where page_id = any(%(names)s);
update ingest_run set status = 'none', declared = 0, ended_at = ledger_now()
 where status = 'claimed' and token = %(token)s;
update source set tried_at = ledger_now(), settled_at = ledger_now(), due_at = due_at + interval '1 second';
update work
   set holder = null, lease_expires_at = null, deadline_at = null, moved_at = ledger_now(),
       closed_at = case when kind <> 'page' then ledger_now() end
 where key = any(%(works)s);
"""
_TABLES = (
    "work", "obligation", "continuation", "action", "message", "ingest_run", "page", "page_write", "source_card",
    "source", "audit", "owner", "profile", "subscription",
)  # fmt: skip


def fill(conn: psycopg.Connection[Any], *, finished: int) -> None:
    """A ledger whose past is `finished` closed rows of work with all that hangs on them, and a present that waits:
    a morning, a continuation, a message, a page of each of BATCH owners, and as many due sources.

    No vacuum comes by itself any more. What the rows point to is only there where a find looks.
    """
    for table in _TABLES:
        named = sql.Identifier(table)
        conn.execute(sql.SQL("alter table {} set (autovacuum_enabled = off)").format(named))
    sizes = {"owners": OWNERS, "sources": SOURCES, "batch": BATCH, "mornings": finished // 4}
    with _unchecked(conn) as cursor:
        cursor.execute(_PEOPLE, sizes)
        cursor.execute(_PAST, sizes)
    _begin(conn, "now-", day=0, token=1)
    _step(conn, _DEAD, "now-", token=1)
    conn.execute("vacuum analyze")


def churn(conn: psycopg.Connection[Any], *, batches: int) -> None:
    """`batches` times BATCH more of each kind come, move as they do in the product, and finish; nothing is vacuumed."""
    for number in range(batches):
        name = f"churn-{number}-"
        _begin(conn, name, day=number + 1, token=number + 2)
        for move in _MOVES.split(";")[:-1]:
            _step(conn, move, name, token=number + 2)


def _begin(conn: psycopg.Connection[Any], name: str, *, day: int, token: int) -> None:
    wanted = {"owners": OWNERS, "batch": BATCH, "name": name, "day": day, "token": token}
    with _unchecked(conn) as cursor:
        cursor.execute(_BEGUN, wanted)


def _step(conn: psycopg.Connection[Any], move: Any, name: str, *, token: int) -> None:
    names = [f"{name}{number}" for number in range(BATCH)]
    works = [f"{kind}/{one}" for kind in ("obligation", "continuation", "message", "page") for one in names]
    with _unchecked(conn) as cursor:
        cursor.execute(move, {"names": names, "works": works, "token": token})


@contextmanager
def _unchecked(conn: psycopg.Connection[Any]) -> Iterator[psycopg.ClientCursor[Any]]:
    """A cursor for many statements at once, which asks for no row that another one points to."""
    conn.execute("set session_replication_role = replica")
    with psycopg.ClientCursor(conn) as cursor:
        yield cursor
    conn.execute("reset session_replication_role")
