"""`matins source`: where an owner's evidence comes from."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import urlsplit

import typer

if TYPE_CHECKING:
    from matins.ledger.source import Subscribed
    from matins.rules.evidence import Reading

commands = typer.Typer(help="Where an owner's evidence comes from.", no_args_is_help=True)


def register(app: typer.Typer) -> None:
    """Add these commands."""
    app.add_typer(commands, name="source")


@commands.command()
def add(
    owner: Annotated[str, typer.Argument(help="For whom.")],
    url: Annotated[str, typer.Argument(help="The address of an RSS, Atom or JSON feed.")],
    name: Annotated[str, typer.Option(help="What to call it; default: the feed's own title, or its host.")] = "",
) -> None:
    """Add a feed. It is looked at once: what is no feed is refused, what cannot be reached is added and said."""
    from matins import settings
    from matins.cli.connection import ledger
    from matins.cli.telling import counted
    from matins.ledger import profile, source
    from matins.rules.errors import Refused
    from matins.rules.evidence import ReadOutcome
    from matins.sources.address import canonical_url

    chosen = settings.load()
    address = canonical_url(url)
    with ledger(chosen) as conn:
        profile.current(conn, owner)
        reading = _look(chosen, address)
        if reading.outcome is ReadOutcome.INVALID:
            raise Refused(f"{owner}: {url} is not added: {reading.reason}. {_advice(reading.reason, address)}")
        taken = {one.name: one.url for one in source.of_owner(conn, owner)}
        called = _name(name or reading.title or _host(address), taken, address)
        if not source.add(conn, owner, url=address, name=called):
            typer.echo(f"{owner} reads {address} already. Nothing changed.")
            return
    typer.echo(f"{owner} reads {called} from now on.")
    if not reading.reached:
        typer.echo(f"It could not be reached now ({reading.reason}); it is tried again with every morning.")
    else:
        typer.echo(
            f"It has {counted(len(reading.items), 'item')} now. Of these at most three, none older than two days,"
        )
        typer.echo("may be told the first time; after that only new ones.")


def _advice(reason: str, address: str) -> str:
    if "private" in reason:
        return f"If that host is yours, admit it by name: MATINS_ALLOW_HOSTS={urlsplit(address).netloc}"
    return "Give the address of a feed"


def _look(chosen: Any, address: str) -> Reading:
    from matins.rules.evidence import Cursor
    from matins.sources.fetch import Fetcher
    from matins.sources.reader import read

    return read(Fetcher(allow_hosts=frozenset(chosen.allow_hosts)), address, cursor=Cursor())


def _host(address: str) -> str:
    return urlsplit(address).hostname or address


def _name(wanted: str, taken: dict[str, str], address: str) -> str:
    """`wanted` in one line, made different from the names of other sources by its host, then by a number."""
    plain = " ".join(wanted.split())[:60]
    if taken.get(plain, address) == address:
        return plain
    tries = [f"{plain} ({_host(address)})", *(f"{plain} {number}" for number in range(2, 1000))]
    return next(one for one in tries if taken.get(one, address) == address)


@commands.command("list")
def list_(
    owner: Annotated[str, typer.Argument(help="Whose sources.")],
    as_json: Annotated[bool, typer.Option("--json", help="For programs.")] = False,
) -> None:
    """The sources of an owner, and how the last read of each went."""
    from matins import settings
    from matins.cli.connection import ledger
    from matins.ledger import profile, source

    with ledger(settings.load()) as conn:
        zone = profile.current(conn, owner).document["zone"]
        found = source.of_owner(conn, owner)
    if as_json:
        typer.echo(json.dumps([_document(one) for one in found], indent=1))
        return
    if not found:
        typer.echo(f"{owner} reads nothing yet. Add a feed:  matins source add {owner} URL")
        return
    from matins.cli.times import clock

    for one in found:
        typer.echo(f"{one.name[:28]:<28}  {_went(one, clock(one.tried_at, zone)):<48}".rstrip())
        typer.echo(f"{'':<28}  {one.url}")


def _went(one: Subscribed, at: str) -> str:
    from matins.cli.telling import counted

    match one.outcome:
        case None:
            return "not read yet"
        case "new" | "none":
            return f"{counted(one.items_read, 'item')}, read {at}"
        case _:
            return f"could not look: {one.reason} ({at})"


def _document(one: Subscribed) -> dict[str, Any]:
    return {
        "name": one.name,
        "key": one.key,
        "url": one.url,
        "outcome": one.outcome,
        "reason": one.reason,
        "items_read": one.items_read,
        "settled_at": one.settled_at.isoformat() if one.settled_at else None,
        "tried_at": one.tried_at.isoformat() if one.tried_at else None,
        "failing_since": one.failing_since.isoformat() if one.failing_since else None,
        "due_at": one.due_at.isoformat(),
    }
