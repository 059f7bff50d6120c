"""`matins profile end`: nothing more is owed to an owner."""

from __future__ import annotations

from typing import Annotated

import typer


def register(commands: typer.Typer) -> None:
    """Add this command."""
    commands.command()(end)


def end(owner: Annotated[str, typer.Argument(help="Whose mornings end.")]) -> None:
    """Owe an owner nothing more, and read none of its sources. What was made stays; what was begun is finished."""
    from matins import settings
    from matins.cli.connection import ledger
    from matins.ledger import profile

    with ledger(settings.load()) as conn:
        if not profile.end(conn, owner):
            typer.echo(f"{owner} was ended already. Nothing changed.")
            return
    typer.echo(f"{owner}: no more mornings. What was made stays, and what was begun today is finished.")
    typer.echo("To begin anew:  matins profile apply FILE, and add its sources again")
