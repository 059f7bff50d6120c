"""Everywhere a piece of work can get to: each act and each passing of time, tried from each state once."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime

from matins.ledger.work import Claim
from matins.rules.errors import Refused
from tests.ledger.factory import LATE, LEASE, Factory, Scene

Act = Callable[[Factory, Scene], object]

_SIGNATURE = """
select work.key, work.step, work.holder, work.lease_expires_at > ledger_now() as live, work.attempts, work.budget,
       work.in_flight, work.retry_at > ledger_now() as postponed, work.closed_at is not null as closed,
       obligation.status as obligation, continuation.status as continuation, message.status as message,
       message.look_at > ledger_now() as looking, message.look_at is null as unwatched,
       message.quarantine_until > ledger_now() as quiet, message.useful_until_at > ledger_now() as useful,
       (select array_agg((action.status, action.refunded) order by action.key)
          from action where action.work_key = work.key) as actions,
       page.wanted > page.published as due, page.recheck_at > ledger_now() as rechecked_later,
       page.recheck_at is null as trusted,
       (select array_agg((page_write.token = work.token, page_write.version = page.wanted) order by page_write.token)
          from page_write where page_write.page_id = page.id and page_write.status = 'open') as writes,
       source.window_key = work.key as readable,
       (select array_agg(status order by token desc) from ingest_run where ingest_run.work_key = work.key
           and ingest_run.token = work.token) as run
  from work
  left join obligation on obligation.work_key = work.key
  left join continuation on continuation.work_key = work.key
  left join message on message.work_key = work.key
  left join source on source.window_key = work.key
  left join page on page.work_key = work.key
 where work.key = %s
"""
"""What a state is for this purpose: no instant is part of it, only whether it has passed."""


def _end_lease(make: Factory, _: Scene) -> None:
    make.clock.forward(LEASE + 1)


def _end_wait(make: Factory, _: Scene) -> None:
    make.clock.forward(1000)


def _end_day(make: Factory, _: Scene) -> None:
    if make.clock.now() < datetime.fromisoformat(LATE):
        make.clock.set(LATE)


PASSING: dict[str, Act] = {"a lease ends": _end_lease, "a wait ends": _end_wait, "the day ends": _end_day}


@dataclass(slots=True)
class Explorer:
    """Visits every state that `acts` and passing time lead to, and calls `check` once in each."""

    make: Factory
    acts: Mapping[str, Act]
    check: Callable[[Scene, str], None]
    seen: dict[Hashable, str] = field(default_factory=dict)
    """State -> the path on which it was first met."""

    def visit(self, at: Scene, path: str = "") -> None:
        """Look at this state and, if it is new, at all that follow from it."""
        signature = self._signature(at)
        if signature in self.seen:
            return
        self.seen[signature] = path
        self.check(at, path)
        for name, act in {**self.acts, **PASSING}.items():
            with self.make.conn.transaction(force_rollback=True):
                try:
                    came = act(self.make, at)
                except Refused:
                    continue
                follows = replace(at, claim=came) if isinstance(came, Claim) else at
                self.visit(follows, f"{path}, {name}" if path else name)

    def _signature(self, at: Scene) -> Hashable:
        found = self.make.conn.execute(_SIGNATURE, (at.work_key,)).fetchone()
        return (at.claim.token > 0, *(tuple(value) if isinstance(value, list) else value for value in found or ()))
