"""What an edition left out: how many items for which reason, and which ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from matins.brief import coverage, links, quoting

LISTED = 30
TOLD_BEFORE = "told before"


def reasons(evidence_set: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The reasons for what is not told, with the number of items, most first."""
    found = Counter(_reason(item) for item in evidence_set["items"] if not item["chosen"])
    return [{"reason": reason, "count": count} for reason, count in sorted(found.items(), key=lambda r: (-r[1], r))]


def _reason(item: Mapping[str, Any]) -> str:
    """Told before is one reason, whatever the day."""
    return TOLD_BEFORE if _told_before(item) else str(item["reason"])


def _told_before(item: Mapping[str, Any]) -> bool:
    return bool(item.get("told_on")) and not item["new_fact"]


def fresh(evidence_set: Mapping[str, Any]) -> int:
    """How many items are new to the owner: neither old when their source was first read nor told before."""
    return len(_fresh(evidence_set))


def fresh_sources(evidence_set: Mapping[str, Any]) -> int:
    """How many sources those items come from: one that broke after it was read has its place among them."""
    return len({item["source_key"] for item in _fresh(evidence_set)})


def _fresh(evidence_set: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return [item for item in evidence_set["items"] if item["rank"] and not _told_before(item)]


def listed(evidence_set: Mapping[str, Any]) -> tuple[list[dict[str, str]], int]:
    """The first 30 items left out, by rank, and how many more there are; what was old when its source was first read
    is counted by `reasons` only.

    Each is {"title", "url" ("" if it may be no link), "source", "reason"}.
    """
    items = [item for item in evidence_set["items"] if not item["chosen"] and item["rank"]]
    return [_listed(item) for item in items[:LISTED]], max(0, len(items) - LISTED)


def _listed(item: Mapping[str, Any]) -> dict[str, str]:
    return {
        "title": quoting.headline(item),
        "url": links.web(item["url"]),
        "source": coverage.source_name(item["source_name"]),
        "reason": item["reason"],
    }
