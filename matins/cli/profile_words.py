"""A profile as TOML to edit, and what one version says differently from another, in words."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from matins.cli.table import hung

_BARE = re.compile(r"[A-Za-z0-9_-]+")
"""A key of TOML that needs no quotes."""
_PLAIN = {
    "name": "name",
    "zone": "zone",
    "window": "window",
    "ready_by": "ready by",
    "useful_until": "useful until",
    "send_at": "not sent before",
    "products": "products",
    "long": "long stories",
    "short": "short stories",
}


def toml(document: Mapping[str, Any]) -> str:
    """The profile that `Profile.document` wrote down, as the TOML that it is read from."""
    told = _written(document)
    interests, destinations, openings = (told.pop(name, None) for name in ("interests", "destinations", "openings"))
    lines = _pairs(told)
    if interests:
        lines += ["", "[interests]", *_pairs(interests)]
    for one in destinations:
        lines += ["", "[[destinations]]", *_pairs(one)]
    if openings:
        boards = openings.pop("boards")
        lines += ["", "[openings]", *_pairs(openings)]
        for one in boards:
            lines += ["", "[[openings.boards]]", *_pairs(one)]
    return "\n".join([*lines, ""])


def _pairs(table: Mapping[str, Any]) -> list[str]:
    return [f"{name if _BARE.fullmatch(name) else _value(name)} = {_value(value)}" for name, value in table.items()]


def _value(value: object) -> str:
    """A text, a number, a flag or a list of these. JSON's spelling of them is TOML's too (toml.io/en/v1.0.0), but for
    DEL, which TOML wants escaped.
    """
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _written(document: Mapping[str, Any]) -> dict[str, Any]:
    """As a person writes it down. A stored document has lists where one of this process has tuples: lists here."""
    document = json.loads(json.dumps(document))
    told = {name: document[name] for name in ("owner", "name", "zone", "ready_by", "useful_until")}
    told["window"] = f"{document['opens']}-{document['closes']}"
    if document["send_at"]:
        told["send_at"] = document["send_at"]
    told |= {name: document[name] for name in ("products", "long", "short")}
    told["interests"] = {topic: list(words) for topic, words in document["interests"]}
    told["destinations"] = [dict(one) for one in document["destinations"]]
    if "openings" in document:
        told["openings"] = document["openings"]
    return {name: told[name] for name in ("owner", *_PLAIN, "interests", "destinations", "openings") if name in told}


def page(owner: str, version: int, said: Mapping[str, Any]) -> str:
    """A stored profile for a person, 80 columns wide."""
    send = f", not sent before {said['send_at']}" if said["send_at"] else ""
    told = [
        ("name", said["name"]),
        ("window", f"{said['opens']}-{said['closes']}, ready by {said['ready_by']}{send}"),
        ("useful", f"until {said['useful_until']}"),
        ("products", f"{', '.join(said['products'])}: {said['long']} long and {said['short']} short stories"),
        *(("interest", f"{topic}: {', '.join(words)}") for topic, words in said["interests"]),
        *_asked(said.get("openings")),
        *(
            ("mail", f"{one['name']}: {one['address']} (proof: {one['proof']}, unknown: {one['if_unknown']})")
            for one in said["destinations"]
        ),
    ]
    if not said["destinations"]:
        told.append(("mail", "nowhere: no destination in the profile"))
    head = f"{owner}: profile {version} ({said['zone']})"
    return "\n".join([head, *(hung(f"  {label:<9}  ", text) for label, text in told)])


def _asked(openings: Mapping[str, Any] | None) -> Iterator[tuple[str, str]]:
    if openings is None:
        return
    where = f", in {', '.join(openings['places'])}" if openings["places"] else ", anywhere"
    avoid = f", never {', '.join(openings['avoid'])}" if openings["avoid"] else ""
    mail = "a mail of their own" if openings["mail"] else "no mail of their own"
    yield "openings", f"{', '.join(openings['titles'])}{where}{avoid}; {mail}"
    yield from (("board", f"{one['name']}: {one['kind']}, {one['url']}") for one in openings["boards"])


def changes(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    """What `after` says that `before` did not, a line for each; empty if nothing."""
    old, new = _written(before), _written(after)
    return [
        *_fields(old, new, _PLAIN),
        *_interests(old["interests"], new["interests"]),
        *_named("mail to", old["destinations"], new["destinations"]),
        *_openings(old.get("openings"), new.get("openings")),
    ]


def _fields(old: Mapping[str, Any], new: Mapping[str, Any], labels: Mapping[str, str]) -> Iterator[str]:
    for name, label in labels.items():
        if old.get(name) != new.get(name):
            yield f"{label}: {_shown(old.get(name))}, now {_shown(new.get(name))}"


def _shown(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Sequence) and not isinstance(value, str):
        return ", ".join(map(str, value)) or "none"
    return "none" if value is None else str(value)


def _interests(old: Mapping[str, list[str]], new: Mapping[str, list[str]]) -> Iterator[str]:
    yield from (f"interest {topic}: taken out" for topic in old if topic not in new)
    yield from (f"interest {topic}: new, {', '.join(words)}" for topic, words in new.items() if topic not in old)
    for topic, words in new.items():
        if topic in old and words != old[topic]:
            yield f"interest {topic}: {', '.join(words)}"
    if [topic for topic in old if topic in new] != [topic for topic in new if topic in old]:
        yield f"order of interests: {', '.join(new)}"


def _named(label: str, old: Sequence[Mapping[str, Any]], new: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """What came, went or changed in a list of tables that are told apart by their names."""
    before, after = ({one["name"]: one for one in tables} for tables in (old, new))
    yield from (f"{label} {name}: taken out" for name in before if name not in after)
    for name, one in after.items():
        if name not in before:
            yield f"{label} {name}: new, {_shown([value for field, value in one.items() if field != 'name'])}"
        elif one != before[name]:
            yield from (
                f"{label} {name}, {line}" for line in _fields(before[name], one, {field: field for field in one})
            )
    if before == after and list(before) != list(after):
        yield f"{label}: in another order, {', '.join(after)}"


def _openings(old: Mapping[str, Any] | None, new: Mapping[str, Any] | None) -> Iterator[str]:
    if old is None or new is None:
        if old is not new:
            yield "openings: asked for from now on" if old is None else "openings: not asked for any more"
        return
    labels = {name: f"openings, {name}" for name in ("titles", "places", "avoid", "mail")}
    yield from _fields(old, new, labels)
    yield from _named("board", old["boards"], new["boards"])
