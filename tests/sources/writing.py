"""Feeds as tests write them, and how they read them."""

from __future__ import annotations

import socket
from collections.abc import Callable
from typing import Any

from matins.rules.evidence import Item
from matins.sources.feed import read_feed
from matins.sources.guard import Deadline, Gate

URL = "https://harbour.example/news/feed.xml"
JSON = b'{"version":"https://jsonfeed.org/version/1",'


def rss(*items: str, head: str = "<title>Harbour News</title>") -> bytes:
    body = "".join(f"<item>{item}</item>" for item in items)
    return f'<?xml version="1.0"?>\n<rss version="2.0"><channel>{head}{body}</channel></rss>'.encode()


def atom(*entries: str, root: str = "", head: str = "") -> bytes:
    body = "".join(f"<entry>{entry}</entry>" for entry in entries)
    return f'<feed xmlns="http://www.w3.org/2005/Atom" {root}><title>Harbour</title>{head}{body}</feed>'.encode()


def items(body: bytes, *, url: str = URL, content_type: str = "application/xml") -> tuple[Item, ...]:
    return read_feed(body, content_type=content_type, url=url).items


def only(body: bytes, *, url: str = URL) -> Item:
    (item,) = items(body, url=url)
    return item


def answers(*addresses: str) -> Callable[..., list[Any]]:
    """A resolver that gives every name these addresses."""

    def resolve(_: str, port: int, **__: object) -> list[Any]:
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port)) for address in addresses]

    return resolve


def gate(*addresses: str) -> Gate:
    """The guard in front of a network where every name has these addresses."""
    return Gate(answers(*addresses), frozenset(), 1.0, Deadline.after(5.0))
