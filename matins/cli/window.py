"""`matins source retry`, `poll` and `skip`: what a person does about a source that cannot be read."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from matins.ledger.source import Subscribed
    from matins.settings import Settings

_REASON = 200


def register(commands: typer.Typer) -> None:
    """Add these commands."""
    for command in (retry, poll, skip):
        commands.command()(command)


_Owner = Annotated[str, typer.Argument(help="Whose source.")]
_Name = Annotated[str, typer.Argument(help="Its name or address, or the beginning of one.")]


def retry(owner: _Owner, name: _Name) -> None:
    """Have a source read now, with all its tries anew."""
    from matins import settings
    from matins.cli.connection import ledger
    from matins.cli.naming import meant

    chosen = settings.load()
    with ledger(chosen) as conn:
        found = meant(conn, owner, name)
        _renew(conn, owner, found, budget=True)
    _start(chosen, owner, found)


def poll(owner: _Owner, name: _Name) -> None:
    """Have a source read now, if it does not wait for its next try after a failure."""
    from matins import settings
    from matins.cli.connection import ledger
    from matins.cli.naming import meant
    from matins.cli.source_words import viewer
    from matins.ledger import source_facts
    from matins.rules.errors import Refused

    chosen = settings.load()
    with ledger(chosen) as conn:
        found = meant(conn, owner, name)
        facts = source_facts.facts(conn, found.key)
        if facts.waits:
            at = viewer(conn, owner).at(facts.retry_at)
            why = f" ({found.reason})" if found.reason else ""
            raise Refused(
                f"{found.name} could not be read{why} and waits for its next try at {at}. "
                f"To read it all the same:  {_again(owner, found)}"
            )
        _renew(conn, owner, found, budget=False)
    _start(chosen, owner, found)


def skip(
    owner: _Owner,
    name: _Name,
    reason: Annotated[str, typer.Option(help="Why, for whoever looks later.")],
) -> None:
    """Give up what a source's window should have read; it is kept that you did, and why. The next window opens."""
    from matins import settings
    from matins.cli.connection import ledger
    from matins.cli.naming import meant
    from matins.cli.source_words import viewer
    from matins.ledger import source as sources
    from matins.ledger import source_facts, window
    from matins.rules.errors import Refused

    plain = reason.strip()
    if not plain or len(plain) > _REASON or not plain.isprintable():
        raise typer.BadParameter(f"--reason is not one printable line of 1 to {_REASON} characters")
    with ledger(settings.load()) as conn:
        found = meant(conn, owner, name)
        facts = source_facts.facts(conn, found.key)
        seen = viewer(conn, owner)
        if found.failing_since is None and not facts.attempts:
            read = f"it was read at {seen.at(found.settled_at)}" if found.settled_at else "it was not read yet"
            raise Refused(f"{found.name}: nothing to skip: {read}")
        others = facts.readers - 1
        try:
            window.skip(conn, sources.window(conn, found.key), reason=plain)
        except Refused as busy:
            raise Refused(f"{found.name}: {busy.message}") from busy
        due = next(one.due_at for one in sources.of_owner(conn, owner) if one.key == found.key)
        at = seen.at(due)
    shared = (
        f" {others} {'other reads' if others == 1 else 'others read'} it too: it is skipped for all." if others else ""
    )
    typer.echo(f"{found.name}: skipped, and that is kept with your reason. It is read again at {at}.{shared}")


def _renew(conn: Any, owner: str, found: Subscribed, *, budget: bool) -> None:
    from matins.ledger import source, window
    from matins.rules.errors import Refused

    try:
        window.renew(conn, source.window(conn, found.key), budget=budget)
    except Refused as busy:
        raise Refused(f"{found.name}: {busy.message}:  matins source show {owner} {shlex.quote(found.name)}") from busy


def _start(chosen: Settings, owner: str, found: Subscribed) -> None:
    """Start its read now. Where Temporal does not answer, the ledger has it due, and the check begins it."""
    from matins.cli.connection import orchestrator
    from matins.rules.errors import TemporalUnreachable

    try:
        with orchestrator(chosen) as temporal:
            temporal.start("ingest", found.key)
    except TemporalUnreachable as error:
        typer.echo(f"{found.name} is due, and the next check begins it. {error.message}", err=True)
        raise typer.Exit(3) from error
    typer.echo(f"{found.name} is being read. How it went:  matins source show {owner} {shlex.quote(found.name)}")


def _again(owner: str, found: Subscribed) -> str:
    return f"matins source retry {owner} {shlex.quote(found.name)}"
