"""`matins wiki`: an owner's wiki, copied out of the object store into a folder that any browser can read."""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from matins.ledger.wiki_pages import Published
    from matins.providers.objects import Objects
    from matins.settings import Settings

AT_ONCE = 8
"""How many objects are asked for together."""


def register(app: typer.Typer) -> None:
    """Add this command."""
    app.command()(wiki)


def wiki(
    owner: Annotated[str, typer.Argument(help="Whose wiki.")],
    to: Annotated[Path | None, typer.Option("--to", metavar="DIR", help="Where to; default: data/wiki/OWNER.")] = None,
) -> None:
    """Copy an owner's wiki into a folder. Exit 1: some of it is missing; 3: the object store does not answer."""
    from matins import settings
    from matins.cli.connection import ledger
    from matins.cli.telling import counted
    from matins.ledger import profile, wiki_pages
    from matins.rules.errors import ProviderUnavailable

    chosen = settings.load()
    with ledger(chosen) as conn:
        profile.current(conn, owner)
        pages = wiki_pages.published(conn, owner)
    if not pages:
        typer.echo(f"{owner}'s wiki has no pages yet: they come with the first edition that tells a story.")
        return
    folder = (to or folder_of(chosen, owner)).resolve()
    try:
        missing = copied(chosen, owner, pages, folder)
    except ProviderUnavailable as error:
        typer.echo(f"The object store does not answer ({error.message}). Start it:  matins up", err=True)
        raise typer.Exit(3) from error
    except OSError as error:
        raise typer.BadParameter(f"{folder}: cannot be written ({(error.strerror or 'no room').lower()})") from error
    late = sum(page.dirty for page in pages)
    typer.echo(f"{owner}'s wiki: {counted(len(pages), 'page')}, each as HTML and as Markdown")
    if late:
        typer.echo(f"  {late} of them not up to date yet; the five-minute check sees to it")
    typer.echo(f"  read  {folder / 'index.html'}")
    if missing:
        typer.echo(f"{counted(len(missing), 'file')} not in the object store, the first is {missing[0]}", err=True)
        raise typer.Exit(1)


def folder_of(chosen: Settings, owner: str) -> Path:
    """Where an owner's wiki is copied to, if nowhere else is asked for."""
    return chosen.data / "wiki" / owner


def copied(chosen: Settings, owner: str, pages: Sequence[Published], folder: Path) -> list[str]:
    """Copy every form of every page. Returns the keys of those that the store does not have."""
    from matins.rules.wiki import PageKind, object_key, path

    store = _store(chosen)
    files = [
        (object_key(owner, page.kind, page.id, form), folder / f"{path(PageKind(page.kind), page.id)}{form}")
        for page in pages
        for form in page.objects
    ]
    for parent in {file.parent for _, file in files}:
        parent.mkdir(parents=True, exist_ok=True)
    try:
        with ThreadPoolExecutor(AT_ONCE) as pool:
            there = list(pool.map(lambda one: _copy(store, *one), files))
    finally:
        store.close()
    return [key for (key, _), found in zip(files, there, strict=True) if not found]


def _copy(store: Objects, key: str, file: Path) -> bool:
    """Have the object's bytes in `file`. Returns False if there is no such object."""
    content = store.get(key)
    if content is None:
        return False
    beside = file.with_name(f".{file.name}.{os.getpid()}")
    beside.write_bytes(content)
    beside.replace(file)
    return True


def _store(chosen: Settings) -> Objects:
    from matins.providers.objects import Objects
    from matins.rules.errors import ProviderUnavailable

    if not chosen.s3_endpoint:
        raise ProviderUnavailable("none is running here")
    return Objects(
        chosen.s3_endpoint,
        access_key=chosen.s3_access_key,
        secret_key=chosen.s3_secret_key.get_secret_value(),
        bucket=chosen.bucket,
    )
