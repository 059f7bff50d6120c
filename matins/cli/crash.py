"""`matins morning --crash POINT`: the worker is killed at the worst moment of one piece, and the morning recovers.

Everything told here is read from the ledger, from the process table and from the mailbox's own record.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import typer

from matins.cli import progress
from matins.cli.morning import arrange_demo
from matins.cli.times import second, short_day
from matins.rules import crash
from matins.rules.errors import Refused

if TYPE_CHECKING:
    from datetime import date

    from matins.local.runtime import Runtime
    from matins.rules.verdict import Morning


@dataclass(frozen=True, slots=True)
class Crash:
    """One crash that may be asked for."""

    point: str
    """Where the worker dies (`matins.rules.crash`)."""
    piece: str
    """The piece that it was at, as the morning's lines name it."""
    moment: str
    """What had happened, and what nobody had noted yet."""


CRASHES = {
    "read": Crash("fetch.after_page", "read", "a source's document has come, and none of it is stored"),
    "write": Crash("call.after_reply@2", "write", "the edition is written and kept, and nobody has noted that"),
    "publish": Crash("put.after", "publish", "its files are in the object store, and nobody has noted that"),
    "send": Crash("send.after_reply", "send", ""),
    "see": Crash("observe.before_record", "send", "the mail is in the inbox, and nobody has noted that it was seen"),
    "wiki": Crash("page.after_put", "wiki", "a page is in the object store, and is not marked as published"),
}
"""What `--crash` may name."""
PATIENCE = 120.0
_EVERY = 0.1


def tell(conn: Any, running: Runtime, *, name: str) -> int:
    """Run a new demo owner's morning into the crash `name`, and show how it recovers. Returns the exit code."""
    from matins.cli.connection import orchestrator
    from matins.ledger import profile, today
    from matins.local import runtime

    owner = _unused(conn)
    arrange_demo(conn, running, owner)
    day = today.today(conn, owner)
    typer.echo(f"\nA demo owner of its own, {owner}, {short_day(day)} (test mailbox)")
    os.environ[crash.SETTING] = CRASHES[name].point
    try:
        runtime.up(running.settings, say=_nothing, with_feeds=True)
        pid = _worker_pid(running)
        key = today.ask(conn, owner)
        with orchestrator(running.settings) as temporal:
            temporal.start("obligation", key)
        progress.watch(conn, owner, day, until=lambda _: not _alive(running, pid))
    finally:
        del os.environ[crash.SETTING]
    _until(lambda: not _alive(running, pid), "the worker did not reach the point where it was to die")
    if name != "send":
        code = _take_over(conn, running, owner, day, pid, CRASHES[name])
    else:
        _show_death(conn, running, owner, day, pid)
        code = _recover(conn, running, owner, day)
    profile.end(conn, owner)  # it was made for this; tomorrow nothing is owed to it
    return code


def _take_over(conn: Any, running: Runtime, owner: str, day: date, pid: int, one: Crash) -> int:
    """A death whose work anybody may take over: what was recorded is kept, the rest is done with the same bytes."""
    from matins.local import runtime
    from matins.rules.verdict import State, since, state

    typer.echo(f"  {one.piece:<10} {one.moment}")
    typer.echo(f"  ******     worker {pid} killed")
    left = _longest_lease(conn)
    ends = f"its right to write ends in {left:.0f} s" if left else "it held nothing, and is missed within half a minute"
    typer.echo(f"  ...        {ends}; then a new worker takes over")
    runtime.up(running.settings, say=_nothing, with_feeds=True)
    ended = progress.watch(conn, owner, day, told=progress.proved(conn, _now(conn, owner, day)))
    mails = len(_mails(running, owner))
    if state(ended) is not State.READY:
        typer.echo(f"\n{state(ended).value}.  the whole story:  matins why {owner}")
        return 1
    typer.echo(f"\nREADY {second(since(ended), ended.zone)}.  Mails in the mailbox: {mails}.")
    typer.echo(f"  the whole story:  matins why {owner}")
    return 0 if mails == 1 else 1


