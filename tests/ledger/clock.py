"""The clock of a test's database: another body of `ledger_now()`, shifted by a row, so that time passes at a call."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from psycopg import Connection

_INSTALL = """
create table test_clock (shift interval not null);
insert into test_clock values (interval '0');
create or replace function ledger_now() returns timestamptz
    language sql volatile parallel safe
    as 'select clock_timestamp() + (select shift from test_clock)'
"""


@dataclass(frozen=True, slots=True)
class Clock:
    """The shifted clock of the database behind `conn`. It runs; it never stands still."""

    conn: Connection[Any]

    @staticmethod
    def install(conn: Connection[Any]) -> None:
        """Give the database of `conn` a clock that can be shifted."""
        conn.execute(_INSTALL)

    def now(self) -> datetime:
        """The database's instant."""
        found = self.conn.execute("select ledger_now()").fetchone()
        assert found is not None
        return found[0]

    def forward(self, seconds: float) -> None:
        """Let so many seconds pass at once."""
        self.conn.execute("update test_clock set shift = shift + make_interval(secs => %s)", (seconds,))

    def set(self, instant: datetime | str) -> None:
        """Make it `instant` (aware, or ISO text with an offset)."""
        at = datetime.fromisoformat(instant) if isinstance(instant, str) else instant
        self.conn.execute("update test_clock set shift = %s - clock_timestamp()", (at,))

    def after(self, instant: datetime) -> None:
        """Make it one second past `instant`."""
        self.set(instant + timedelta(seconds=1))
