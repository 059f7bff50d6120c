"""The beat: one thread and one connection per process renew every lease this process holds, and then tell Temporal of
those that are still held. A thread that is blocked in a call cannot stop it; a claim's deadline can.
"""

from __future__ import annotations

import contextvars
import logging
import threading
from collections.abc import Iterator
from concurrent.futures import CancelledError
from contextlib import contextmanager, suppress
from dataclasses import dataclass

import psycopg
from temporalio import activity

from matins.ledger import work
from matins.rules.errors import ActionInFlight, LeaseLost

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Held:
    """One claim of this process, and the activity to heartbeat for it."""

    token: int
    context: contextvars.Context


class Beats:
    """Renews what this process holds, every `every` seconds, for `lease` seconds each."""

    def __init__(self, dsn: str, *, every: float, lease: float) -> None:
        self._dsn, self._every, self._lease = dsn, every, lease
        self._held: dict[str, Held] = {}
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="beats", daemon=True)

    def start(self) -> None:
        """Begin to beat."""
        self._thread.start()

    def stop(self) -> None:
        """End the beat and wait for its thread."""
        self._stop.set()
        self._thread.join(timeout=5)

    @contextmanager
    def keep(self, claim: work.Claim) -> Iterator[None]:
        """Renew `claim` while the block runs, and heartbeat the activity that runs it."""
        with self._lock:
            self._held[claim.key] = Held(claim.token, contextvars.copy_context())
        try:
            yield
        finally:
            with self._lock:
                if self._held.get(claim.key, Held(-1, contextvars.Context())).token == claim.token:
                    del self._held[claim.key]

    def held(self) -> list[tuple[str, int]]:
        """(key, token) of every claim this process holds now."""
        with self._lock:
            return [(key, held.token) for key, held in self._held.items()]

    def release_idle(self) -> list[str]:
        """Give back every claim with nothing in flight (for SIGTERM). Returns their keys.

        Without Postgres nothing is given back, and the leases die by themselves.
        """
        released: list[str] = []
        try:
            with psycopg.connect(self._dsn, autocommit=True, prepare_threshold=None, connect_timeout=5) as conn:
                for key, token in self.held():
                    with suppress(LeaseLost, ActionInFlight):
                        work.release(conn, key, token=token)
                        released.append(key)
        except psycopg.Error as error:
            log.warning("not everything could be given back (%s)", type(error).__name__)
        return released

    def _run(self) -> None:
        while not self._stop.is_set():
            try:
                with psycopg.connect(
                    self._dsn,
                    autocommit=True,
                    prepare_threshold=None,
                    connect_timeout=max(int(self._every), 2),
                ) as conn:
                    while not self._stop.wait(self._every):
                        self._beat(conn)
            except psycopg.Error as error:
                log.warning("the beat lost its connection (%s), connecting again", type(error).__name__)
                self._stop.wait(0.2)

    def _beat(self, conn: work.Conn) -> None:
        with self._lock:
            held = dict(self._held)
        if not held:
            return
        with conn.transaction():
            work.bound(conn, seconds=self._every / 2)
            renewed = work.beat(conn, [(key, one.token) for key, one in held.items()], lease=self._lease)
        for key in renewed:
            try:
                held[key].context.run(activity.heartbeat)
            except (RuntimeError, TimeoutError, CancelledError) as gone:
                log.warning("no heartbeat for %s (%s)", key, type(gone).__name__)
