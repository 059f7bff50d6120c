"""What the boards list, against what they listed in the last report: new, open and gone. Pure.

A board that could not be read says nothing about its roles, and one that suddenly lists none is asked twice.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from matins.brief.openings_fit import Words
from matins.brief.openings_roles import Role, continued, groups, iso, marks
from matins.rules.openings import BoardLook, Openings

TOP = 3
"""So many of the best roles stand at the top of a first report, in which nothing is new."""

CHECKED, NOT_CHECKED, UNVERIFIED, SAYS_NONE = "checked", "not checked", "unverified", "says none"
"""The states of a board: read and believed; not reached; its first read found none; it had roles and says it has none,
which is believed when it says so again."""

_UNKNOWN: dict[str, Any] = {"listed": 0, "empties": 0, "verified": False, "others": []}


@dataclass(frozen=True, slots=True)
class _Found:
    """What the boards came to, before it is sorted."""

    new: list[Role] = field(default_factory=list)
    open: list[Role] = field(default_factory=list)
    removed: list[Role] = field(default_factory=list)
    boards: list[dict[str, Any]] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)


def report(
    previous: dict[str, Any] | None, boards: Sequence[BoardLook], wants: Openings, *, key: str, at: datetime
) -> dict[str, Any]:
    """The openings of `key` as canonical JSON can hold them; sections without a role are left out.

    `previous` is the last report of the same owner, None if there is none: then nothing is new. The counts are of
    roles; "open" counts the new ones and those that were not checked today. `at` is the instant of the looks.
    """
    words, found = Words.of(wants), _Found()
    known = {board["name"]: board for board in previous["boards"]} if previous else {}
    earlier = roles_of(previous) if previous else []
    for look in _looks(boards, wants):
        before = [role for role in earlier if role["board"] == look.name]
        _add_board(found, look, known.get(look.name, _UNKNOWN), before, words)
    told = {"new": found.new, "open": found.open, "removed": found.removed}
    sections = {name: sorted(roles, key=_order) for name, roles in told.items() if roles}
    first = {"top": [role["id"] for role in sections.get("open", [])[:TOP]]} if previous is None else {}
    return {
        "key": key,
        "at": iso(at),
        "first": previous is None,
        "counts": {"new": len(found.new), "open": len(found.new) + len(found.open), "removed": len(found.removed)},
        "wants": {"titles": list(wants.titles), "places": list(wants.places), "avoid": list(wants.avoid)},
        "boards": found.boards,
        "left_out": [{"reason": reason, "count": count} for reason, count in sorted(found.left_out.items())],
        **sections,
        **first,
    }


def roles_of(document: dict[str, Any]) -> list[Role]:
    """The roles that a report says are open, the new ones first."""
    return [*document.get("new", []), *document.get("open", [])]


def _order(role: Role) -> tuple[int, str, str, str]:
    return (-role["score"], role["title"].casefold(), role["board"], role["id"])


def _looks(boards: Sequence[BoardLook], wants: Openings) -> list[BoardLook]:
    """The looks by name, with one for each board that nobody looked at: it is not forgotten."""
    looks = {look.name: look for look in boards}
    for board in wants.boards:
        looks.setdefault(board.name, BoardLook(board.name, False, "nobody looked", None, ()))
    return [look for _, look in sorted(looks.items())]


def _state(look: BoardLook, known: dict[str, Any]) -> tuple[str, int]:
    """The state of a board, and how many of its answers in a row were empty."""
    if not look.reached:
        return NOT_CHECKED, known["empties"]
    if look.postings:
        return CHECKED, 0
    empties = known["empties"] + 1
    if empties > 1:
        return CHECKED, empties
    return (SAYS_NONE if known["listed"] else UNVERIFIED), empties


def _add_board(found: _Found, look: BoardLook, known: dict[str, Any], before: list[Role], words: Words) -> None:
    state, empties = _state(look, known)
    believed = state == CHECKED
    first = believed and not known["verified"]  # by this owner's reports, whoever else reads the board
    listed = groups(look) if believed else []
    others: set[str] = set() if believed else set(known["others"])
    roles, gone = continued(listed, before) if believed else ([], [])
    seen_before = set(known["others"])
    judged = [(role, was or first or bool(group.marks & seen_before)) for group, role, was in roles]
    judged += [(role | {"checked": False}, True) for role in before if not believed]
    yours = 0
    for role, is_old in judged:
        fit = words.fit(role["title"], role["places"])
        if fit.asked_for:
            yours += 1
            (found.open if is_old else found.new).append(role | {"why": fit.why, "score": fit.score})
        else:
            found.left_out[fit.why] += 1
            others |= marks(role["content"], role["events"])
    found.removed.extend(
        role | {"checked": True} for role in gone if words.fit(role["title"], role["places"]).asked_for
    )
    found.boards.append(
        {
            "name": look.name,
            "state": state,
            "reason": look.reason,
            "since": iso(look.since) if look.since else None,
            "first": first,
            "listed": len(listed) if believed else known["listed"],
            "yours": yours,
            "empties": empties,
            "verified": believed or known["verified"],
            "others": sorted(others),
        }
    )
