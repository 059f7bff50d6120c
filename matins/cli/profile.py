"""`matins profile`: what an owner is owed, where and when, from a file that you keep."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Annotated, Any

import typer

from matins.cli import profile_edit, profile_end

commands = typer.Typer(help="What an owner is owed, where and when.", no_args_is_help=True)


def register(app: typer.Typer) -> None:
    """Add these commands."""
    profile_edit.register(commands)
    profile_end.register(commands)
    app.add_typer(commands, name="profile")


@commands.command()
def apply(
    files: Annotated[list[Path], typer.Argument(help="TOML files, one profile each.")],
) -> None:
    """Take over profiles from files. One that cannot be is refused by name; the others are applied."""
    from matins import settings
    from matins.cli.connection import ledger
    from matins.rules.errors import ProfileRefused

    refused = 0
    chosen = settings.load()
    with ledger(chosen) as conn:
        for file in files:
            try:
                found = read(file)
                profile_edit.take_over(conn, found)
            except ProfileRefused as error:
                typer.echo(error.message, err=True)
                refused += 1
            else:
                profile_edit.warn(found, chosen)
    if refused:
        raise typer.Exit(2)


def read(file: Path) -> Any:
    """The checked profile in a TOML file. Raises ProfileRefused naming the file."""
    from matins.rules.errors import ProfileRefused
    from matins.rules.profile import parse

    try:
        raw = tomllib.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise ProfileRefused(f"{file}: cannot be read ({(error.strerror or 'no such file').lower()})") from error
    except UnicodeDecodeError as error:
        raise ProfileRefused(f"{file}: is not a text in UTF-8, so it is no profile") from error
    except tomllib.TOMLDecodeError as error:
        raise ProfileRefused(f"{file}: is not TOML: {error}") from error
    if not raw:
        raise ProfileRefused(f"{file}: is empty; a profile names at least its owner and a zone")
    if "owner" not in raw:
        raise ProfileRefused(f'{file}: names no owner; add owner = "sam"')
    return parse(raw, where=str(file))


@commands.command("list")
def list_(
    as_json: Annotated[bool, typer.Option("--json", help="For programs.")] = False,
) -> None:
    """Every owner's current profile, a line for each."""
    from matins import settings
    from matins.cli.connection import ledger
    from matins.cli.table import rows
    from matins.ledger import profile

    with ledger(settings.load()) as conn:
        found = {owner: profile.current(conn, owner) for owner in profile.owners(conn)}
    if as_json:
        told = [
            {"owner": owner, "version": one.version, "hash": one.hash, "profile": one.document}
            for owner, one in found.items()
        ]
        typer.echo(json.dumps(told, indent=1))
    elif not found:
        typer.echo("There are no profiles yet. Write one, and:  matins profile apply FILE")
    else:
        head = ("OWNER", "PROFILE", "ZONE", "WINDOW", "READY BY", "MAIL TO")
        typer.echo(rows([head, *(_row(owner, one.version, one.document) for owner, one in found.items())]))


def _row(owner: str, version: int, said: dict[str, Any]) -> tuple[str, ...]:
    mail = ", ".join(one["name"] for one in said["destinations"]) or "nowhere"
    return (owner, str(version), said["zone"], f"{said['opens']}-{said['closes']}", said["ready_by"], mail)


@commands.command()
def show(
    owner: Annotated[str, typer.Argument(help="Whose profile.")],
    as_json: Annotated[bool, typer.Option("--json", help="For programs.")] = False,
) -> None:
    """The current profile of an owner."""
    from matins import settings
    from matins.cli.connection import ledger
    from matins.cli.profile_words import page
    from matins.ledger import profile

    with ledger(settings.load()) as conn:
        stored = profile.current(conn, owner)
    if as_json:
        typer.echo(json.dumps({"version": stored.version, "hash": stored.hash, "profile": stored.document}, indent=1))
        return
    typer.echo(page(owner, stored.version, stored.document))
