"""Which of an owner's sources a person means: by name, by address, or by the beginning of either."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from matins.rules.errors import Refused

if TYPE_CHECKING:
    from matins.ledger.source import Subscribed

_NAMED = 8
"""How many candidates a refusal names."""
_BOARDS = "openings at "
"""How the name of a board begins among the sources."""


def meant(conn: Any, owner: str, wanted: str) -> Subscribed:
    """The owner's source that `wanted` means. Raises ProfileMissing, or Refused naming what it could mean."""
    from matins.ledger import profile, source

    profile.current(conn, owner)
    return choose(source.of_owner(conn, owner), owner, wanted)


def choose(found: Sequence[Subscribed], owner: str, wanted: str) -> Subscribed:
    """The one of `found` that `wanted` means: a whole name or address first, then the beginning of one. A board may be
    called as its profile calls it.

    Raises Refused when it means none of them, or several.
    """
    text = " ".join(wanted.split()).casefold()
    board = f"{_BOARDS}{text}"
    ways: tuple[Callable[[Subscribed], bool], ...] = (
        lambda one: one.name == wanted or one.url == wanted,
        lambda one: text in (one.name.casefold(), one.url.casefold(), _bare(one.url)),
        lambda one: one.name.casefold() == board,
        lambda one: any(known.startswith(text) for known in (one.name.casefold(), one.url.casefold(), _bare(one.url))),
        lambda one: one.name.casefold().startswith(board),
    )
    for way in ways if text else ():
        if fits := [one for one in found if way(one)]:
            if len(fits) == 1:
                return fits[0]
            raise Refused(f'{owner}: "{wanted[:60]}" could be {_names(fits, "or")}; write more of it')
    if not found:
        raise Refused(f"{owner} reads nothing yet. Add a source:  matins source add {owner} ADDRESS")
    raise Refused(f'{owner} reads no source called "{wanted[:60]}". There are: {_names(found, "and")}')


def _bare(url: str) -> str:
    return url.casefold().partition("://")[2].removeprefix("www.")


def _names(found: Sequence[Subscribed], joint: str) -> str:
    names = [one.name for one in found[:_NAMED]]
    if len(found) > _NAMED:
        return f"{', '.join(names)} {joint} {len(found) - _NAMED} more"
    return f" {joint} ".join(filter(None, [", ".join(names[:-1]), names[-1]]))
