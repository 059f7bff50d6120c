"""`matins owed`: what is owed on a date, to everyone, and how far it got."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from datetime import date, datetime

    from matins.ledger.standing import Lives
    from matins.rules.verdict import Morning


def register(app: typer.Typer) -> None:
    """Add this command."""
    app.command()(owed)


def owed(
    on: Annotated[str, typer.Option("--date", help="Another date, as 2026-11-30; default: each owner's today.")] = "",
    as_json: Annotated[bool, typer.Option("--json", help="For programs.")] = False,
    verbose: Annotated[bool, typer.Option("-v", "--verbose", help="Keys, tokens and references.")] = False,
) -> None:
    """What is owed, how far it got, and what waits for you. Exit 0: all well or not yet due; 1: not."""
    from matins import settings
    from matins.cli.connection import ledger
    from matins.cli.source_words import NETWORK_FRESH
    from matins.cli.times import ago, parse_day
    from matins.ledger import decision, standing
    from matins.rules.verdict import State, state

    day = parse_day(on) if on else None
    chosen = settings.load()
    with ledger(chosen) as conn:
        lives = standing.owners(conn)
        zones = {owner: one.zone for owner, one in lives.items()}
        refused = standing.cannot(conn, list(zones))
        checked, now = standing.last_check(conn)
        mornings = _mornings(conn, zones, day, now)
        network = decision.of(conn, "network", within=NETWORK_FRESH)
    viewer = _viewer(zones)
    shown = day or _today(now, viewer)
    if as_json:
        typer.echo(json.dumps(_document(shown, mornings), indent=1))
    else:
        planned = {one.owner for one in mornings}
        unplanned = [] if day else [one for one in lives.values() if one.owner not in {*planned, *refused}]
        typer.echo(_page(shown, viewer, now, mornings, _unplanned(unplanned, now), refused, checked, verbose=verbose))
        if network:
            typer.echo(f"\n{network[0].reason.capitalize()}.")
    overdue = checked is not None and checked > 2 * chosen.sweep_every
    if overdue and not as_json:
        typer.echo(f"\nNothing moves here: the last check was {ago(checked or 0)}. Start it:  matins up --detach")
    well = {State.READY, State.DUE, State.NOT_YET}
    if refused or overdue or any(state(one) not in well for one in mornings):
        raise typer.Exit(1)


def _unplanned(lives: list[Lives], now: datetime) -> dict[str, str]:
    """Owner -> why there is no row of today yet."""
    return {
        one.owner: "today was over before there was a profile; the next day is owed"
        if one.too_late(now)
        else "not planned yet; the next check does it"
        for one in lives
    }


def _viewer(zones: dict[str, str]) -> str:
    """The zone that most owners live in; one that the table does not know counts for nothing."""
    from matins.rules import calendar

    known = Counter(zone for zone in zones.values() if calendar.is_known(zone))
    return known.most_common(1)[0][0] if known else "UTC"


def _today(now: datetime, zone: str) -> date:
    from matins.rules import calendar

    return calendar.local_date(now, zone) if calendar.is_known(zone) else now.date()


def _mornings(conn: Any, zones: dict[str, str], day: date | None, now: datetime) -> list[Morning]:
    from matins.ledger import standing

    if day is not None:
        return standing.mornings(conn, day)
    found = []
    for today in sorted({_today(now, zone) for zone in zones.values()}):
        owners = {owner for owner, zone in zones.items() if _today(now, zone) == today}
        found += [one for one in standing.mornings(conn, today) if one.owner in owners]
    return sorted(found, key=lambda one: one.owner)


def _page(
    day: date,
    viewer: str,
    now: datetime,
    mornings: list[Morning],
    unplanned: dict[str, str],
    refused: dict[str, str],
    checked: float | None,
    *,
    verbose: bool,
) -> str:
    from matins.cli.table import rows
    from matins.cli.telling import reported, standing
    from matins.cli.times import ago, clock, long_day, place
    from matins.rules.verdict import State, openings_state, since, state

    head = f"{long_day(day)}, seen from {place(viewer)} at {clock(now, viewer)}"
    table: list[tuple[str, ...]] = [("OWNER", "WHAT", "STATE", "SINCE", "WHERE IT STANDS")]
    for one in mornings:
        stands = standing(one, viewer=viewer)
        table.append((one.owner, one.product, state(one).value, clock(since(one), viewer), stands))
        if one.openings:
            word = openings_state(one).value
            table.append((one.owner, "openings", word, clock(one.reported_at, viewer), reported(one)))
    table += [(owner, "-", "NOT YET", "", why) for owner, why in unplanned.items()]
    table += [(owner, "-", "CANNOT", "", why) for owner, why in refused.items()]
    due = [one for one in mornings if state(one) is not State.NOT_YET]
    ready = sum(state(one) is State.READY for one in due)
    last = f"Last check {ago(checked)}." if checked is not None else "No check has run yet."
    tail = f"{ready} of {len(due)} due {'is' if ready == 1 else 'are'} ready.  {last}"
    if len(table) == 1:
        nothing = "Nothing is owed to anybody on this date."
        if day > _today(now, viewer):
            nothing = "Nothing is planned for this date yet: a day is owed from its first minute on."
        return f"{head}\n\n{nothing}\n\n{last}"
    parts = [head, rows(table), tail, _for_you(mornings, refused)]
    if verbose:
        parts.append(_verbose(mornings))
    return "\n\n".join(part for part in parts if part)


def _for_you(mornings: list[Morning], refused: dict[str, str]) -> str:
    from matins.cli.telling import first_missing
    from matins.rules.verdict import State, state

    told = []
    for one in mornings:
        if state(one) is State.HELD:
            told.append(f"{one.owner}'s mail may have been sent. Look whether it came:  matins why {one.owner}")
        elif state(one) in (State.LATE, State.MISSED):
            told.append(f"{one.owner}: missing {first_missing(one)}.  matins why {one.owner}")
    told += [f"{owner}: {why}" for owner, why in refused.items()]
    return "\n".join(["For you", *(f"  {number}  {text}" for number, text in enumerate(told, 1))]) if told else ""


def _verbose(mornings: list[Morning]) -> str:
    told = []
    for one in mornings:
        told.append(f"{one.key}  {one.status}  token {one.token or '-'}")
        for step in one.steps:
            told.append(f"  {step.step:<9} {step.status:<10} tries {step.attempts}  {step.provider or '-'}")
            told += [f"    {step.reference}"] if step.reference else []
        for message in one.messages:
            told.append(f"  {message.work_key}  {message.status}  {message.provider or '-'}")
            told += [f"    {message.reference}"] if message.reference else []
    return "\n".join(told)


def _document(day: date, mornings: list[Morning]) -> dict[str, Any]:
    return {"date": day.isoformat(), "owed": [_one(morning) for morning in mornings]}


def _one(morning: Morning) -> dict[str, Any]:
    from matins.rules.verdict import missing, state

    return {
        "key": morning.key,
        "owner": morning.owner,
        "product": morning.product,
        "local_date": morning.local_date,
        "status": morning.status,
        "state": state(morning).value,
        "token": morning.token,
        "attempts": morning.steps[0].attempts,
        "steps": [
            {
                "step": step.step,
                "status": step.status,
                "provider": step.provider,
                "reference": step.reference,
                "attempts": step.attempts,
            }
            for step in morning.steps
        ],
        "messages": [
            {
                "kind": message.kind,
                "channel": message.channel,
                "destination": message.destination,
                "status": message.status,
                "provider": message.provider,
                "reference": message.reference,
                "mechanism": message.mechanism,
                "placement": message.placement,
            }
            for message in morning.messages
        ],
        "openings": morning.openings or None,
        "pages": morning.pages,
        "pages_due": morning.pages_due,
        "missing": missing(morning),
    }
