"""Words of the inside that a reader never sees (EXPERIENCE, "Words"). They belong in code, SQL and `-v`."""

from __future__ import annotations

import re

INNER = (
    "obligation", "continuation", "succeeded", "successful", "successfully", "exhausted", "lease", "token", "fence",
    "fencing", "abandoned", "uncertain", "accepted", "observed", "delivered", "outbox", "sweep", "canary", "escalation",
    "dead letter", "dlq", "bundle", "admitted", "source card", "page id", "cursor", "ingest", "extractive", "fallback",
    "audit", "converge", "supersede", "superseded", "dispatch", "dispatched", "replayed", "task queue", "zombie",
    "orphan", "poison", "wiped", "idempotency", "workflow", "activity", "payload", "manifest", "baseline", "cluster",
    "unknown error", "something went wrong",
)  # fmt: skip
_ANY = re.compile(rf"\b(?:{'|'.join(map(re.escape, INNER))})(?:s|es)?\b", re.IGNORECASE)


def inner_words(text: str) -> list[str]:
    """The inner words in `text`, in lower case, in order."""
    return [match.group().casefold() for match in _ANY.finditer(text)]
