"""Roles out of postings. A role is one title, team and text on one board, whatever the provider calls its postings: the
same in several places is one role, and one that is posted again under a new id is the one that was there before.
"""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from matins.rules.canonical import hash_of, sha256
from matins.rules.openings import BoardLook, Posting

ID = 16
"""Hex digits of a role's id and of what is remembered of a role that is not asked for."""
MAX_NAMES = 20
"""Names of its places that are taken out of a role's text."""
_LAST = re.compile(r"\s*(?:\((?P<inside>[^()]+)\)|(?:\s[-–—|/]\s|,\s)(?P<after>[^,()]+))\s*$")

Role = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Group:
    """The postings of one role, as a board lists them now."""

    board: str
    content: str
    """Hash of board, title, team and text, places taken out."""
    postings: tuple[Posting, ...]

    @property
    def title(self) -> str:
        """As it is posted; without the place where the postings of one role name theirs."""
        titles = {posting.title for posting in self.postings}
        return self.postings[0].title if len(titles) == 1 else _bare(self.postings[0].title, _places(self.postings[0]))

    @property
    def places(self) -> list[str]:
        """Where it is, each place once."""
        return list(dict.fromkeys(place for posting in self.postings for place in _places(posting)))

    @property
    def events(self) -> list[str]:
        """The keys of its postings' events."""
        return sorted(posting.event_key for posting in self.postings)

    @property
    def first_seen(self) -> str:
        """When the first of its postings was first seen."""
        return iso(min(posting.first_seen_at for posting in self.postings))

    @property
    def marks(self) -> set[str]:
        """What it can be known by later."""
        return marks(self.content, self.events)

    def role(self, role_id: str, first_seen: str) -> Role:
        """The role as a report holds it, before it is judged."""
        dated = [posting.published_at for posting in self.postings if posting.published_at]
        return {
            "id": role_id,
            "content": self.content,
            "board": self.board,
            "title": self.title,
            "team": self.postings[0].team,
            "places": self.places,
            "urls": list(dict.fromkeys(posting.url for posting in self.postings if posting.url)),
            "first_seen": first_seen,
            "published": iso(min(dated)) if dated else None,
            "checked": True,
            "events": self.events,
        }


def groups(look: BoardLook) -> list[Group]:
    """The roles of a board, whatever the order of its postings."""
    found: defaultdict[str, list[Posting]] = defaultdict(list)
    for posting in sorted(look.postings, key=lambda one: (one.place.casefold(), one.identity, one.event_key)):
        found[_content(look.name, posting)].append(posting)
    return [Group(look.name, content, tuple(same)) for content, same in sorted(found.items())]


def continued(now: Sequence[Group], before: Sequence[Role]) -> tuple[list[tuple[Group, Role, bool]], list[Role]]:
    """Each group with its role and whether it was there before; and the roles of before that no group continues.

    A role goes on where its content is listed again, or one of its postings is, whatever it says now.
    """
    by_mark: defaultdict[str, list[Role]] = defaultdict(list)
    for role in before:
        for mark in [role["content"], *role["events"]]:
            by_mark[mark].append(role)
    goes_on: set[str] = set()
    taken: set[str] = set()
    roles = []
    for group in sorted(now, key=lambda one: (one.content not in by_mark, one.content)):
        earlier = [role for mark in [group.content, *group.events] for role in by_mark.get(mark, ())]
        role_id = _free([*(role["id"] for role in earlier), group.content[:ID], _own(group)], taken)
        taken.add(role_id)
        goes_on.update(role["id"] for role in earlier)
        first_seen = min([group.first_seen, *(role["first_seen"] for role in earlier)])
        roles.append((group, group.role(role_id, first_seen), bool(earlier)))
    return roles, [role for role in before if role["id"] not in goes_on]


def marks(content: str, events: Iterable[str]) -> set[str]:
    """What a role can be known by later, in short."""
    return {content[:ID], *(event[:ID] for event in events)}


def iso(at: datetime) -> str:
    """An instant as reports hold it: UTC, comparable as text."""
    return at.astimezone(UTC).isoformat(timespec="seconds")


def _own(group: Group) -> str:
    return sha256("\n".join([group.content, *group.events]).encode())[:ID]


def _free(names: Iterable[str], taken: set[str]) -> str:
    return next(name for name in names if name not in taken)


def _content(board: str, posting: Posting) -> str:
    places = _places(posting)
    said = {"title": _bare(posting.title, places), "team": posting.team, "text": _placeless(posting.text, places)}
    return hash_of({"board": board} | {name: _normal(text) for name, text in said.items()})


def _normal(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def _places(posting: Posting) -> list[str]:
    return [place for place in (piece.strip() for piece in posting.place.split(";")) if place]


def _bare(title: str, places: Sequence[str]) -> str:
    """The title without a place of its own at its end: "Engineer (Berlin)", "Engineer - Berlin", "Engineer, Berlin"."""
    last = _LAST.search(title)
    said = _normal((last["inside"] or last["after"]) if last else "")
    own = {_normal(name) for place in places for name in (place, *place.split(","))}
    return title[: last.start()] if last and last.start() and said in own else title


def _placeless(text: str, places: Sequence[str]) -> str:
    """The text without the names of the role's own places: what tells regional copies of one role apart."""
    names = {name.strip() for place in places for name in (place, *place.split(","))}
    for name in sorted(names, key=lambda one: (-len(one), one))[:MAX_NAMES]:
        if len(name) > 2:
            text = re.sub(re.escape(name), " ", text, flags=re.IGNORECASE)
    return text
