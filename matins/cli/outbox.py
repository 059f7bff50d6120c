"""`matins outbox`: every message that is not proved yet, and what it waits for."""

from __future__ import annotations

import json
from dataclasses import asdict
from datetime import date, datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from matins.ledger.outbox import Queued


def register(app: typer.Typer) -> None:
    """Add this command."""
    app.command()(outbox)


def outbox(
    owner: Annotated[str, typer.Argument(metavar="[OWNER]", help="Whose; default: everyone's.")] = "",
    on: Annotated[str, typer.Option("--date", help="Of one date, as 2026-11-30; default: today's and all open.")] = "",
    everything: Annotated[bool, typer.Option("--all", help="Those that are proved as well.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="For programs.")] = False,
    verbose: Annotated[bool, typer.Option("-v", "--verbose", help="Addresses, and what the server said.")] = False,
) -> None:
    """The messages not proved yet, and what each waits for. Exit 1: one waits for you, or could not be sent."""
    from matins import settings
    from matins.cli.connection import ledger
    from matins.cli.times import parse_day
    from matins.ledger import outbox as box
    from matins.ledger import profile

    day = parse_day(on) if on else None
    with ledger(settings.load()) as conn:
        if owner:
            profile.current(conn, owner)
        found = box.messages(conn, owner=owner or None, local_date=day, proved=everything)
    if as_json:
        typer.echo(json.dumps([_document(one) for one in found], indent=1))
    else:
        typer.echo(_page(found, everything=everything, day=day, verbose=verbose))
    if any(one.needs_a_person for one in found):
        raise typer.Exit(1)


def _page(found: list[Queued], *, everything: bool, day: date | None, verbose: bool) -> str:
    from matins.cli.table import rows

    if not found:
        if everything:
            return "There are no messages" + (f" of {day.isoformat()}." if day else " of today, and none open.")
        return "Nothing waits: every message is at the proof its destination asks for."
    head = ("OWNER", "MAIL", "TO", "SINCE", "WHERE IT STANDS")
    table = rows([head, *(_row(one) for one in found)])
    parts = [table, *(_verbose(one) for one in found if verbose), _for_you(found)]
    return "\n\n".join(part for part in parts if part)


def _row(one: Queued) -> tuple[str, ...]:
    from matins.cli.times import moment

    since = moment(one.since, one.zone, now=one.now)
    tries = f"; {one.tries} tries" if one.tries > 1 else ""
    return (one.owner, one.kind, one.destination, since, where_it_stands(one) + tries)


def where_it_stands(one: Queued) -> str:
    """A message's state, with the words that its proof allows, and what comes next."""
    why = f" ({one.reason})" if one.reason else ""
    match one.status:
        case "pending" if one.retry_at and one.retry_at > one.now:
            again = "tried again at" if one.tries else "waits till"
            return f"{'not sent yet' + why + ', ' if one.tries else ''}{again} {_at(one, one.retry_at)}"
        case "pending":
            return f"waits to be sent{why}"
        case "sending":
            return "being sent"
        case "uncertain":
            return f"may have been sent; looked for again {_look(one)}"
        case "held":
            return "held: it may have been sent, you decide"
        case "accepted" if one.proved:
            return "sent (server said yes)"
        case "accepted" if one.given_up:
            return "sent, not seen; not looked for any more"
        case "accepted":
            return f"sent, not seen yet; looked for again {_look(one)}"
        case "observed":
            return "in the inbox" if one.placement == "inbox" else f"in {one.placement}"
        case "expired":
            return "not sent in time"
    return f"could not be sent{why}"


def _look(one: Queued) -> str:
    return f"at {_at(one, one.look_at)}" if one.look_at and one.look_at > one.now else "now"


def _at(one: Queued, at: datetime | None) -> str:
    from matins.cli.times import moment

    return moment(at, one.zone, now=one.now) if at else "any time"


def _verbose(one: Queued) -> str:
    from matins.cli.table import hung

    told = [
        ("", f"{one.owner}'s {one.kind} of {one.local_date.isoformat()} to {one.destination}"),
        ("address", one.address),
        ("server", one.reply),
        ("reason", one.reason),
        ("reference", f"{one.provider} {one.reference}" if one.reference else ""),
        ("looks", str(one.looks) if one.looks else ""),
        ("key", one.work_key),
    ]
    return "\n".join(hung(f"  {label:<10}" if label else "", text) for label, text in told if text)


def _for_you(found: list[Queued]) -> str:
    told = [
        f"  look whether it came:  matins why {one.owner} {one.local_date.isoformat()}"
        for one in found
        if one.needs_a_person
    ]
    return "\n".join(["For you", *dict.fromkeys(told)]) if told else ""


def _document(one: Queued) -> dict[str, Any]:
    plain = asdict(one) | {"state": where_it_stands(one), "proved": one.proved}
    return {name: value.isoformat() if isinstance(value, date) else value for name, value in plain.items()}
