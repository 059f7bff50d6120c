"""`matins morning`: today for the one owner, or the demo, with live progress; and a crash at the worst moment."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import date

    from matins.local.runtime import Runtime

DEMO = "demo"
REAL_FEEDS = (
    ("Hacker News", "https://hnrss.org/frontpage"),
    ("LWN", "https://lwn.net/headlines/rss"),
    ("NASA", "https://www.nasa.gov/news-release/feed/"),
)


def register(app: typer.Typer) -> None:
    """Add this command."""
    app.command()(morning)


def morning(
    owner: Annotated[str, typer.Argument(metavar="[OWNER]", help="Whose; default: the one owner, or the demo.")] = "",
    real_feeds: Annotated[bool, typer.Option("--real-feeds", help="The demo reads three public feeds too.")] = False,
    crash: Annotated[
        str,
        typer.Option(
            "--crash",
            metavar="POINT",
            help="Kill the worker there, and watch it recover: read, write, publish, send, see or wiki.",
        ),
    ] = "",
) -> None:
    """Run today's morning and watch it. Exit 0 when it is ready."""
    from matins import settings
    from matins.cli import crash as story
    from matins.cli.connection import ledger
    from matins.local import runtime, watch
    from matins.rules.errors import Refused

    if crash and crash not in story.CRASHES:
        raise typer.BadParameter(f'there is no crash "{crash[:30]}"; choose from: {", ".join(story.CRASHES)}')
    if crash and owner:
        raise typer.BadParameter("--crash runs a demo owner of its own; leave the owner out")
    chosen = settings.load()
    chosen.limits()
    if crash and chosen.is_given("smtp_url"):
        raise Refused(
            "--crash makes a demo owner whose mail must not leave this machine, and a mail server of yours is set. "
            "Try it in another clone, or with another MATINS_DATA and MATINS_CONFIG"
        )
    say = _once_each()
    running = runtime.up(chosen, say=say, with_worker=False)
    with ledger_after_migration(running) as conn:
        who = DEMO if crash else _whose(conn, owner)
    demo = who == DEMO
    running = runtime.up(chosen, say=say, with_feeds=demo)
    watch.start(chosen)
    with ledger(running.settings) as conn:
        if crash:
            raise typer.Exit(story.tell(conn, running, name=crash))
        if demo:
            arrange_demo(conn, running, who, real_feeds=real_feeds)
        raise typer.Exit(_run(conn, running, who))


def _once_each() -> Callable[[str], None]:
    """Says a line for each part, once: the ledger is asked whose morning it is before the worker starts."""
    said: set[str] = set()

    def say(line: str) -> None:
        part = line.split()[0] if line.strip() else ""
        if part not in said:
            said.add(part)
            typer.echo(line)

    return say


def ledger_after_migration(running: Runtime) -> Any:
    """A connection to the ledger, brought up to date first."""
    from matins.cli.connection import ledger
    from matins.ledger.migrate import migrate

    migrate(running.settings.postgres_dsn)
    return ledger(running.settings)


def _whose(conn: Any, owner: str) -> str:
    from matins.ledger import profile

    if owner:
        if owner != DEMO:
            profile.current(conn, owner)
        return owner
    own = [name for name in profile.owners(conn) if name != DEMO and not name.startswith("crash-")]
    if len(own) > 1:
        raise typer.BadParameter(f"there are {len(own)} owners; say whose: {', '.join(own[:10])}")
    return own[0] if own else DEMO


def arrange_demo(conn: Any, running: Runtime, owner: str, *, real_feeds: bool = False) -> None:
    """Give `owner` the demo's profile and its nine sources, served on this machine."""
    import tomllib

    from matins.demo import boards, feeds
    from matins.ledger import profile, source
    from matins.local import runtime
    from matins.rules.profile import parse
    from matins.sources.address import canonical_url

    raw = tomllib.loads(feeds.PROFILE)
    raw["owner"] = owner
    raw["openings"] = boards.openings(runtime.feeds_url(running.settings.data))
    raw["destinations"] = [{**one, "address": f"{owner}@localhost.localdomain"} for one in raw["destinations"]]
    profile.apply(conn, parse(raw, where="the demo"))
    for name, url in feeds.sources(runtime.feeds_url(running.settings.data)):
        source.add(conn, owner, url=canonical_url(url), name=name)
    for name, url in REAL_FEEDS if real_feeds else ():
        source.add(conn, owner, url=canonical_url(url), name=name)


def _run(conn: Any, running: Runtime, owner: str) -> int:
    from matins.cli import progress
    from matins.cli.connection import orchestrator
    from matins.cli.times import short_day
    from matins.ledger import obligation, standing, today
    from matins.rules.verdict import State, state

    key = today.ask(conn, owner)
    day: date = today.today(conn, owner)
    found = standing.mornings(conn, day, owner=owner)[0]
    if state(found) is State.READY:
        typer.echo(progress.again(conn, running.settings, found))
        return 0
    if state(found) is State.MISSED and obligation.next_move(conn, key).done:
        typer.echo(f"{owner}'s morning of today is over:  matins why {owner}")
        return 1
    whose = "The demo's morning" if owner == DEMO else f"{owner}'s morning"
    place = found.zone.rpartition("/")[2].replace("_", " ")
    typer.echo(f"\n{whose}, {short_day(day)}, {place}")
    if owner == DEMO:
        typer.echo("  (nine invented stories, served on this machine)")
    with orchestrator(running.settings) as temporal:
        temporal.start("obligation", key)
    ended = progress.watch(conn, owner, day)
    typer.echo(progress.ending(conn, running.settings, ended))
    return 0 if state(ended) is State.READY else 1
