"""A profile: the durable record of what an owner is owed, where and when. Read from a mapping (TOML), checked as a
whole, refused with one sentence that says what, where and what to do.
"""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass
from datetime import time
from typing import Any

from matins.rules import calendar, keys, plans
from matins.rules.canonical import hash_of
from matins.rules.errors import ProfileRefused

_ADDRESS = re.compile(r"[^\s@<>,;:\"\\()\[\]\x00-\x1f\x7f]+@[^\s@<>,;:\"\\()\[\]\x00-\x1f\x7f]+")
_FIELDS = frozenset(
    {"owner", "name", "zone", "window", "ready_by", "useful_until", "send_at", "products", "long", "short", "interests",
     "destinations"}
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

    def document(self) -> dict[str, Any]:
        """The profile as canonical JSON can hold it."""
        plain = asdict(self)
        for field in ("opens", "closes", "ready_by", "useful_until"):
            plain[field] = getattr(self, field).isoformat("minutes")
        plain["send_at"] = self.send_at.isoformat("minutes") if self.send_at else None
        # A list of pairs: JSON objects have no order, and the first topics weigh most.
        plain["interests"] = [[topic, list(words)] for topic, words in self.interests.items()]
        return plain

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
    return Profile(**plain)


def parse(raw: dict[str, Any], *, where: str) -> Profile:
    """The checked profile in `raw`; `where` is the file to name. Raises ProfileRefused with one sentence."""
    check = _Check(str(raw.get("owner", "?"))[:40], where)
    check.known(raw, _FIELDS, "")
    owner = check.text(raw, "owner")
    if not keys.is_name(owner):
        check.refuse(f'owner "{owner[:40]}" is not a name', "use 1 to 32 of a-z, 0-9 and inner hyphens")
    zone = check.text(raw, "zone", example='zone = "Europe/London"')
    try:
        calendar.zone(zone)
    except ProfileRefused as unknown:
        check.refuse(unknown.message.split(";")[0], 'use a name like zone = "Europe/London"')
    opens, closes = check.window(raw)
    ready_by = check.wall(raw, "ready_by", default=closes)
    if not opens < ready_by <= closes:
        check.refuse(f"ready_by {ready_by:%H:%M} is not inside the window", "choose a time inside the window")
    useful_until = check.wall(raw, "useful_until", default=closes)
    if useful_until < ready_by:
        check.refuse(f"useful_until {useful_until:%H:%M} is before ready_by", "choose a later time")
    send_at = check.wall(raw, "send_at", default=opens) if "send_at" in raw else None
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
        interests=check.interests(raw),
        destinations=check.destinations(raw),
    )


@dataclass(frozen=True, slots=True)
class _Check:
    owner: str
    where: str

    def refuse(self, what: str, do: str) -> None:
        raise ProfileRefused(f"{self.owner}: {what}, in {self.where}. To mend it: {do}")

    def known(self, raw: dict[str, Any], fields: frozenset[str], inside: str) -> None:
        for field in raw:
            if field not in fields:
                self.refuse(f'unknown field "{inside}{field[:40]}"', f"use: {', '.join(sorted(fields))}")

    def text(self, raw: dict[str, Any], field: str, *, example: str = "") -> str:
        value = raw.get(field)
        if not isinstance(value, str) or not value:
            self.refuse(f"no {field}", f"add {example or field + ' = ...'}")
        return str(value)

    def line(self, raw: dict[str, Any], field: str, *, default: str) -> str:
        value = raw.get(field, default)
        if not isinstance(value, str) or not value.strip() or not value.isprintable() or len(value) > 100:
            self.refuse(f"{field} is not one printable line of at most 100 characters", f"mend {field}")
        return str(value)

    def wall(self, raw: dict[str, Any], field: str, *, default: time) -> time:
        if field not in raw:
            return default
        return self._parse(raw[field], field)

    def window(self, raw: dict[str, Any]) -> tuple[time, time]:
        value = raw.get("window", "05:00-09:00")
        first, dash, last = value.partition("-") if isinstance(value, str) else ("", "", "")
        if not dash:
            self.refuse("window is not two times", 'write window = "05:00-09:00"')
        opens, closes = self._parse(first.strip(), "window"), self._parse(last.strip(), "window")
        if closes <= opens:
            self.refuse(f"the window {opens:%H:%M}-{closes:%H:%M} ends before it starts", "put the earlier time first")
        return opens, closes

    def _parse(self, value: object, field: str) -> time:
        if isinstance(value, str) and re.fullmatch(r"(?:[01]\d|2[0-3]):[0-5]\d", value):
            return time.fromisoformat(value)
        self.refuse(f"{field} is not a time of day", 'write times as "05:00"')
        raise AssertionError

    def words(self, raw: dict[str, Any], field: str, *, default: list[str]) -> list[str]:
        value = raw.get(field, default)
        if not isinstance(value, list) or not value or not all(isinstance(word, str) and word for word in value):
            self.refuse(f"{field} is not a list of words", f'write {field} = ["..."]')
        return list(value)

    def count(self, raw: dict[str, Any], field: str, *, default: int) -> int:
        value = raw.get(field, default)
        if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= 20:
            self.refuse(f"{field} is not a number from 0 to 20", f"mend {field}")
        return int(value)

    def interests(self, raw: dict[str, Any]) -> dict[str, tuple[str, ...]]:
        value = raw.get("interests", {})
        if not isinstance(value, dict):
            self.refuse("interests is not a table", '[interests] then shipping = ["port", "container"]')
        return {topic: tuple(self.words(value, topic, default=[])) for topic in value}

    def destinations(self, raw: dict[str, Any]) -> tuple[Destination, ...]:
        value = raw.get("destinations", [])
        if not isinstance(value, list) or not all(isinstance(one, dict) for one in value):
            self.refuse("destinations is not a list of tables", "write [[destinations]]")
        found = tuple(self._destination(one) for one in value)
        if len({one.name for one in found}) != len(found):
            self.refuse("two destinations have the same name", "rename one")
        return found

    def _destination(self, raw: dict[str, Any]) -> Destination:
        self.known(raw, _DESTINATION_FIELDS, "destinations.")
        name = self.text(raw, "name", example='name = "inbox" under [[destinations]]')
        address = self.text(raw, "address", example='address = "you@example.net" under [[destinations]]')
        if not keys.is_name(name):
            self.refuse(f'destination "{name[:40]}" is not a name', "use 1 to 32 of a-z, 0-9 and inner hyphens")
        if not _ADDRESS.fullmatch(address) or len(address) > 254 or not address.isascii():
            self.refuse(f"the address of destination {name} is not one mail address", "write it as name@host")
        return Destination(
            name=name,
            address=address,
            channel=self._choice(raw, "channel", ("email",)),
            proof=self._choice(raw, "proof", PROOFS),
            if_unknown=self._choice(raw, "if_unknown", IF_UNKNOWN),
        )

    def _choice(self, raw: dict[str, Any], field: str, allowed: tuple[str, ...]) -> str:
        value = raw.get(field, allowed[0])
        if value not in allowed:
            self.refuse(f'{field} "{str(value)[:40]}" is unknown', f"choose from: {', '.join(allowed)}")
        return str(value)
