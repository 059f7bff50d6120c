from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from dataclasses import replace

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


@pytest.fixture(scope="session")
def outside() -> Fetcher:
    """May reach no private host at all."""
    return Fetcher(total_seconds=5.0, connect_seconds=2.0)


@pytest.fixture
def fetcher(server: Server, outside: Fetcher) -> Fetcher:
    """May reach the test's own server, and no other private host."""
    return replace(outside, allow_hosts=frozenset({server.authority}))


@pytest.fixture(autouse=True)
def _no_thread_is_left() -> Iterator[None]:
    yield
    until = time.monotonic() + 5
    while any(thread.name == "resolve" for thread in threading.enumerate()):
        assert time.monotonic() < until
