"""`matins source import` and `export`: a whole list of feeds, in the format that other readers write."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Generator, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from matins.rules.evidence import Reading
    from matins.settings import Settings
    from matins.sources.opml import Outline

AT_ONCE = 8
"""How many feeds are looked at together."""
ADDED, UNREACHED, THERE, REFUSED = "added", "added, not reached", "read already", "refused"


def register(commands: typer.Typer) -> None:
    """Add these commands."""
    commands.command("import")(import_)
    commands.command()(export)


@dataclass(frozen=True, slots=True)
class Line:
    """What became of one feed of the list."""

    result: str
    name: str
    url: str
    reason: str = ""


def import_(
    owner: Annotated[str, typer.Argument(help="For whom.")],
    file: Annotated[Path, typer.Argument(help="An OPML file, as any feed reader exports it.")],
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Look at every feed, and add none.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="For programs.")] = False,
) -> None:
    """Add the feeds of an OPML file, in its order. Exit 1: some were refused, or there are none."""
    from matins import settings
    from matins.cli.connection import ledger
    from matins.ledger import profile
    from matins.rules.errors import Refused

    chosen = settings.load()
    with ledger(chosen) as conn:
        profile.current(conn, owner)
        outlines = _outlines(file)
        if not outlines:
            raise Refused(f"{file}: there are no feeds in it; nothing was changed")
        told = []
        for line in _imported(conn, chosen, owner, outlines, dry_run=dry_run):
            told.append(line)
            if not as_json:
                typer.echo(_said(line, len(told), len(outlines)))
    if as_json:
        typer.echo(json.dumps([asdict(line) for line in told], indent=1))
    else:
        typer.echo(_summary(told, dry_run=dry_run))
    if any(line.result == REFUSED for line in told):
        raise typer.Exit(1)


def _outlines(file: Path) -> tuple[Outline, ...]:
    from matins.rules.errors import ProviderRefused
    from matins.sources.opml import MAX_BYTES, parse

    try:
        with file.open("rb") as opened:
            return parse(opened.read(MAX_BYTES + 1))
    except OSError as error:
        raise typer.BadParameter(f"{file}: cannot be read ({(error.strerror or 'no such file').lower()})") from error
    except ProviderRefused as refused:
        raise typer.BadParameter(f"{file}: {refused.message}") from refused


def _imported(conn: Any, chosen: Settings, owner: str, outlines: Sequence[Outline], *, dry_run: bool) -> Iterator[Line]:
    """One line for each outline, in their order; what could be added is added before its line comes."""
    from matins.cli.source_add import taken_names

    taken = taken_names(conn, owner)
    known = set(taken.values())
    judged: list[str | Line] = []
    for outline in outlines:
        judged.append(_judged(outline, known))
        known |= {one for one in judged[-1:] if isinstance(one, str)}
    with closing(_looks(chosen, [one for one in judged if isinstance(one, str)])) as readings:
        for outline, one in zip(outlines, judged, strict=True):
            if isinstance(one, Line):
                yield one
            else:
                yield _add(conn, owner, outline, one, next(readings), taken, dry_run=dry_run)


def _judged(outline: Outline, known: set[str]) -> str | Line:
    """The address to look at, or what is known without a look."""
    from matins.cli.source_add import refuse_board
    from matins.rules.errors import Refused
    from matins.sources.address import canonical_url

    try:
        url = canonical_url(outline.url)
        refuse_board("it", url)
    except Refused as refused:
        why = "open roles are named in the profile" if "open roles" in refused.message else refused.message
        return Line(REFUSED, outline.title, outline.url[:200], why)
    return Line(THERE, outline.title, url) if url in known else url


def _looks(chosen: Settings, urls: Sequence[str]) -> Generator[Reading, None, None]:
    """What is at each of `urls`, in their order; nothing is waited for when it is broken off."""
    from matins.cli.source_add import fetcher
    from matins.rules.evidence import Cursor
    from matins.sources.reader import read

    looking = fetcher(chosen)
    pool = ThreadPoolExecutor(AT_ONCE)
    try:
        asked = [pool.submit(read, looking, url, cursor=Cursor()) for url in urls]
        for one in asked:
            yield one.result()
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def _add(
    conn: Any, owner: str, outline: Outline, url: str, reading: Reading, taken: dict[str, str], *, dry_run: bool
) -> Line:
    from matins.cli.source_add import host, unused_name
    from matins.ledger import source
    from matins.rules.evidence import ReadOutcome

    name = unused_name(outline.title or reading.title or host(url), taken, url)
    if reading.outcome in (ReadOutcome.INVALID, ReadOutcome.GONE):
        return Line(REFUSED, name, url, reading.reason)
    there = reading.moved_to or url
    if there in taken.values() or not (dry_run or source.add(conn, owner, url=there, name=name)):
        return Line(THERE, name, there)
    taken[name] = there
    return Line(ADDED, name, there) if reading.reached else Line(UNREACHED, name, there, reading.reason)


def _said(line: Line, number: int, of: int) -> str:
    from matins.cli.table import cut, hung

    lead = f"{number:>{len(str(of))}}/{of}  {line.result:<18}  "
    return hung(lead, f"{cut(line.name or line.url, 40)}{': ' + line.reason if line.reason else ''}")


def _summary(told: Sequence[Line], *, dry_run: bool) -> str:
    from matins.cli.telling import counted

    count = {kind: sum(line.result == kind for line in told) for kind in (ADDED, UNREACHED, THERE, REFUSED)}
    added = count[ADDED] + count[UNREACHED]
    later = f" ({count[UNREACHED]} could not be reached now)" if count[UNREACHED] else ""
    tail = f"{count[THERE]} read already, {count[REFUSED]} refused."
    if dry_run:
        return f"{counted(len(told), 'feed')}: {added} would be added{later}, {tail} Nothing was changed."
    return f"{counted(len(told), 'feed')}: {added} added{later}, {tail}"


def export(
    owner: Annotated[str, typer.Argument(help="Whose sources.")],
    file: Annotated[Path | None, typer.Argument(metavar="[FILE]", help="Where to; default: here.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite a file that is there.")] = False,
) -> None:
    """Write an owner's feeds as OPML, for any feed reader. Boards of open roles are not feeds, and left out."""
    from matins import settings
    from matins.cli.connection import ledger
    from matins.cli.telling import counted
    from matins.ledger import profile, source
    from matins.sources.opml import Outline, write

    if file is not None and file.is_file() and not force:
        raise typer.BadParameter(f"{file}: is there already; --force overwrites it")
    with ledger(settings.load()) as conn:
        profile.current(conn, owner)
        found = [one for one in source.of_owner(conn, owner) if one.purpose == source.NEWS]
    content = write([Outline(one.name, one.url) for one in found], title=f"{owner}'s sources")
    if file is None:
        sys.stdout.write(content.decode("utf-8"))
        return
    _keep(file, content)
    typer.echo(f"{counted(len(found), 'feed')} written to {file}")


def _keep(file: Path, content: bytes) -> None:
    """Have exactly `content` in `file`: the old bytes or the new ones, never a part."""
    beside = file.with_name(f".{file.name}.{os.getpid()}")
    try:
        beside.write_bytes(content)
        beside.replace(file)
    except OSError as error:
        beside.unlink(missing_ok=True)
        raise typer.BadParameter(
            f"{file}: cannot be written ({(error.strerror or 'no such place').lower()})"
        ) from error
