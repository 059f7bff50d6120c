"""A proxy before a database whose clock can be shifted."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from psycopg import Connection

from tests.crash.conftest import scene
from tests.faults.cutting import Cutting
from tests.faults.proxy import Proxy
from tests.ledger.clock import Clock
from tests.ledger.conftest import clocked_dsn
from tests.ledger.factory import Factory

__all__ = ["clocked_dsn", "scene"]


@pytest.fixture(scope="module")
def proxy(clocked_dsn: str) -> Iterator[Proxy]:
    """Leads to the database of `cutting`."""
    with Proxy(clocked_dsn) as made:
        yield made


@pytest.fixture(scope="module")
def _direct(clocked_dsn: str) -> Iterator[Connection[Any]]:
    with psycopg.connect(clocked_dsn, autocommit=True) as conn:
        yield conn


@pytest.fixture(scope="module")
def cutting(proxy: Proxy, _direct: Connection[Any]) -> Cutting:
    """Acts upon scenes, through the proxy and past it."""
    return Cutting(Factory(_direct, Clock(_direct)), proxy)
