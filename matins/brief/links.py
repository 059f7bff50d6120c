"""Which addresses may become links in a reader's copy. Everything else stays text."""

from __future__ import annotations

import ipaddress
import re
from urllib.parse import urlsplit

_UNSAFE = re.compile(r"[\s\x00-\x20\x7f-\x9f<>\"\\^`{|}]")
LONGEST = 2000


def web(url: str) -> str:
    """`url` if it is an http(s) address with a host and nothing that could break out of a link, else ""."""
    if _UNSAFE.search(url) or len(url) > LONGEST:
        return ""
    try:
        parts = urlsplit(url)
        good = parts.scheme in ("http", "https") and bool(parts.hostname) and "@" not in parts.netloc
    except ValueError:
        return ""
    return url if good else ""


def public(url: str) -> str:
    """`url` if it leads anywhere from a reader's phone: not to this machine or its own network; else ""."""
    host = (urlsplit(url).hostname or "") if web(url) else ""
    if not host or host == "localhost" or host.endswith((".localhost", ".localdomain", ".local", ".internal")):
        return ""
    try:
        return url if ipaddress.ip_address(host).is_global else ""
    except ValueError:
        return url
