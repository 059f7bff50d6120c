"""One act upon one scene: on a connection that holds, and on one that is cut and followed by a second ask."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

import psycopg
import pytest
from psycopg import Connection, sql

from matins.ledger import invariants
from matins.rules.errors import MatinsError
from tests.faults.asks import act, place
from tests.faults.proxy import Lost, Proxy
from tests.ledger.factory import Factory
from tests.ledger.scene import Scene
from tests.ledger.tables import KEYS, Tables, tables

_EMPTY = sql.SQL("; ").join(sql.SQL("delete from {}").format(sql.Identifier(table)) for table in KEYS)
_COPY = sql.SQL(
    "insert into {0} ({2}) overriding system value select {2} from jsonb_populate_recordset(null::{0}, {1})"
)
_GENERATED = "select attrelid::regclass::text, attname from pg_attribute where attgenerated <> ''"
_AT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:.*")


@dataclass(frozen=True, slots=True)
class Seen:
    """What the first ask and a second one were told, and the rows before them, between and after."""

    before: Any
    first: Any
    once: Any
    second: Any
    twice: Any
    requests: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Placed:
    at: Scene
    rows: sql.Composed
    """What makes its rows again."""
    now: datetime


@dataclass(frozen=True, slots=True)
class Cutting:
    """Sets scenes on a connection of its own, and acts through `proxy`."""

    make: Factory
    proxy: Proxy
    _whole: dict[tuple[str, str], Seen] = field(default_factory=dict)
    _placed: dict[str, _Placed] = field(default_factory=dict)

    def set(self, scene: str) -> Scene:
        """The scene and no other row: by the real transitions once, then copied."""
        if scene not in self._placed:
            self._rewrite(sql.SQL("select"))
            at = place(self.make, scene)
            self._placed[scene] = _Placed(at, _copy(self.make.conn), self.make.clock.now())
        else:
            self._rewrite(self._placed[scene].rows)
            self.make.clock.set(self._placed[scene].now)
        return self._placed[scene].at

    def whole(self, name: str, scene: str) -> Seen:
        """The act done twice on one connection that holds."""
        if (name, scene) not in self._whole:
            at = self.set(scene)
            before = self.rows()
            with self.connection() as conn:
                self.proxy.pass_all()
                first = self._ask(name, at, conn)
                once, requests = self.rows(), tuple(self.proxy.requests)
                second = self._ask(name, at, conn)
            self._whole[name, scene] = Seen(before, first, once, second, self.rows(), requests)
        return self._whole[name, scene]

    def cut(self, name: str, scene: str, lost: Lost, *, at: int) -> Seen:
        """The act whose `at`-th request or its answer is lost, and the same ask again on a fresh connection."""
        placed = self.set(scene)
        before = self.rows()
        with self.connection() as conn:
            self.proxy.cut(lost, at=at)
            with pytest.raises(psycopg.OperationalError) as first:
                act(name)(replace(self.make, conn=conn), placed)
            assert conn.closed
        once, requests = self.rows(), tuple(self.proxy.requests)
        with self.connection() as conn:
            second = self._ask(name, placed, conn)
        assert invariants.broken(self.make.conn) == {}
        return Seen(before, first.value, once, second, self.rows(), requests)

    def rows(self) -> dict[str, Any]:
        """Every row of every table, with no word of when; the audit in its order."""
        return timeless(tables(self.make.conn))

    @contextmanager
    def connection(self) -> Iterator[Connection[Any]]:
        """A connection through the proxy, as worker.py makes them."""
        with psycopg.connect(self.proxy.dsn, autocommit=True, prepare_threshold=None) as conn:
            yield conn

    def _rewrite(self, rows: sql.Composable) -> None:
        whole = sql.SQL("set session_replication_role = replica; {}; {}; set session_replication_role = origin")
        self.make.conn.execute(whole.format(_EMPTY, rows))

    def _ask(self, name: str, at: Scene, conn: Connection[Any]) -> Any:
        try:
            return act(name)(replace(self.make, conn=conn), at)
        except MatinsError as refused:
            return type(refused)


def _copy(conn: Connection[Any]) -> sql.Composed:
    """What makes every row again that is there now."""
    generated = set(conn.execute(_GENERATED).fetchall())
    made = []
    for table, found in tables(conn).items():
        rows = list(found.values())
        columns = [sql.Identifier(name) for name in (rows[0] if rows else ()) if (table, name) not in generated]
        if rows:
            made.append(_COPY.format(sql.Identifier(table), json.dumps(rows), sql.SQL(", ").join(columns)))
    return sql.SQL("; ").join(made)


def timeless(found: Tables) -> dict[str, Any]:
    """The rows with "at" for each instant, and without the numbers that only count rows."""
    return {
        table: [_timeless({name: value for name, value in row.items() if name != "id"}) for row in _ordered(rows)]
        for table, rows in found.items()
    }


def _ordered(rows: dict[tuple[Any, ...], Any]) -> list[Any]:
    return [rows[key] for key in sorted(rows, key=lambda key: [(isinstance(part, str), part) for part in key])]


def _timeless(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _timeless(inner) for name, inner in value.items()}
    return "at" if isinstance(value, str) and _AT.fullmatch(value) else value
