"""The five-minute check by itself: one row that cannot be moved, and a Temporal that does not answer."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

import psycopg
import pytest

from matins.ledger import source, window, work
from matins.orchestrator import Orchestrator
from matins.rules import keys
from matins.sweep import SILENT_AFTER, Sweeper
from tests.ledger.clock import Clock

Conn = psycopg.Connection[Any]
POISON = """
create function refuse() returns trigger language plpgsql as
    'begin if new.source_key = ''%s'' then raise exception ''poison''; end if; return new; end';
create trigger refuse before insert on unread_window for each row execute function refuse();
"""


def _sources(conn: Conn, count: int) -> list[str]:
    urls = [f"https://{number}.example/feed" for number in range(count)]
    for number, url in enumerate(urls):
        source.add(conn, "ada", url=url, name=f"source {number}")
    return [keys.source(url) for url in urls]


@pytest.mark.usefixtures("morning")
def test_a_row_that_cannot_be_moved_is_named_and_delays_no_other(conn: Conn, clock: Clock) -> None:
    found = _sources(conn, 3)
    conn.execute("update work set budget = 1 where kind = 'ingest'")
    for key in found:
        work.claim(conn, source.window(conn, key).work_key, holder="dead", lease=10, limit=120)
    clock.forward(11)
    conn.execute((POISON % found[1]).encode())
    counts = Sweeper(lambda: nullcontext(conn), None, 150.0).run("test")
    assert counts["rows_failed"] == 1
    assert "failed" not in counts
    assert [len(window.unread(conn, key)) for key in found] == [1, 0, 1]
    noted = conn.execute("select subject from decision where kind = 'sweep.failed'").fetchall()
    assert noted == [(found[1],)]


@pytest.mark.usefixtures("morning", "clock")
def test_where_temporal_is_silent_the_rest_is_left_to_the_next_sweep(conn: Conn, unreachable: Orchestrator) -> None:
    _sources(conn, SILENT_AFTER + 2)
    counts = Sweeper(lambda: nullcontext(conn), unreachable, 150.0).run("test")
    reasons = conn.execute(
        "select reason, count(*) from decision where kind = 'start.failed' group by reason order by 2"
    ).fetchall()
    assert [count for _, count in reasons] == [SILENT_AFTER, counts["unstarted"] - SILENT_AFTER]
    assert reasons[1][0] == "Temporal is not there"
