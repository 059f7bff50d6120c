"""The connection to Postgres is cut before each request of each write, and after each before its answer is heard."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import psycopg
import pytest
from psycopg_pool import ConnectionPool

from tests.faults.asks import SECOND, Alike, Anew, act, cases, writers
from tests.faults.cutting import Cutting, Seen
from tests.faults.proxy import Lost, Proxy
from tests.ledger.clock import Clock
from tests.ledger.factory import Factory

CASES = cases()
_INSTANT = re.compile(r"datetime\.datetime\(.*?\)(?:\))?")


@pytest.mark.parametrize(
    ("name", "scene"), CASES, ids=[f"{name} on {scene}".replace(" ", "_") for name, scene in CASES]
)  # fmt: skip
@pytest.mark.parametrize("lost", list(Lost))
def test_a_write_whose_connection_is_cut_is_done_once_however_often_it_is_asked(
    cutting: Cutting, name: str, scene: str, lost: Lost
) -> None:
    whole = cutting.whole(name, scene)
    _check_second(name, whole)
    for at in range(1, len(whole.requests) + 1):
        seen = cutting.cut(name, scene, lost, at=at)
        assert seen.requests == whole.requests[:at]
        assert seen.before == whole.before
        if at == 1 and lost is Lost.REQUEST:
            assert seen.once == whole.before
        if at == len(whole.requests) and lost is Lost.ANSWER:
            assert seen.once == whole.once
        if seen.once == whole.once:
            assert (_told(seen.second), seen.twice) == (_told(whole.second), whole.twice)
        else:
            assert (_told(seen.second), seen.twice) == (_told(whole.first), whole.once)


def _check_second(name: str, whole: Seen) -> None:
    """That a second ask is told what the table says."""
    expected = SECOND.get(name.partition(":")[0], Alike)
    if expected is Anew:
        assert whole.twice != whole.once
        return
    assert whole.twice == whole.once
    assert _told(whole.second) == _told(whole.first if expected is Alike else expected)


def _told(answer: Any) -> str:
    return _INSTANT.sub("at", repr(answer))


def test_every_write_of_the_ledger_is_cut() -> None:
    cut = {part.partition(":")[0] for name, _ in CASES for part in name.split(", ")}
    assert set(writers()) == cut


@pytest.fixture(scope="module")
def pool(proxy: Proxy) -> Iterator[ConnectionPool[Any]]:
    """A pool as worker.py makes it."""
    with ConnectionPool(
        proxy.dsn, min_size=2, max_size=12, open=True, kwargs={"autocommit": True, "prepare_threshold": None}
    ) as made:
        made.wait()
        yield made


@pytest.mark.parametrize("lost", list(Lost))
def test_a_pool_gives_out_a_whole_connection_after_one_was_cut(
    cutting: Cutting, pool: ConnectionPool[Any], lost: Lost
) -> None:
    whole = cutting.whole("obligation.complete", "obligation/running")
    at = cutting.set("obligation/running")
    complete = act("obligation.complete")
    cutting.proxy.cut(lost)
    with pytest.raises(psycopg.OperationalError), pool.connection() as conn:
        complete(Factory(conn, Clock(conn)), at)
    with pool.connection() as conn:
        assert _told(complete(replace(cutting.make, conn=conn), at)) == _told(whole.first)
    assert cutting.rows() == whole.once
    assert pool.get_stats().get("connections_lost", 0) + pool.get_stats().get("returns_bad", 0) > 0
