"""`matins profile edit`: the current profile in your editor, checked, and applied with a word about what changes."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import tempfile
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from matins.ledger.openings import Followed
    from matins.ledger.profile import Stored
    from matins.rules.profile import Profile
    from matins.settings import Settings

EDITORS = ("VISUAL", "EDITOR")
"""Variables that name an editor, the first one that is set."""
_HEAD = """\
# {owner}'s profile {version}. Save and close: it is checked, and applied.
# What each line means is in README.md, under "Make it yours".

"""


def register(commands: typer.Typer) -> None:
    """Add this command."""
    commands.command()(edit)


def edit(owner: Annotated[str, typer.Argument(help="Whose profile.")]) -> None:
    """Edit an owner's profile in $VISUAL or $EDITOR. What cannot be is said, and nothing typed is lost."""
    from matins import settings
    from matins.cli.connection import ledger
    from matins.ledger import profile

    with ledger(settings.load()) as conn:
        stored = profile.current(conn, owner)
        editor = _editor(owner)
        file = _written(owner, stored)
        before = file.read_bytes()
        found = _edited(editor, file, owner)
        if file.read_bytes() == before or found.hash == stored.hash:
            typer.echo(f"{owner}: nothing changed")
        else:
            _apply(conn, stored, found, file)
            warn(found, settings.load())
        file.unlink()


def _editor(owner: str) -> list[str]:
    """The editor's command line. Refuses if none is named."""
    named = next((os.environ[name] for name in EDITORS if os.environ.get(name)), "")
    try:
        words = shlex.split(named)
    except ValueError:
        words = []
    if not words:
        raise typer.BadParameter(
            f"no editor is named: set EDITOR, as in  EDITOR=nano matins profile edit {owner}  or write a file and "
            "matins profile apply FILE"
        )
    return words


def _written(owner: str, stored: Stored) -> Path:
    """A file of its own, that only its owner can read, with the profile in it."""
    from matins.cli.profile_words import toml

    handle, name = tempfile.mkstemp(prefix=f"matins-{owner}-", suffix=".toml")
    with os.fdopen(handle, "w", encoding="utf-8") as opened:
        opened.write(_HEAD.format(owner=owner, version=stored.version) + toml(stored.document))
    return Path(name)


def _edited(editor: list[str], file: Path, owner: str) -> Profile:
    """The profile as it was edited, over and over as long as it cannot be and somebody is there to mend it."""
    from matins.cli.profile import read
    from matins.rules.errors import ProfileRefused

    while True:
        _open(editor, file)
        try:
            found: Profile = read(file)
            if found.owner != owner:
                raise ProfileRefused(f'{file}: is {owner}\'s profile; owner = "{found.owner}" is another one')
            return found
        except ProfileRefused as refused:
            if not (sys.stdin.isatty() and _again(refused.message)):
                raise ProfileRefused(f"{refused.message}. {_kept(file)}") from refused


def _open(editor: list[str], file: Path) -> None:
    from matins.rules.errors import ProfileRefused

    try:
        ended = subprocess.run([*editor, str(file)], check=False)
    except OSError as error:
        raise ProfileRefused(f"{editor[0]} cannot be started ({error.strerror}). {_kept(file)}") from error
    except KeyboardInterrupt:
        typer.echo(_kept(file), err=True)
        raise
    if ended.returncode:
        raise ProfileRefused(f"{editor[0]} ended with {ended.returncode}; nothing is applied. {_kept(file)}")


def _again(refusal: str) -> bool:
    typer.echo(refusal, err=True)
    return typer.confirm("Edit again?", default=True)


def _kept(file: Path) -> str:
    return f"What you typed is in {file}; when it is mended:  matins profile apply {shlex.quote(str(file))}"


def _apply(conn: Any, stored: Stored, found: Profile, file: Path) -> None:
    from matins.ledger import profile
    from matins.rules.errors import ProfileRefused

    if profile.current(conn, found.owner).version != stored.version:
        raise ProfileRefused(f"{found.owner}: another profile was applied meanwhile. {_kept(file)}")
    take_over(conn, found)


def take_over(conn: Any, found: Profile) -> None:
    """Apply a profile, follow its boards, and say what changes and from which day on."""
    from matins.ledger import profile

    ended = _is_ended(conn, found.owner)
    applied = profile.apply(conn, found)
    _follow(conn, found)
    named = f"{found.owner}: profile {applied.version}"
    if not applied.changed:
        typer.echo(f"{named} says what it said before; nothing changed")
        return
    before = applied.version - 1
    typer.echo(f"{named} applied" + (f", {_from_when(conn, found.owner, before)}" if before else ""))
    if before:
        _tell_changes(profile.version(conn, found.owner, before).document, found.document(), ended=ended)
    if not found.destinations:
        typer.echo("  no destination: nothing will be mailed")


def _is_ended(conn: Any, owner: str) -> bool:
    from matins.ledger import profile
    from matins.rules.errors import ProfileMissing

    try:
        return profile.current(conn, owner).ended_at is not None
    except ProfileMissing:
        return False


def _follow(conn: Any, found: Profile) -> None:
    """Have the boards that a profile names among its owner's sources, and no others."""
    from matins.ledger import openings

    boards: list[Followed] = []
    if found.openings:
        from activities.openings import followed

        boards = followed(found.openings.boards)
    openings.follow(conn, found.owner, boards)


def warn(found: Profile, chosen: Settings) -> None:
    """Say it, in one line, where a profile asks for a proof that nobody can bring."""
    if chosen.imap_url.get_secret_value() or not chosen.smtp_url.get_secret_value():
        return
    if names := [one.name for one in found.destinations if one.proof == "mailbox"]:
        typer.echo(
            f'{found.owner}: {", ".join(names)}: proof = "mailbox", but no mailbox is watched: set imap_url, or '
            'proof = "none"',
            err=True,
        )


def _tell_changes(before: dict[str, Any], after: dict[str, Any], *, ended: bool) -> None:
    from matins.cli.profile_words import changes
    from matins.cli.table import hung

    told = changes(before, after)
    for line in told:
        typer.echo(hung("  ", line))
    feeds = "none: nothing was owed any more; add them again" if ended else "as before"
    boards = ""
    if any(line.startswith(("openings", "board")) for line in told):
        boards = f"; its boards are {'followed from now on' if 'openings' in after else 'not followed any more'}"
    typer.echo(f"  feeds: {feeds}{boards}")


def _from_when(conn: Any, owner: str, before: int) -> str:
    """From which day on it counts: a day that is planned keeps the profile it was planned with."""
    from matins.cli.times import short_day
    from matins.ledger import standing, today

    day = today.today(conn, owner)
    if standing.mornings(conn, day, owner=owner):
        return f"from {short_day(day + timedelta(days=1))} on; today keeps profile {before}"
    return f"from today, {short_day(day)}, on"
