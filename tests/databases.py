"""Databases for tests: a copy of the template takes a quarter of a second, and so each is emptied and used again."""

from __future__ import annotations

import uuid
from contextlib import suppress

import psycopg
from psycopg import sql

from tests import stack

_SHAPE = """
select md5(string_agg(line, ' ' order by line))
  from (select concat(relname, relkind, reloptions, relacl) from pg_class where relnamespace = 'public'::regnamespace
        union all
        select concat(attrelid::regclass, attname, atttypid, attnotnull, atthasdef, attisdropped) from pg_attribute
          join pg_class on pg_class.oid = attrelid where relnamespace = 'public'::regnamespace
        union all
        select concat(proname, prosrc, provolatile) from pg_proc where pronamespace = 'public'::regnamespace
        union all
        select concat(conname, pg_get_constraintdef(oid)) from pg_constraint
         where connamespace = 'public'::regnamespace
        union all
        select concat(tgname, tgrelid::regclass, tgenabled) from pg_trigger where not tgisinternal
        union all
        select concat('set', setconfig) from pg_db_role_setting
          join pg_database on pg_database.oid = setdatabase where datname = current_database()) as found (line)
"""
"""Everything of a database that is no row: what a test may have altered."""
_TABLES = """
select relname
  from pg_class
 where relnamespace = 'public'::regnamespace
   and relkind = 'r'
   and relname <> 'schema_version'
"""
_LEAVE = "select pg_terminate_backend(pid, 5000) from pg_stat_activity where datname = %s"


class Databases:
    """Copies of the template, made and emptied over `admin`. One for each process of a run."""

    def __init__(self, admin: psycopg.Connection) -> None:
        self._admin, self._free = admin, list[str]()
        self._shape: tuple[object, ...] | None = None

    def take(self) -> str:
        """The name of a database that has every migration and no row."""
        return self._free.pop() if self._free else self._create()

    def give_back(self, name: str) -> None:
        """Empty it for the next one; one that is not what the template is any more is dropped."""
        if self._is_emptied(name):
            self._free.append(name)
        else:
            self._drop(name)

    def clear(self) -> None:
        """Drop what is left."""
        for name in self._free:
            self._drop(name)

    def _create(self) -> str:
        name = f"test_{uuid.uuid4().hex}"
        self._admin.execute(f"create database {name} template {stack.TEMPLATE} strategy file_copy")
        if self._shape is None:
            with self._connect(name) as conn:
                self._shape = conn.execute(_SHAPE).fetchone()
        return name

    def _drop(self, name: str) -> None:
        with suppress(psycopg.errors.InvalidCatalogName):
            self._admin.execute(f"drop database {name} with (force)")

    def _is_emptied(self, name: str) -> bool:
        """Take everybody away who is connected, and every row."""
        self._admin.execute(_LEAVE, (name,))
        with suppress(psycopg.OperationalError), self._connect(name) as conn:
            if conn.execute(_SHAPE).fetchone() != self._shape:
                return False
            tables = [sql.Identifier(table) for (table,) in conn.execute(_TABLES).fetchall()]
            emptied = sql.SQL("; ").join(sql.SQL("delete from {}").format(table) for table in tables)
            conn.execute(sql.SQL("set session_replication_role = replica; {}").format(emptied))
            return True
        return False

    def _connect(self, name: str) -> psycopg.Connection:
        return psycopg.connect(self._admin.info.dsn, password=self._admin.info.password, dbname=name, autocommit=True)
