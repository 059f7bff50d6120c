from __future__ import annotations

from collections.abc import Iterator

import pytest

from matins.sources.fetch import Fetcher
from tests.sources.server import Server, running


@pytest.fixture
def server() -> Iterator[Server]:
    with running() as one:
        yield one


@pytest.fixture
def internal() -> Iterator[Server]:
    """A server that nobody may reach: its ledger has to stay empty."""
    with running() as one:
        yield one


@pytest.fixture
def fetcher(server: Server) -> Fetcher:
    return Fetcher(allow_hosts=frozenset({server.authority}), total_seconds=5.0, connect_seconds=2.0)
