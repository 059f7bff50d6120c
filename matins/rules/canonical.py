"""Canonical bytes (RFC 8785) and the one kind of hash used everywhere: SHA-256 in lower-case hex."""

from __future__ import annotations

import hashlib
from typing import Any

import rfc8785


def canonical(document: Any) -> bytes:
    """The RFC 8785 bytes of `document`. Dates and large integers have to be strings already."""
    return rfc8785.dumps(document)


def sha256(data: bytes) -> str:
    """SHA-256 of `data`, 64 lower-case hex digits."""
    return hashlib.sha256(data).hexdigest()


def hash_of(document: Any) -> str:
    """SHA-256 of the canonical bytes of `document`."""
    return sha256(canonical(document))
