"""`matins source`: where an owner's evidence comes from."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any

import typer

from matins.cli import opml, source_add, source_show, window

if TYPE_CHECKING:
    from matins.cli.source_words import Viewer
    from matins.ledger.source import Subscribed

commands = typer.Typer(help="Where an owner's evidence comes from.", no_args_is_help=True)


def register(app: typer.Typer) -> None:
    """Add these commands."""
    for room in (source_add, source_show, window, opml):
        room.register(commands)
    app.add_typer(commands, name="source")


@commands.command("list")
def list_(
    owner: Annotated[str, typer.Argument(help="Whose sources.")],
    as_json: Annotated[bool, typer.Option("--json", help="For programs.")] = False,
) -> None:
    """The sources of an owner, and how the last read of each went."""
    from matins import settings
    from matins.cli.connection import ledger
    from matins.cli.source_words import viewer
    from matins.ledger import source

    with ledger(settings.load()) as conn:
        seen = viewer(conn, owner)
        found = source.of_owner(conn, owner)
    if as_json:
        typer.echo(json.dumps([document(one, seen) for one in found], indent=1))
    elif not found:
        typer.echo(f"{owner} reads nothing yet. Add a source:  matins source add {owner} ADDRESS")
    else:
        typer.echo("\n".join(_listed(one, seen) for one in found))


def _listed(one: Subscribed, seen: Viewer) -> str:
    from matins.cli.source_words import went
    from matins.cli.table import WIDTH, cut, hung

    return f"{hung(f'{cut(one.name, 28):<28}  ', went(one, seen))}\n{'':<4}{cut(one.url, WIDTH - 4)}"


@commands.command()
def remove(
    owner: Annotated[str, typer.Argument(help="For whom.")],
    name: Annotated[str, typer.Argument(help="Its name or address, or the beginning of one.")],
) -> None:
    """Read a source no more for an owner. What was read and told stays."""
    from matins import settings
    from matins.cli.connection import ledger
    from matins.cli.naming import meant
    from matins.ledger import source, source_facts
    from matins.rules.errors import Refused

    with ledger(settings.load()) as conn:
        found = meant(conn, owner, name)
        if found.purpose == source.OPENINGS:
            raise Refused(f"{owner}'s profile names {found.name}; take it out there:  matins profile edit {owner}")
        source.remove(conn, owner, found.key)
        others = source_facts.facts(conn, found.key).readers
    typer.echo(f"{owner} does not read {found.name} any more. What was read and told stays.")
    if others:
        typer.echo(f"It is still read for {others} {'other' if others == 1 else 'others'}.")
    else:
        typer.echo("Nobody else reads it, so it is not asked any more.")


def document(one: Subscribed, seen: Viewer) -> dict[str, Any]:
    """A source for programs."""
    instants = ("settled_at", "tried_at", "failing_since", "due_at", "moved_since")
    plain = ("name", "key", "url", "outcome", "reason", "items_read", "purpose", "kind", "fetch_url", "moved_to")
    told: dict[str, Any] = {field: getattr(one, field) for field in plain}
    told |= {field: at.isoformat() if (at := getattr(one, field)) else None for field in instants}
    return told | {
        "skipped": one.key in seen.skipped,
        "our_network": seen.network_down and one.outcome == "unreachable",
    }
