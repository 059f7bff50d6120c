"""A profile: the durable record of what an owner is owed, where and when. Read from a mapping (TOML), checked as a
whole, refused with one sentence that says what, where and what to do.
"""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass
from datetime import time
from typing import Any

from matins.rules import calendar, openings, plans
from matins.rules.canonical import hash_of
from matins.rules.check import Check
from matins.rules.errors import ProfileRefused
from matins.rules.openings import Openings

_ADDRESS = re.compile(r"[^\s@<>,;:\"\\()\[\]\x00-\x1f\x7f]+@[^\s@<>,;:\"\\()\[\]\x00-\x1f\x7f]+")
_FIELDS = frozenset(
    {"owner", "name", "zone", "window", "ready_by", "useful_until", "send_at", "products", "long", "short", "interests",
     "destinations", "openings"}
)  # fmt: skip
_DESTINATION_FIELDS = frozenset({"name", "channel", "address", "proof", "if_unknown"})
PROOFS = ("mailbox", "none")
IF_UNKNOWN = ("ask", "send_again", "let_go")


@dataclass(frozen=True, slots=True)
class Destination:
    """Where the mail goes, and what counts as proof that it came."""

    name: str
    address: str
    channel: str = "email"
    proof: str = "mailbox"
    if_unknown: str = "ask"


@dataclass(frozen=True, slots=True)
class Profile:
    """One version of an owner's profile, checked."""

    owner: str
    name: str
    zone: str
    opens: time
    closes: time
    ready_by: time
    useful_until: time
    send_at: time | None
    products: tuple[str, ...]
    long: int
    short: int
    interests: dict[str, tuple[str, ...]]
    """Topic -> words that show it; the first topics weigh most."""
    destinations: tuple[Destination, ...]
    openings: Openings | None = None
    """Which open roles are looked for and on which boards; None if none are asked for."""

    def document(self) -> dict[str, Any]:
        """The profile as canonical JSON can hold it. What is not asked for is left out, so that a field that came later
        does not change the hash of the profiles before it.
        """
        plain = asdict(self)
        for field in ("opens", "closes", "ready_by", "useful_until"):
            plain[field] = getattr(self, field).isoformat("minutes")
        plain["send_at"] = self.send_at.isoformat("minutes") if self.send_at else None
        # A list of pairs: JSON objects have no order, and the first topics weigh most.
        plain["interests"] = [[topic, list(words)] for topic, words in self.interests.items()]
        del plain["openings"]
        return plain | {"openings": self.openings.document()} if self.openings else plain

    @property
    def hash(self) -> str:
        """SHA-256 of the canonical document: applying the same profile twice changes nothing."""
        return hash_of(self.document())


def from_document(document: dict[str, Any]) -> Profile:
    """The profile that `Profile.document` wrote down."""
    plain = dict(document)
    for field in ("opens", "closes", "ready_by", "useful_until"):
        plain[field] = time.fromisoformat(plain[field])
    plain["send_at"] = time.fromisoformat(plain["send_at"]) if plain["send_at"] else None
    plain["products"] = tuple(plain["products"])
    plain["interests"] = {topic: tuple(words) for topic, words in plain["interests"]}
    plain["destinations"] = tuple(Destination(**one) for one in plain["destinations"])
    plain["openings"] = openings.from_document(plain["openings"]) if "openings" in plain else None
    return Profile(**plain)


