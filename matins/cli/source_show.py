"""`matins source show`: one source, how it is read, and what to do about it."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from matins.cli.source_words import Viewer
    from matins.ledger.decision import Decision
    from matins.ledger.source import Subscribed
    from matins.ledger.source_facts import Facts, Kept
    from matins.ledger.window import Run, UnreadWindow


def register(commands: typer.Typer) -> None:
    """Add this command."""
    commands.command()(show)


@dataclass(frozen=True, slots=True)
class _Seen:
    one: Subscribed
    facts: Facts
    runs: list[Run]
    unread: list[UnreadWindow]
    warnings: list[Decision]
    latest: list[Kept]


def show(
    owner: Annotated[str, typer.Argument(help="Whose source.")],
    name: Annotated[str, typer.Argument(help="Its name or address, or the beginning of one.")],
    as_json: Annotated[bool, typer.Option("--json", help="For programs.")] = False,
) -> None:
    """One source: where it is read, how that went, what it gave, and when it is read next."""
    from matins import settings
    from matins.cli.connection import ledger
    from matins.cli.naming import meant
    from matins.cli.source_words import viewer

    with ledger(settings.load()) as conn:
        one = meant(conn, owner, name)
        seen = viewer(conn, owner)
        found = _look(conn, one)
    typer.echo(json.dumps(_document(found, seen), indent=1) if as_json else _page(owner, found, seen))


def _look(conn: Any, one: Subscribed) -> _Seen:
    from matins.ledger import decision, source_facts, window

    return _Seen(
        one,
        facts=source_facts.facts(conn, one.key),
        runs=window.runs(conn, one.key),
        unread=window.unread(conn, one.key),
        warnings=decision.of(conn, f"source/{one.key}"),
        latest=source_facts.latest(conn, one.key),
    )


def _page(owner: str, found: _Seen, seen: Viewer) -> str:
    from matins.cli import source_words as words
    from matins.cli.table import hung
    from matins.cli.telling import counted
    from matins.cli.times import clock

    one, facts = found.one, found.facts
    head = f"{one.name}, read for {owner} ({seen.zone}), seen at {clock(seen.now, seen.zone)}"
    shared = f"; {counted(facts.readers, 'owner')} read it" if facts.readers > 1 else ""
    last = f", {one.items_read} in it at the last whole read" if one.settled_at else ""
    kept = f"{counted(facts.events, 'item')} kept{last}{shared}"
    lines = [
        *words.address(one, seen),
        ("items", kept),
        *_column("", [f"{seen.at(item.first_seen_at)}  {item.title}" for item in found.latest]),
        *_column("reads", [f"{_span(run, seen)}  {words.run(run)}" for run in found.runs]),
        *_column("left", [f"{seen.at(each.ended_at)}  {words.left(each)}" for each in found.unread]),
        *_column("warning", [_warning(each, seen) for each in found.warnings]),
    ]
    told = [hung("  ", words.went(one, seen)), hung("  Next:  ", words.following(one, facts, seen))]
    table = [hung(f"  {label:<8}  ", text) for label, text in lines]
    return "\n".join([hung("", head), "", *told, "", *table, *_command(owner, one, facts, seen)])


def _column(label: str, texts: list[str]) -> list[tuple[str, str]]:
    """The first text under its label, the others under it."""
    return [("" if at else label, text) for at, text in enumerate(texts)]


def _span(run: Run, seen: Viewer) -> str:
    first, last = seen.at(run.since), seen.at(run.ended_at)
    return f"{first} to {last}" if run.reads > 1 and last else last or first


def _warning(each: Decision, seen: Viewer) -> str:
    again = f"; {each.count} items since {seen.at(each.first_seen_at)}" if each.count > 1 else ""
    return f"{seen.at(each.last_seen_at)}  {each.reason}{again}"


def _command(owner: str, one: Subscribed, facts: Facts, seen: Viewer) -> list[str]:
    """What can be done about it, last, to be pasted; nothing while all is well."""
    import shlex

    name = shlex.quote(one.name)
    if one.failing_since is None and one.outcome != "partial":
        return []
    if seen.network_down and one.outcome == "unreachable":
        return []
    told = ["", "  To have it read now, with all its tries anew:", f"    matins source retry {owner} {name}"]
    if facts.attempts:
        told += ["  To leave what it has now unread:", f"    matins source skip {owner} {name} --reason WHY"]
    return told


def _document(found: _Seen, seen: Viewer) -> dict[str, Any]:
    from matins.cli.source import document

    facts = found.facts
    return {
        **document(found.one, seen),
        "attempts": facts.attempts,
        "budget": facts.budget,
        "retry_at": facts.retry_at.isoformat() if facts.retry_at else None,
        "items_kept": facts.events,
        "readers": facts.readers,
        "reads": [_plain(run) for run in found.runs],
        "unread_windows": [_plain(each) for each in found.unread],
        "warnings": [_plain(each) for each in found.warnings],
        "latest": [_plain(each) for each in found.latest],
    }


def _plain(row: Any) -> dict[str, Any]:
    return {name: value.isoformat() if isinstance(value, datetime) else value for name, value in asdict(row).items()}
