"""The table: what each act does to each scene.

Where an act and a scene's machine are both named here, the scene is either listed or meets `otherwise`.
"""

from __future__ import annotations

from typing import Any

from tests.ledger import table_mail, table_mornings, table_pages, table_reads
from tests.ledger.case import Alike, On, WorkAlone

__all__ = ["SCENES", "TABLE", "Alike", "On", "WorkAlone", "pairs"]

_PARTS = (table_mornings, table_mail, table_reads, table_pages)
SCENES: dict[str, tuple[str, ...]] = {machine: found for part in _PARTS for machine, found in part.SCENES.items()}
TABLE: dict[str, dict[str, On]] = {
    act: {machine: on for part in _PARTS for machine, on in part.TABLE.get(act, {}).items()}
    for act in dict.fromkeys(act for part in _PARTS for act in part.TABLE)
}


def pairs() -> list[tuple[str, str, Any]]:
    """(scene, act, what happens), by scene."""
    found = []
    for machine, variants in SCENES.items():
        for variant in variants:
            for act, on in TABLE.items():
                if machine in on:
                    happens = on[machine].listed.get(variant, on[machine].otherwise)
                    found.append((f"{machine}/{variant}", act, happens))
    return found
