"""The ledger and Temporal, as a command reaches them."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from psycopg import Connection
    from temporalio.client import Client

    from matins.orchestrator import Orchestrator
    from matins.settings import Settings


@contextmanager
def ledger(settings: Settings) -> Iterator[Connection[Any]]:
    """A connection to the ledger; each transition on it is one commit. Raises psycopg's OperationalError.

    Where nothing was ever started, that is said, and the command ends with exit 3.
    """
    import psycopg
    import typer

    from matins.rules.errors import Refused

    if not settings.postgres_dsn and not settings.data.is_dir():
        typer.echo(f"{settings.data}: there is no Matins yet. Start it:  matins up", err=True)
        raise typer.Exit(3)
    if not settings.postgres_dsn:
        raise psycopg.OperationalError("no Postgres is running here")
    with psycopg.connect(settings.postgres_dsn, autocommit=True, connect_timeout=5, prepare_threshold=None) as conn:
        found = conn.execute("select to_regclass('schema_version') is not null").fetchone()
        if not found or not found[0]:
            raise Refused("this database has no ledger yet; make it with: matins up")
        yield conn


@contextmanager
def orchestrator(settings: Settings) -> Iterator[Orchestrator]:
    """Temporal, if it answers. Raises TemporalUnreachable."""
    from matins.orchestrator import Orchestrator

    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    try:
        yield Orchestrator(_client(settings, loop), loop, _pace(settings), settings.sweep_every)
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


def _client(settings: Settings, loop: asyncio.AbstractEventLoop) -> Client:
    from temporalio.client import Client
    from temporalio.service import RPCError

    from matins.rules.errors import TemporalUnreachable

    try:
        connecting = Client.connect(settings.temporal_address, namespace=settings.temporal_namespace)
        return asyncio.run_coroutine_threadsafe(connecting, loop).result(timeout=10)
    except (RuntimeError, TimeoutError, ValueError, RPCError) as error:
        address = settings.temporal_address or "any address"
        raise TemporalUnreachable(f"Temporal does not answer at {address}; start it: matins up") from error


def _pace(settings: Settings) -> dict[str, float]:
    limits = settings.limits()
    return {
        "heartbeat_timeout": limits.heartbeat_timeout,
        "deadline": limits.deadline,
        "first_backoff": limits.first_backoff,
    }