def parse(raw: dict[str, Any], *, where: str) -> Profile:
    """The checked profile in `raw`; `where` is the file to name. Raises ProfileRefused with one sentence."""
    check = Check(str(raw.get("owner", "?"))[:40], where)
    check.known(raw, _FIELDS, "")
    owner = check.name(check.text(raw, "owner"), "owner")
    zone = check.text(raw, "zone", example='zone = "Europe/London"')
    try:
        calendar.zone(zone)
    except ProfileRefused as unknown:
        check.refuse(unknown.message.split(";")[0], 'use a name like zone = "Europe/London"')
    opens, closes = _window(check, raw)
    ready_by = _wall(check, raw, "ready_by", default=closes)
    if not opens < ready_by <= closes:
        check.refuse(f"ready_by {ready_by:%H:%M} is not inside the window", "choose a time inside the window")
    useful_until = _wall(check, raw, "useful_until", default=closes)
    if useful_until < ready_by:
        check.refuse(f"useful_until {useful_until:%H:%M} is before ready_by", "choose a later time")
    send_at = _wall(check, raw, "send_at", default=opens) if "send_at" in raw else None
    if send_at and not opens <= send_at < useful_until:
        check.refuse(f"send_at {send_at:%H:%M} is not inside the window", "choose a time inside the window")
    products = tuple(check.words(raw, "products", default=list(plans.PRODUCTS)))
    for product in products:
        if product not in plans.PRODUCTS:
            check.refuse(f'unknown product "{product[:40]}"', f"choose from: {', '.join(plans.PRODUCTS)}")
    return Profile(
        owner=owner,
        name=check.line(raw, "name", default=owner),
        zone=zone,
        opens=opens,
        closes=closes,
        ready_by=ready_by,
        useful_until=useful_until,
        send_at=send_at,
        products=products,
        long=check.count(raw, "long", default=5),
        short=check.count(raw, "short", default=4),
        interests=_interests(check, raw),
        destinations=_destinations(check, raw),
        openings=openings.parse(check, raw["openings"]) if "openings" in raw else None,
    )


def _wall(check: Check, raw: dict[str, Any], field: str, *, default: time) -> time:
    return _time(check, raw[field], field) if field in raw else default


def _window(check: Check, raw: dict[str, Any]) -> tuple[time, time]:
    value = raw.get("window", "05:00-09:00")
    first, dash, last = value.partition("-") if isinstance(value, str) else ("", "", "")
    if not dash:
        check.refuse("window is not two times", 'write window = "05:00-09:00"')
    opens, closes = _time(check, first.strip(), "window"), _time(check, last.strip(), "window")
    if closes <= opens:
        check.refuse(f"the window {opens:%H:%M}-{closes:%H:%M} ends before it starts", "put the earlier time first")
    return opens, closes


def _time(check: Check, value: object, field: str) -> time:
    if isinstance(value, str) and re.fullmatch(r"(?:[01]\d|2[0-3]):[0-5]\d", value):
        return time.fromisoformat(value)
    check.refuse(f"{field} is not a time of day", 'write times as "05:00"')


def _interests(check: Check, raw: dict[str, Any]) -> dict[str, tuple[str, ...]]:
    value = raw.get("interests", {})
    if not isinstance(value, dict):
        check.refuse("interests is not a table", '[interests] then shipping = ["port", "container"]')
    return {topic: tuple(check.words(value, topic, default=[])) for topic in value}


def _destinations(check: Check, raw: dict[str, Any]) -> tuple[Destination, ...]:
    found = tuple(_destination(check, one) for one in check.tables(raw.get("destinations", []), "destinations"))
    if len({one.name for one in found}) != len(found):
        check.refuse("two destinations have the same name", "rename one")
    return found


def _destination(check: Check, raw: dict[str, Any]) -> Destination:
    check.known(raw, _DESTINATION_FIELDS, "destinations.")
    name = check.text(raw, "name", example='name = "inbox" under [[destinations]]')
    address = check.text(raw, "address", example='address = "you@example.net" under [[destinations]]')
    check.name(name, "destination")
    if not _ADDRESS.fullmatch(address) or len(address) > 254 or not address.isascii():
        check.refuse(f"the address of destination {name} is not one mail address", "write it as name@host")
    return Destination(
        name=name,
        address=address,
        channel=check.choice(raw, "channel", ("email",)),
        proof=check.choice(raw, "proof", PROOFS),
        if_unknown=check.choice(raw, "if_unknown", IF_UNKNOWN),
    )
