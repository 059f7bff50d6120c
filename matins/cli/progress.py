"""A morning while it is made, line by line from the ledger, and what it leaves to read."""

from __future__ import annotations

import json
import shutil
import textwrap
import time
from collections.abc import Callable, Collection
from contextlib import suppress
from datetime import date
from pathlib import Path
from typing import Any

import typer

from matins.brief.openings_render import rendered
from matins.cli.telling import counted, coverage, first_missing, lacking, mail, openings, wiki, written
from matins.cli.times import second
from matins.cli.wiki import copied, folder_of
from matins.ledger import action, edition, standing, wiki_pages
from matins.ledger import openings as openings_report
from matins.ledger.message import envelope
from matins.rules import plans
from matins.rules.errors import ProviderUnavailable
from matins.rules.verdict import Morning, State, gave_up, missing, since, state
from matins.settings import Settings

EVERY = 0.1
PATIENCE = 600.0
"""Seconds that `matins morning` watches; the morning itself goes on without it."""
_WIDTH = 80


def proved(conn: Any, found: Morning) -> frozenset[str]:
    """The pieces that are proved so far, for a watch that goes on from here."""
    return frozenset(piece for piece, _ in _pieces(conn, found))


def watch(
    conn: Any,
    owner: str,
    day: date,
    *,
    until: Callable[[Morning], bool] | None = None,
    told: Collection[str] = (),
) -> Morning:
    """Print each piece as it comes, but those of `told`, until the morning is ready, given up or held, or `until` says
    so. Returns the morning as it is then.
    """
    began = last = time.monotonic()
    told = set(told)
    while True:
        found = standing.mornings(conn, day, owner=owner)[0]
        for piece, text in _pieces(conn, found):
            if piece not in told:
                told.add(piece)
                now = time.monotonic()
                typer.echo(_line(piece, text, now - last))
                last = now
        over = state(found) in (State.READY, State.HELD, State.MISSED) or gave_up(found)
        if over or (until and until(found)) or time.monotonic() - began > PATIENCE:
            return found
        time.sleep(EVERY)


def _line(piece: str, text: str, seconds: float) -> str:
    first, *rest = [line for part in text.split("\n") for line in textwrap.wrap(part, 56) or [""]]
    head = f"  {piece:<10} {first:<57} {seconds:>6.1f} s"
    return "\n".join([head, *(f"  {'':<10} {line}" for line in rest)])


def _pieces(conn: Any, found: Morning) -> list[tuple[str, str]]:
    """(what, how it went) of everything that is proved so far, in order."""
    pieces = []
    cover, facts = found.coverage, found.facts
    if cover:
        read = f"{coverage(found)}, {counted(cover['new'], 'new item')}"
        lacks = [f"{words}: {source}" for words, sources in lacking(found).items() for source in sources]
        pieces.append(("read", "\n".join([read, *lacks])))
    if found.edition_kind:
        pieces.append(("write", written(found)))
    if facts.get("stories"):
        checked = f"{counted(facts['links'], 'link')}, {counted(facts['numbers'], 'number')}, "
        checked += f"{counted(facts['quotations'], 'quotation')}: all in the sources"
        pieces.append(("check", checked))
    if found.published_at:
        pieces.append(("publish", f"{counted(len(_files(conn, found.key)), 'file')}, read back"))
    if found.continuation_status and plans.JOBS not in missing(found):
        pieces.append(("openings", openings(found)))
    if found.continuation_status == "done" and found.pages:
        pieces.append(("wiki", wiki(found)))
    pieces += [(_sending(one), _sent(found, one)) for one in found.messages if one.proved]
    pieces += [("waits", mail(one)) for one in found.messages if one.reason and not one.proved]
    return pieces


def _sending(one: Any) -> str:
    """What a mail's line is called: the edition's is the morning's."""
    return "send" if one.kind == plans.BRIEF else f"send {one.kind}"


def _sent(found: Morning, one: Any) -> str:
    accepted = f"accepted {second(one.accepted_at, found.zone)}"
    if one.observed_at is None:
        return f"{accepted}; {mail(one)}"
    where = "the inbox" if one.placement == "inbox" else one.placement
    return f"{accepted}, seen in {where} {second(one.observed_at, found.zone)}"


