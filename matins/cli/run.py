"""`matins run` and `matins sweep`: what Matins does by itself, asked for by hand. Both meet the same rows."""

from __future__ import annotations

import json
from contextlib import ExitStack
from typing import Annotated

import typer


def register(app: typer.Typer) -> None:
    """Add these commands."""
    app.command()(run)
    app.command()(sweep)


def run(
    owner: Annotated[str, typer.Argument(help="Whose morning.")],
    on: Annotated[
        str, typer.Option("--date", help="Only compared: another date than the owner's today is refused.")
    ] = "",
) -> None:
    """Run an owner's morning of today now, whether or not its window is open."""
    from matins import settings
    from matins.cli.connection import ledger, orchestrator
    from matins.cli.times import parse_day
    from matins.ledger import obligation, today
    from matins.rules.errors import TemporalUnreachable

    chosen = settings.load()
    day = parse_day(on) if on else None
    with ledger(chosen) as conn:
        key = today.ask(conn, owner, on=day)
        if obligation.next_move(conn, key).done:
            typer.echo(f"{owner}'s morning of today was begun before. Nothing is run twice:  matins why {owner}")
            return
        try:
            with orchestrator(chosen) as temporal:
                temporal.start("obligation", key)
        except TemporalUnreachable as error:
            typer.echo(f"{owner}'s morning is asked for and waits in the ledger. {error.message}", err=True)
            raise typer.Exit(3) from error
    typer.echo(f"{owner}'s morning is being run. See how far it got:  matins why {owner}")


def sweep(
    as_json: Annotated[bool, typer.Option("--json", help="For programs.")] = False,
) -> None:
    """Run the five-minute check now. Exit 1 when a pass failed, 3 when Temporal could not be asked to start."""
    from matins import settings
    from matins.cli.connection import ledger, orchestrator
    from matins.rules.errors import TemporalUnreachable
    from matins.sweep import PASSES, Sweeper

    chosen = settings.load()
    with ExitStack() as stack:
        stack.enter_context(ledger(chosen))
        try:
            temporal = stack.enter_context(orchestrator(chosen))
        except TemporalUnreachable:
            temporal = None
        counts = Sweeper(lambda: ledger(chosen), temporal, chosen.limits().quarantine).run("command")
    if as_json:
        typer.echo(json.dumps(counts))
    else:
        typer.echo("  ".join(f"{name} {counts.get(name, 0)}" for name in PASSES))
    if counts.get("failed") or counts.get("rows_failed"):
        failed = (("failed", "passes"), ("rows_failed", "rows"))
        what = [f"{counts[name]} {of}" for name, of in failed if counts.get(name)]
        typer.echo(f"{' and '.join(what)} failed; see the decisions:  matins doctor", err=True)
        raise typer.Exit(1)
    if counts.get("unstarted"):
        typer.echo(
            f"{counts['unstarted']} could not be started: Temporal does not answer. Start it:  matins up", err=True
        )
        raise typer.Exit(3)
