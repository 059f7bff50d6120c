"""Whole tables before and after an act, and what moved between the two."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

from psycopg import Connection

KEYS = {
    "owner": ("name",),
    "profile": ("owner", "version"),
    "destination": ("owner", "version", "name"),
    "work": ("key",),
    "obligation": ("key",),
    "continuation": ("key",),
    "action": ("key",),
    "message": ("key",),
    "source": ("key",),
    "subscription": ("owner", "source_key"),
    "ingest_run": ("work_key", "token"),
    "unread_window": ("work_key",),
    "identity_alias": ("source_key", "identity"),
    "event": ("key",),
    "evidence": ("event_key", "hash"),
    "declared_item": ("work_key", "token", "event_key"),
    "evidence_set": ("key",),
    "evidence_item": ("owner", "event_key", "evidence_hash"),
    "edition": ("key", "revision"),
    "edition_current": ("key",),
    "openings_report": ("key",),
    "summary": ("key",),
    "page": ("id",),
    "page_member": ("page_id", "event_key"),
    "page_write": ("page_id", "token", "version"),
    "source_card": ("page_id", "event_key", "evidence_hash"),
    "frozen": ("hash",),
    "audit": ("id",),
    "decision": ("subject", "kind", "reason"),
    "sweep_run": ("id",),
}
MACHINES = ("obligation", "continuation", "action", "message", "edition", "ingest_run", "page_write")
STAMPS = (
    "moved_at", "closed_at", "restarted_at", "declared_at", "queued_at", "started_at", "ended_at", "created_at",
    "accepted_at", "observed_at", "claimed_at", "drafted_at", "published_at", "frozen_at",
    "opened_at", "carded_at", "reported_at", "noted_at", "rejected_at", "added_at",
)  # fmt: skip
"""Columns that hold when something happened; the others hold when something is due."""

Row = dict[str, Any]
Tables = dict[str, dict[tuple[Any, ...], Row]]
Arrow = tuple[str, str | None, str]

_ALL = " union all ".join(f"select '{table}' as name, to_jsonb({table}) as row from {table}" for table in KEYS)


def tables(conn: Connection[Any]) -> Tables:
    """Every row of every table."""
    found: Tables = {table: {} for table in KEYS}
    for name, row in conn.execute(_ALL.encode()).fetchall():
        found[name][tuple(row[column] for column in KEYS[name])] = row
    return found


@dataclass(frozen=True, slots=True)
class Moved:
    """What one act changed."""

    arrows: Counter[Arrow]
    """(machine, state before or None, state after), counted by rows; a new token on the same state is an arrow too."""
    audit: list[Row]
    stamps: set[str]
    """Every instant at which something is said to have happened."""
    tokens: dict[str, tuple[int, int]]
    """Work key -> token before and after, where it changed."""


def moved(before: Tables, after: Tables) -> Moved:
    """What changed from `before` to `after`."""
    tokens = {
        key[0]: (before["work"][key]["token"], row["token"])
        for key, row in after["work"].items()
        if key in before["work"] and before["work"][key]["token"] != row["token"]
    }
    arrows: Counter[Arrow] = Counter()
    for machine in MACHINES:
        for key, row in after[machine].items():
            old = before[machine].get(key)
            taken_over = row.get("work_key") in tokens and machine in ("obligation", "continuation", "message")
            if old is None or old["status"] != row["status"] or taken_over:
                arrows[machine, old["status"] if old else None, row["status"]] += 1
    stamps = {
        row[column]
        for table, found in after.items()
        for key, row in found.items()
        for column in STAMPS
        if row.get(column) is not None and row[column] != before[table].get(key, {}).get(column)
    }
    audit = [row for key, row in after["audit"].items() if key not in before["audit"]]
    return Moved(arrows, audit, stamps | {row["at"] for row in audit}, tokens)


def machines_noted(audit: list[Row]) -> Counter[str]:
    """How many rows of each machine the audit says were moved. Windows and pages are none, and have lines too."""
    names = (row["event"].partition(".")[0] for row in audit)
    return Counter({"ingest": "ingest_run"}.get(name, name) for name in names if name not in ("window", "page"))
