"""Every transition as one act upon a scene; what follows a colon is a way of calling it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from matins.ledger import (
    action,
    continuation,
    doubt,
    edition,
    ending,
    ingest,
    message,
    obligation,
    observation,
    outgoing,
    page,
    page_write,
    plan,
    today,
    window,
    work,
)
from matins.rules import keys, plans
from matins.rules.canonical import sha256
from matins.rules.evidence import ReadOutcome
from tests.ledger import wiki
from tests.ledger.factory import KEPT, PUT, QUARANTINE, RECEIPT, SEEN, Factory, Scene, failure, item, reading

Act = Callable[[Factory, Scene], Any]
WRITTEN = b"nothing asked"


def _claim(make: Factory, at: Scene) -> Any:
    return make.claim(at.work_key, step=at.claim.step, holder="worker-2")


def _claim_again(make: Factory, at: Scene) -> Any:
    return make.claim(at.work_key, step=at.claim.step)


def _claim_compose(make: Factory, at: Scene) -> Any:
    return make.claim(at.work_key, step=plans.COMPOSE)


def _release(make: Factory, at: Scene) -> Any:
    work.release(make.conn, at.work_key, token=at.claim.token)


def _fail(make: Factory, at: Scene) -> Any:
    return ending.fail(make.conn, at.work_key, token=at.claim.token, reason="the store was down")


def _fail_for_good(make: Factory, at: Scene) -> Any:
    return ending.fail(make.conn, at.work_key, token=at.claim.token, reason="refused", final=True)


def _expire(make: Factory, at: Scene) -> Any:
    return ending.expire(make.conn, at.work_key)


def _complete(make: Factory, at: Scene) -> Any:
    return obligation.complete(make.conn, at.key, at.claim, plan=plans.CURRENT, output_hash=sha256(b"{}"))


def _plan(make: Factory, at: Scene) -> Any:
    done = plan.plan(make.conn, owner=keys.parse(at.key).owner)
    assert done.refused == {}


def _complete_step(make: Factory, at: Scene) -> Any:
    return continuation.complete_step(make.conn, at.key, at.claim, plan=plans.CURRENT)


def _write_step(make: Factory, at: Scene) -> Any:
    written = (keys.action(at.key, str(at.claim.step)), sha256(WRITTEN), WRITTEN)
    return continuation.complete_step(make.conn, at.key, at.claim, plan=plans.CURRENT, written=written)


def _draft(make: Factory, at: Scene) -> Any:
    return edition.draft(
        make.conn, at.key, at.claim, plan=plans.CURRENT, kind="full", title="Monday", facts={},
        draft_hash=sha256(KEPT),
    )  # fmt: skip


def _publish(make: Factory, at: Scene) -> Any:
    return edition.publish(
        make.conn, at.key, at.claim, plan=plans.CURRENT, bundle_hash=sha256(KEPT),
        messages=[make.outgoing(at.key)], send_at=None,
    )  # fmt: skip


def _start(make: Factory, at: Scene) -> Any:
    make.start_research(at.key, at.claim)


def _record(name: str, **told: Any) -> Act:
    def act(make: Factory, at: Scene) -> Any:
        record = getattr(action, f"record_{name}")
        return record(make.conn, at.claim, key=keys.action(at.key, "research"), **told)

    return act


def _abandon(make: Factory, at: Scene) -> Any:
    return action.abandon(make.conn, keys.action(at.key, "research"), token=1, quarantine=QUARANTINE)


def _abandon_send(make: Factory, at: Scene) -> Any:
    return action.abandon(make.conn, at.key, token=at.claim.token, quarantine=QUARANTINE)


def _doubt(make: Factory, at: Scene) -> Any:
    return doubt.doubt(make.conn, at.claim, reason="the reply was lost", quarantine=QUARANTINE)


def _found(make: Factory, at: Scene) -> Any:
    return doubt.accept_found(
        make.conn, at.work_key, mail_id=message.envelope(make.conn, at.work_key).mail_id, sighting=SEEN
    )


def _settle(make: Factory, at: Scene) -> Any:
    assert at.window is not None
    return ingest.settle(make.conn, at.claim, at.window, reading(item("a"), item("b")), declared=2)


def _settle_empty(make: Factory, at: Scene) -> Any:
    assert at.window is not None
    return ingest.settle(make.conn, at.claim, at.window, reading())


def _settle_unmodified(make: Factory, at: Scene) -> Any:
    assert at.window is not None
    return ingest.settle(make.conn, at.claim, at.window, replace(reading(), unmodified=True))


def _unread(outcome: ReadOutcome) -> Act:
    def act(make: Factory, at: Scene) -> Any:
        assert at.window is not None
        return ingest.fail(make.conn, at.claim, at.window, failure(outcome))

    return act


def _expire_window(make: Factory, at: Scene) -> Any:
    assert at.window is not None
    return window.expire(make.conn, at.window)


def _skip(make: Factory, at: Scene) -> Any:
    assert at.window is not None
    return window.skip(make.conn, at.window, reason="it is broken for good")


def _queue(make: Factory, at: Scene) -> Any:
    told = replace(make.outgoing(f"{at.key}/openings"), kind=plans.OPENINGS)
    outgoing.queue(make.conn, at.key, at.claim, messages=[told], send_at=None)


def _write_newest(make: Factory, at: Scene) -> Any:
    wiki.open_write(make, at, version=page.state(make.conn, at.key).wanted)


ACTS: dict[str, Act] = {
    "work.claim": _claim,
    "work.claim:the same holder": _claim_again,
    "work.claim:another step": _claim_compose,
    "work.release": _release,
    "ending.fail": _fail,
    "ending.fail:for good": _fail_for_good,
    "ending.expire": _expire,
    "plan.plan": _plan,
    "today.queue_early": lambda make, at: today.queue_early(make.conn, at.key),
    "obligation.complete": _complete,
    "obligation.advance": lambda make, at: obligation.advance(make.conn, at.key),
    "continuation.complete_step": _complete_step,
    "continuation.complete_step:written": _write_step,
    "edition.draft": _draft,
    "edition.publish": _publish,
    "action.start": _start,
    "action.start:send": lambda make, at: make.start_sending(at),
    "action.record_completed": _record("completed", receipt=PUT),
    "action.record_refused": _record("refused", reason="no such bucket"),
    "action.record_not_done": _record("not_done", reason="connection refused"),
    "action.abandon": _abandon,
    "action.abandon:send": _abandon_send,
    "message.accept": lambda make, at: message.accept(make.conn, at.claim, RECEIPT),
    "message.expire": lambda make, at: message.expire(make.conn, at.work_key),
    "doubt.accept_late": lambda make, at: doubt.accept_late(make.conn, at.claim, RECEIPT),
    "doubt.accept_found": _found,
    "doubt.doubt": _doubt,
    "doubt.prove_not_sent": lambda make, at: doubt.prove_not_sent(make.conn, at.work_key, reason="not found"),
    "doubt.prove_not_sent:waived": lambda make, at: doubt.prove_not_sent(
        make.conn, at.work_key, reason="your choice", waived=True
    ),
    "doubt.hold": lambda make, at: doubt.hold(make.conn, at.work_key, reason="nobody can look"),
    "doubt.let_go": lambda make, at: doubt.let_go(make.conn, at.work_key, reason="nobody can look"),
    "observation.observe": lambda make, at: observation.observe(make.conn, at.work_key, SEEN),
    "ingest.settle": _settle,
    "ingest.settle:empty": _settle_empty,
    "ingest.fail": _unread(ReadOutcome.UNREACHABLE),
    "ingest.settle:unmodified": _settle_unmodified,
    "ingest.fail:invalid": _unread(ReadOutcome.INVALID),
    "ingest.fail:partial": _unread(ReadOutcome.PARTIAL),
    "ingest.fail:gone": _unread(ReadOutcome.GONE),
    "window.expire": _expire_window,
    "window.skip": _skip,
    "outgoing.queue": _queue,
    "page_write.open_write": lambda make, at: wiki.open_write(make, at),
    "page_write.open_write:the newest": _write_newest,
    "page_write.confirm": lambda make, at: page_write.confirm(make.conn, at.claim, recheck_after=wiki.RECHECK),
    "page_write.mark": lambda make, at: wiki.mark(make, at),
}
