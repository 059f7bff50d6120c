"""Running one statement: rows come back as mappings, parameters have names, SQL is literal text."""

from __future__ import annotations

from typing import Any, LiteralString

from psycopg import Connection
from psycopg.rows import dict_row

Row = dict[str, Any]


def rows(conn: Connection[Any], statement: LiteralString, **parameters: object) -> list[Row]:
    """Every row that `statement` returns, as mappings from column to value."""
    with conn.cursor(row_factory=dict_row) as cursor:
        cursor.execute(statement, parameters)
        return cursor.fetchall()


def row(conn: Connection[Any], statement: LiteralString, **parameters: object) -> Row | None:
    """The first row that `statement` returns, or None."""
    with conn.cursor(row_factory=dict_row) as cursor:
        cursor.execute(statement, parameters)
        return cursor.fetchone()


def execute(conn: Connection[Any], statement: LiteralString, **parameters: object) -> int:
    """Run `statement`. Returns the number of rows it touched."""
    return conn.execute(statement, parameters).rowcount
