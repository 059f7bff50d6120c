"""`matins why`: one owner and date, the ordered evidence, the first missing piece, and whose move is next."""

from __future__ import annotations

import json
import textwrap
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from matins.rules.verdict import Morning

_WIDTH = 80


def register(app: typer.Typer) -> None:
    """Add this command."""
    app.command()(why)


def why(
    owner: Annotated[str, typer.Argument(help="Whose morning.")],
    on: Annotated[str, typer.Argument(metavar="[DATE]", help="As 2026-11-30; default: the owner's today.")] = "",
    as_json: Annotated[bool, typer.Option("--json", help="For programs.")] = False,
    verbose: Annotated[bool, typer.Option("-v", "--verbose", help="Keys, tokens and hashes.")] = False,
) -> None:
    """Why a morning is where it is. Exit 0: ready or not yet due; 1: not."""
    from matins import settings
    from matins.cli import recorded, telling
    from matins.cli.connection import ledger
    from matins.cli.source_words import NETWORK_FRESH
    from matins.cli.times import parse_day
    from matins.ledger import decision, standing, today
    from matins.rules.errors import NoSuchRow
    from matins.rules.verdict import State, state

    chosen = settings.load()
    with ledger(chosen) as conn:
        day = parse_day(on) if on else today.today(conn, owner)
        found = standing.mornings(conn, day, owner=owner)
        if not found:
            planned = "matins sweep plans today's" if day == today.today(conn, owner) else "only today's is planned"
            raise NoSuchRow(f"nothing is recorded for {owner} on {day.isoformat()}; {planned}")
        morning = found[0]
        lines = recorded.lines(morning, standing.evidence(conn, morning))
        checked, _ = standing.last_check(conn)
        network = next((one.reason for one in decision.of(conn, "network", within=NETWORK_FRESH)), "")
    following = telling.following(morning, checked=checked, every=chosen.sweep_every)
    if as_json:
        typer.echo(json.dumps(_document(morning, following, lines, network), indent=1))
    else:
        typer.echo(_page(morning, following, lines, network=network, verbose=verbose))
    if state(morning) not in (State.READY, State.DUE, State.NOT_YET):
        raise typer.Exit(1)


def _page(morning: Morning, following: str, lines: list[dict[str, Any]], *, network: str, verbose: bool) -> str:
    from datetime import date

    from matins.cli.telling import first_missing
    from matins.cli.times import clock, long_day
    from matins.rules.verdict import State, since, state

    day = long_day(date.fromisoformat(morning.local_date))
    head = f"{morning.owner}'s morning, {day} ({morning.zone}), seen at {clock(morning.now, morning.zone)}"
    now = state(morning)
    if now is State.READY:
        verdict = [f"  READY {clock(since(morning), morning.zone)}. {following.removeprefix('Nothing. ')}"]
    else:
        verdict = [f"  {now.value}.  First missing: {first_missing(morning)}.", *_wrapped("  Next:  ", following)]
    if network:
        verdict += _wrapped("  Also:  ", f"{network[:1].upper()}{network[1:]}. No source's tries are used up by that.")
    told = [_line(morning, line, verbose=verbose) for line in lines]
    return "\n".join([*textwrap.wrap(head, _WIDTH), "", *verdict, "", *told, "", _more(morning, verbose=verbose)])


def _wrapped(lead: str, text: str) -> list[str]:
    first, *rest = textwrap.wrap(text, _WIDTH - len(lead))
    return [lead + first, *(" " * len(lead) + more for more in rest)]


def _line(morning: Morning, line: dict[str, Any], *, verbose: bool) -> str:
    from matins.cli.times import second

    lead = f"  {second(line['at'], morning.zone)}  {line['act']:<9} "
    first, *rest = textwrap.wrap(line["what"], _WIDTH - len(lead))
    told = [lead + first, *(" " * len(lead) + more for more in rest)]
    if verbose:
        token = f"token {line['token']}" if line["token"] else ""
        proof = [f"{name} {value}" for name, value in line.items() if name not in _PLAIN]
        told += [" " * len(lead) + text for text in (f"{line['event']} {token}".rstrip(), *proof)]
    return "\n".join(told)


_PLAIN = ("at", "act", "what", "event", "token")


def _more(morning: Morning, *, verbose: bool) -> str:
    if verbose:
        return f"  {morning.key}"
    return "  More: -v (keys, tokens, hashes)   --json"


def _document(morning: Morning, following: str, lines: list[dict[str, Any]], network: str) -> dict[str, Any]:
    from matins.cli.telling import first_missing
    from matins.rules.verdict import state

    return {
        "owner": morning.owner,
        "local_date": morning.local_date,
        "state": state(morning).value,
        "first_missing": first_missing(morning),
        "next": following,
        "our_network": bool(network),
        "evidence": [{**line, "at": line["at"].isoformat()} for line in lines],
    }