def ending(conn: Any, settings: Settings, found: Morning) -> str:
    """What one sees last: the word, the headlines, and where to read on."""
    if state(found) is not State.READY:
        return f"\n{state(found).value}. First missing: {first_missing(found)}.\n  matins why {found.owner}"
    return "\n".join(
        [
            f"\nREADY {second(since(found), found.zone)}",
            "",
            *_headlines(conn, found),
            "",
            *_where(conn, settings, found),
        ]
    )


def again(conn: Any, settings: Settings, found: Morning) -> str:
    """What a second run on the same day says."""
    at = second(since(found), found.zone)[:5]
    where = _where(conn, settings, found)[:1]
    return "\n".join(
        [f"Today's morning for {found.owner} was ready at {at}. Nothing was run again.", *where,
         f"  state   matins why {found.owner}"]
    )  # fmt: skip


def _headlines(conn: Any, found: Morning) -> list[str]:
    draft = json.loads(edition.find(conn, found.key).draft)
    told = [story["headline"] for story in draft["stories"]] or [draft["headline"]]
    lines = [f"  {textwrap.shorten(one, 76, placeholder='…')}" for one in told[:3]]
    more = f"+ {len(told) - 3} more, " if len(told) > 3 else ""
    unseen = len(found.coverage.get("unseen", []))
    missed = f" Not seen today: {counted(unseen, 'source')}." if unseen else ""
    return [*lines, f"  {more}{counted(draft['minutes'], 'minute')} to read.{missed}"]


def _where(conn: Any, settings: Settings, found: Morning) -> list[str]:
    folder = export(conn, settings, found)
    page = f"  read    {_short(folder / 'index.html')}"
    lines = [page, f"  mail    {_short(folder / 'mail.html')}  (as sent: mail.eml)"]
    if found.openings:
        lines.append(f"  roles   {_short(folder / 'openings.html')}")
    if wiki_page := _wiki(conn, settings, found):
        lines.append(f"  wiki    {_short(wiki_page)}")
    if settings.temporal_ui:
        lines.append(f"  inside  {settings.temporal_ui}  (Temporal's own pages)")
    return [
        *lines,
        "",
        "  now try   matins morning --crash send    kill it at the worst moment",
        f"            matins why {found.owner:<19} how it came about",
        "            matins down                    stop; everything is kept",
        *([] if shutil.which("matins") else ['  first     export PATH="$PWD/bin:$PATH"   (matins is bin/matins)']),
    ]


def _wiki(conn: Any, settings: Settings, found: Morning) -> Path | None:
    """The front page of the owner's wiki, copied out of the object store; None if it has none or cannot be had now."""
    pages = wiki_pages.published(conn, found.owner)
    folder = folder_of(settings, found.owner)
    with suppress(ProviderUnavailable):
        if pages and not copied(settings, found.owner, pages, folder):
            return folder / "index.html"
    return None


def _short(path: Path) -> str:
    """The path from here, where that is shorter."""
    try:
        return str(path.relative_to(Path.cwd()))
    except ValueError:
        return str(path)


def export(conn: Any, settings: Settings, found: Morning) -> Path:
    """Write the edition's files and the mail, as frozen, below the data directory. Returns the folder."""
    folder = settings.data / "editions" / found.owner / found.local_date
    folder.mkdir(parents=True, exist_ok=True)
    for name, content_hash in _files(conn, found.key).items():
        content = action.frozen(conn, content_hash)
        if content is not None:
            (folder / name).write_bytes(content)
    for message in found.messages:
        name = "mail" if message.kind == plans.BRIEF else message.kind
        (folder / f"{name}.eml").write_bytes(envelope(conn, message.work_key).mail)
    content = openings_report.report(conn, found.key)
    for name, page in rendered(json.loads(content), zone=found.zone).items() if content else ():
        (folder / name).write_bytes(page)
    return folder


def _files(conn: Any, key: str) -> dict[str, str]:
    """Name -> hash of the published bundle's files, from its manifest."""
    bundle = edition.find(conn, key).bundle_hash
    listing = action.frozen(conn, bundle) if bundle else None
    return {one["name"]: one["sha256"] for one in json.loads(listing)["files"]} if listing else {}
