"""`matins source add`: from any address to the feed behind it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import urlsplit

import typer

if TYPE_CHECKING:
    from matins.settings import Settings
    from matins.sources.discovery import Found
    from matins.sources.fetch import Fetcher

BOARD_HOSTS = frozenset({"boards.greenhouse.io", "job-boards.greenhouse.io", "jobs.lever.co", "jobs.ashbyhq.com"})
"""Where people read the boards whose APIs are in `matins.rules.openings`."""
_BOARDS = "openings at "


def register(commands: typer.Typer) -> None:
    """Add this command."""
    commands.command()(add)


def add(
    owner: Annotated[str, typer.Argument(help="For whom.")],
    address: Annotated[str, typer.Argument(help="A feed, or any page: its feed is looked for.")],
    name: Annotated[str, typer.Option(help="What to call it; default: the feed's own title, or its host.")] = "",
) -> None:
    """Add a source. It is looked at once: what has no feed is refused, what cannot be reached is added and said."""
    from matins import settings
    from matins.cli.connection import ledger
    from matins.ledger import profile, source

    if not name.isprintable():
        raise typer.BadParameter("--name is not one printable line")
    chosen = settings.load()
    with ledger(chosen) as conn:
        profile.current(conn, owner)
        refuse_board(owner, address)
        found = _found(owner, address, fetcher(chosen))
        taken = taken_names(conn, owner)
        called = unused_name(name or found.reading.title or host(found.url), taken, found.url)
        if not source.add(conn, owner, url=found.url, name=called):
            typer.echo(f"{owner} reads {found.url} already. Nothing changed.")
            return
    typer.echo(_said(owner, called, address, found))


def fetcher(chosen: Settings) -> Fetcher:
    """What looks at addresses, under the settings' guard."""
    from matins.sources.fetch import Fetcher

    return Fetcher(allow_hosts=frozenset(chosen.allow_hosts))


def host(address: str) -> str:
    """The host of an address, for people."""
    return urlsplit(address).hostname or address


def refuse_board(owner: str, address: str) -> None:
    """Raise Refused for a list of open roles: the profile says which of these are read."""
    from matins.rules.errors import Refused
    from matins.rules.openings import APIS

    try:
        where = urlsplit(_whole(address)).hostname
    except ValueError:
        return
    if where in BOARD_HOSTS | {urlsplit(one).hostname for one in APIS.values()}:
        raise Refused(
            f"{owner}: {address[:100]} is a list of open roles, and those are named in the profile, under "
            f"[[openings.boards]]:  matins profile edit {owner}"
        )


def _found(owner: str, address: str, looking: Fetcher) -> Found:
    """The feed behind `address`. Where nothing answers there: `address` itself, if its scheme is known; without one,
    https is tried, then http. Raises Refused with what to do.
    """
    from matins.rules.errors import Refused

    if "://" in address:
        return _at(owner, address, looking)
    failures = []
    for scheme in ("https", "http"):
        whole = f"{scheme}://{address.strip()}"
        found = _at(owner, whole, looking)
        if found.reading.reached:
            return found
        failures.append(f"{whole[:200]} ({found.reading.reason})")
    raise Refused(
        f"{owner}: nothing is added: neither {' nor '.join(failures)} answers. "
        "An address with its scheme is added even if it cannot be reached now"
    )


def _at(owner: str, address: str, looking: Fetcher) -> Found:
    """The feed behind a whole `address`; where nothing answers there, `address` itself. Raises Refused."""
    from matins.rules.errors import ProviderUnavailable, Refused
    from matins.rules.evidence import Reading, ReadOutcome
    from matins.sources.address import canonical_url
    from matins.sources.discovery import Found, discover

    try:
        return discover(looking, address)
    except Refused as refused:
        if isinstance(refused.__cause__, ProviderUnavailable):
            reading = Reading(False, ReadOutcome.UNREACHABLE, reason=refused.__cause__.message)
            return Found(canonical_url(address), reading)
        todo = advice(refused.message, address)
        raise Refused(f"{owner}: {address[:200]} is not added: {refused.message}. {todo}") from refused


def _whole(address: str) -> str:
    """`address` with its scheme."""
    return address if "://" in address else f"https://{address.strip()}"


def advice(reason: str, address: str) -> str:
    """What to do about an address that was refused."""
    if "private" in reason:
        return (
            f'If that host is yours: allow_hosts = ["{urlsplit(_whole(address)).netloc}"] in matins.toml, then  '
            "matins up  (it starts a running worker again)"
        )
    return "Give the address of a feed, or of a page that links to one"


def unused_name(wanted: str, taken: Mapping[str, str], address: str) -> str:
    """`wanted` in one line, made different from the names of other sources by its host, then by a number.

    `taken` is name -> address.
    """
    plain = " ".join(wanted.split())[:60]
    if plain.startswith(_BOARDS):  # the names of the boards that profiles name
        plain = f"feed: {plain}"
    if taken.get(plain, address) == address:
        return plain
    tries = [f"{plain} ({host(address)})", *(f"{plain} {number}" for number in range(2, 20_000))]
    return next(one for one in tries if taken.get(one, address) == address)


def _said(owner: str, called: str, address: str, found: Found) -> str:
    from matins.cli.telling import counted
    from matins.sources.address import canonical_url

    told = [f"{owner} reads {called} from now on."]
    if not found.reading.reached:
        told.append(f"It could not be reached now ({found.reading.reason}); it is tried again by itself.")
        return "\n".join(told)
    if found.url != canonical_url(_whole(address)):
        told.append(f"Its feed is {found.url}")
    items = counted(len(found.reading.items), "item")
    told.append(f"It has {items} now. Of these at most three, none older than two days,")
    told.append("may be told the first time; after that only new ones.")
    return "\n".join(told)


def taken_names(conn: Any, owner: str) -> dict[str, str]:
    """Name -> address of what the owner reads."""
    from matins.ledger import source

    return {one.name: one.url for one in source.of_owner(conn, owner)}