def _longest_lease(conn: Any) -> float:
    found = conn.execute(
        "select coalesce(max(extract(epoch from lease_expires_at - ledger_now())), 0)::float8 from work"
    ).fetchone()
    return max(float(found[0]), 0.0)


def _nothing(line: str) -> None:
    """Nothing: the parts are ready, and only the worker is started anew."""


def _unused(conn: Any) -> str:
    from matins.ledger import profile

    names = (f"crash-{number}" for number in range(1, 10_000))
    return next(name for name in names if not profile.is_taken(conn, name))


def _worker_pid(running: Runtime) -> int:
    from matins.local import part, process, worker

    found = process.running(part.pid_file(running.settings.data, worker.NAME))
    if found is None:
        raise Refused("the worker is not running; start it: matins up")
    return found.pid


def _alive(running: Runtime, pid: int) -> bool:
    from matins.local import part, process, worker

    found = process.running(part.pid_file(running.settings.data, worker.NAME))
    return found is not None and found.pid == pid


def _until(holds: Callable[[], bool], otherwise: str) -> None:
    deadline = time.monotonic() + PATIENCE
    while not holds():
        if time.monotonic() > deadline:
            raise Refused(otherwise)
        time.sleep(_EVERY)


def _mails(running: Runtime, owner: str) -> list[dict[str, Any]]:
    """What the test mailbox itself recorded for this owner's address."""
    record = running.settings.data / "mailbox" / "smtp.log"
    lines = [json.loads(line) for line in record.read_text(encoding="utf-8").splitlines()]
    return [line for line in lines if any(to.startswith(f"{owner}@") for to in line["to"])]


def _lease_left(conn: Any, work_key: str) -> float:
    found = conn.execute(
        "select greatest(extract(epoch from lease_expires_at - ledger_now()), 0)::float8 from work where key = %s",
        (work_key,),
    ).fetchone()
    return float(found[0] or 0.0) if found else 0.0


def _show_death(conn: Any, running: Runtime, owner: str, day: date, pid: int) -> None:
    message = _now(conn, owner, day).messages[0]
    said = _mails(running, owner)
    reply = said[-1]["reply"] if said else "nothing"
    left = _lease_left(conn, message.work_key)
    typer.echo(f'  send       the server said "{reply}"')
    typer.echo(f"  ******     worker {pid} killed, before it could note the answer")
    typer.echo(f"  ...        its right to write ends in {left:.0f} s; nobody else may send till then")
    _until(lambda: _lease_left(conn, message.work_key) == 0.0, "its right to write did not end")


def _recover(conn: Any, running: Runtime, owner: str, day: date) -> int:
    from matins.cli.connection import ledger, orchestrator
    from matins.local import runtime
    from matins.rules.verdict import State, since, state
    from matins.sweep import Sweeper

    with orchestrator(running.settings) as temporal:
        quarantine = running.settings.limits().quarantine
        Sweeper(lambda: ledger(running.settings), temporal, quarantine).run("command")
    doubted = _now(conn, owner, day).messages[0]
    typer.echo(
        f"  check      found one mail that {'may have been sent' if doubted.status == 'uncertain' else 'is sent'}"
    )
    runtime.up(running.settings, say=_nothing, with_feeds=True)
    _until(lambda: _now(conn, owner, day).messages[0].accepted_at is not None, "the mail was not found")
    found = _now(conn, owner, day)
    at = second(found.messages[0].accepted_at, found.zone)
    typer.echo(f"  look       searched the mailbox for it: found, {at}")
    typer.echo("  send       marked as sent. Not sent again.")
    _until(lambda: state(_now(conn, owner, day)) is State.READY, "the morning did not become ready")
    ended = _now(conn, owner, day)
    mails = len(_mails(running, owner))
    typer.echo(f"\nREADY {second(since(ended), ended.zone)}.  Mails in the mailbox: {mails}.")
    typer.echo(f"  the whole story:  matins why {owner}")
    return 0 if mails == 1 else 1


def _now(conn: Any, owner: str, day: date) -> Morning:
    from matins.ledger import standing

    return standing.mornings(conn, day, owner=owner)[0]
