"""The law as queries: each of `schema/invariants.sql` lists what breaks one rule."""

from __future__ import annotations

import re
from pathlib import Path

from psycopg.rows import dict_row

from matins.ledger.query import Row
from matins.ledger.work import Conn

FILE = Path(__file__).resolve().parents[2] / "schema" / "invariants.sql"
_QUERY = re.compile(r"^-- (?P<rule>[^\n]+)\n(?P<query>select\b.*?);$", re.MULTILINE | re.DOTALL)


def broken(conn: Conn) -> dict[str, list[Row]]:
    """Rule -> the rows that break it. Empty when everything holds."""
    found: dict[str, list[Row]] = {}
    for match in _QUERY.finditer(FILE.read_text(encoding="utf-8")):
        with conn.cursor(row_factory=dict_row) as cursor:
            rows = cursor.execute(match["query"].encode()).fetchall()
        if rows:
            found[match["rule"]] = rows
    return found


def rules() -> list[str]:
    """The names of all rules."""
    return [match["rule"] for match in _QUERY.finditer(FILE.read_text(encoding="utf-8"))]
