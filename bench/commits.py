"""Commits and write-ahead log of one morning's ledger, taken from what the worker wrote.

A commit is a transaction that wrote. Each transition leaves an audit row, and the row's xmin names its transaction;
what that transaction wrote is read from the log itself (pg_walinspect). So beats, reads of sources and sweeps, which
went on at the same time, are not counted. Apart: the frozen texts, and the list of items a morning's evidence has. And
the wiki, with its step's own claim and completion, its texts, and every page that was wanted, put and marked.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import psycopg

from bench.ground import Ground, Observed
from bench.table import Row
from matins.rules import keys

_TRANSACTIONS = """
with mine as (
    select xmin::text as xid, event,
           subject like 'page/%%' or event like 'summary.%%' or coalesce(facts ->> 'step', '') = 'wiki'
           or coalesce(facts ->> 'action', '') like '%%/wiki' as wiki
      from audit
     where subject = any(%(subjects)s)
        or subject in (select 'page/' || id from page where owner = %(owner)s)
        or event like 'summary.%%' and facts ->> 'by' = any(%(subjects)s)
)
select xid
  from mine
 group by xid
having bool_or(wiki) = %(wiki)s
   and bool_or(event in ('obligation.declared', 'obligation.queued')) = %(planning)s
"""
_FILES = """
with held as (
    select oid, reltoastrelid from pg_class where oid = any(%(tables)s::regclass[])
), tables as (
    select oid from held union select reltoastrelid from held
)
select pg_relation_filenode(oid) from tables
union
select pg_relation_filenode(indexrelid) from pg_index where indrelid in (select oid from tables)
"""
_WRITTEN = """
with touched as (
    select start_lsn, bool_or(relfilenode = any(%(texts)s)) as text, bool_or(relfilenode = any(%(items)s)) as item
      from pg_get_wal_block_info(%(log_from)s::pg_lsn, %(log_to)s::pg_lsn)
     group by start_lsn
), mine as (
    select record_length - fpi_length as bytes, fpi_length, coalesce(text, false) as text, coalesce(item, false) as item
      from pg_get_wal_records_info(%(log_from)s::pg_lsn, %(log_to)s::pg_lsn)
      left join touched using (start_lsn)
     where xid::text = any(%(xids)s)
)
select coalesce(sum(bytes) filter (where not text and not item), 0)::float8 / 1024,
       coalesce(sum(bytes) filter (where item), 0)::float8 / 1024,
       coalesce(sum(bytes) filter (where text), 0)::float8 / 1024,
       coalesce(sum(fpi_length), 0)::float8 / 1024
  from mine
"""
_TEXTS = ["frozen"]
_ITEMS = ["evidence_item", "evidence"]


@dataclass(frozen=True, slots=True)
class Written:
    """What some of a morning's transactions wrote, in commits and KiB of the log."""

    commits: int
    moves: float
    items: float
    texts: float
    pages: float


def measure(ground: Ground) -> list[Row]:
    """Commits and log of each morning of `ground`."""
    with ground.ledger() as conn:
        conn.execute("create extension if not exists pg_walinspect")
        planned, morning, wiki = (
            [_written(conn, one, planning=planning, wiki=wiki) for one in ground.mornings]
            for planning, wiki in ((True, False), (False, False), (False, True))
        )
        [(pages,)] = conn.execute("select count(*) / count(distinct owner) from page").fetchall()
    items = ground.mornings[0].morning.coverage["items"]
    return [
        Row("ledger: commits of one morning, first claim to mail seen", [one.commits for one in morning], at_most=20),
        Row("  to declare and to queue it, for all owners at once", [one.commits for one in planned]),
        Row("ledger: write-ahead log of the same", [one.moves for one in morning], "KiB", at_most=12),
        Row(f"  its list of {items} items of evidence, apart", [one.items for one in morning], "KiB"),
        Row("  its frozen texts, apart", [one.texts for one in morning], "KiB"),
        Row("  whole pages first touched since a checkpoint, apart", [one.pages for one in morning], "KiB"),
        Row(f"wiki: commits of one morning, {pages} pages", [one.commits for one in wiki]),
        Row("wiki: write-ahead log of the same", [one.moves for one in wiki], "KiB"),
    ]


def _written(conn: psycopg.Connection[Any], one: Observed, *, planning: bool, wiki: bool) -> Written:
    subjects = [*one.works(), f"edition/{one.morning.key}"]
    which = {"owner": keys.parse(one.morning.key).owner, "planning": planning, "wiki": wiki}
    xids = _column(conn, _TRANSACTIONS, subjects=subjects, **which)
    texts, items = (_column(conn, _FILES, tables=tables) for tables in (_TEXTS, _ITEMS))
    window = {"log_from": one.log_from, "log_to": one.log_to}
    [found] = conn.execute(_WRITTEN, {**window, "xids": xids, "texts": texts, "items": items}).fetchall()
    return Written(len(xids), *found)


def _column(conn: psycopg.Connection[Any], statement: Any, **parameters: object) -> list[Any]:
    return [value for (value,) in conn.execute(statement, parameters).fetchall()]
