"""Identity is derived, never issued: keys, workflow ids and object keys, all from (owner, product, local date) and
names in the profile. Nothing random, no timestamp, no address and no text from a feed is part of one.
"""

from __future__ import annotations

import re
from datetime import date
from typing import NamedTuple

from matins.rules.canonical import sha256
from matins.rules.errors import Refused

NAME = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,30}[a-z0-9])?")


class Day(NamedTuple):
    """The three parts of an obligation's key."""

    owner: str
    product: str
    local_date: date


def is_name(text: str) -> bool:
    """Whether `text` may name an owner, a product or a destination: 1 to 32 of a-z, 0-9 and inner hyphens."""
    return NAME.fullmatch(text) is not None


def obligation(owner: str, product: str, local_date: date) -> str:
    """`owner/product/date`: the key of an obligation and of everything that follows from it."""
    return f"{owner}/{product}/{local_date.isoformat()}"


def parse(key: str) -> Day:
    """The parts of an obligation's key. Raises Refused if it is not one."""
    match key.split("/"):
        case [owner, product, text] if is_name(owner) and is_name(product):
            try:
                return Day(owner, product, date.fromisoformat(text))
            except ValueError:
                pass
    raise Refused("not a key of the form owner/product/date", key=key[:100])


def obligation_work(key: str) -> str:
    """The work row of an obligation, and its workflow's id."""
    return f"obligation/{key}"


def continuation_work(key: str) -> str:
    """The work row of an obligation's continuation, and its workflow's id."""
    return f"continuation/{key}"


def message(subject: str, kind: str, channel: str, destination: str) -> str:
    """The key of one message: what it is about, its kind, its channel and the destination's name in the profile."""
    return f"{subject}/{kind}/{channel}/{destination}"


def message_work(message_key: str) -> str:
    """The work row of a message, and its workflow's id: ids have a length limit, so the key is hashed."""
    return f"message/{sha256(message_key.encode())[:40]}"


def source(url: str, secret_name: str = "") -> str:
    """The key of a source: its canonical URL and the name of the secret it is read with, hashed."""
    return sha256(f"{secret_name}\n{url}".encode())[:40]


def ingest(source_key: str) -> str:
    """The id of the workflow that reads a source."""
    return f"ingest/{source_key}"


def ingest_work(source_key: str, cursor_version: int) -> str:
    """The work row of one window: what one cursor version of a source reads."""
    return f"ingest/{source_key}/{cursor_version}"


def event(source_key: str, identity: str) -> str:
    """The key of an event: one identity at one source, hashed."""
    return sha256(f"{source_key}\n{identity}".encode())[:40]


def summary(event_key: str, evidence_hash: str, prompt_version: str, model: str) -> str:
    """The key of an accepted text: its identity, hashed."""
    return sha256(f"{event_key}\n{evidence_hash}\n{prompt_version}\n{model}".encode())[:40]


def page(owner: str, kind: str, about: str) -> str:
    """The id of a page of an owner's wiki: of a story about its first event, of a topic about its name."""
    return sha256(f"{owner}\n{kind}\n{about}".encode())[:32]


def page_work(page_id: str) -> str:
    """The work row of a page, and its workflow's id."""
    return f"page/{page_id}"


def action(key: str, step: str) -> str:
    """The key of one step's effect."""
    return f"{key}/{step}"
