"""The demo's job board: an invented company's open roles, in the shape of Greenhouse's public API. Pure: the same day
gives the same bytes, and each day one role opens and one is filled.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import date, timedelta
from html import escape
from typing import Any

NAME = "tidewright"
COMPANY = "Tidewright"
SITE = "https://tidewright.example"
PATH = "/tidewright-roles.json"
_ROUND, _OPEN = 7, 4
"""A role that comes and goes is listed for four days of every seven."""
_SINCE = date(2026, 3, 2)


@dataclass(frozen=True, slots=True)
class _Role:
    title: str
    team: str
    place: str
    text: str


_KEEPER = (
    "You keep the databases that know where each container is. You will plan their upgrades, rehearse their failures "
    "by daylight, and be asked at night less and less often.",
    "We run Lodestone on nine machines in three harbours.",
)
_STAYING = (
    _Role("Database Reliability Engineer", "Storage", "Aldermouth", "\n".join(_KEEPER)),
    _Role("Database Reliability Engineer", "Storage", "Remote", "\n".join(_KEEPER)),
    _Role("Database Team Manager", "Storage", "Aldermouth", "You look after six people and their pagers."),
    _Role("Site Engineer", "Cranes", "Port Sallow", "You fit sensors to cranes, in wind, above water."),
    _Role("Tide Modeller", "Forecasts", "Remote", "You turn gauges and moons into a number that pilots trust."),
    _Role("Bookkeeper", "Office", "Aldermouth", "You know where the money is, as the others know where the boxes are."),
)  # fmt: skip
_PASSING = (
    _Role("Software Engineer, Berth Planning", "Planning", "Aldermouth", "You write plans that nine ships wait for."),
    _Role("Data Engineer", "Forecasts", "Remote", "You carry a billion readings a day from buoys to people."),
    _Role("Front-end Engineer", "Planning", "Aldermouth", "You draw a harbour that can be read in rain, with gloves."),
    _Role("Technical Writer", "Planning", "Remote", "You explain locks to captains and captains to lock keepers."),
    _Role("Network Engineer", "Cranes", "Port Sallow", "You bring wireless to where steel stands in the way."),
    _Role("Database Engineer, Archives", "Storage", "Remote", "You make eleven years of arrivals answer in a second."),
    _Role("Apprentice Engineer", "Cranes", "Aldermouth", "You learn from people who fell in once, not twice."),
)  # fmt: skip


def page(day: date) -> bytes:
    """The board as it stands on `day`, as JSON."""
    week = day.toordinal() // _ROUND
    staying = [_job(role, 4000 + number, _SINCE) for number, role in enumerate(_STAYING)]
    staying[1]["id"] += week * 100  # posted again every week, as companies do: the same role under a new id
    passing = []
    for number, role in enumerate(_PASSING):
        age = (day.toordinal() + number) % _ROUND
        if age < _OPEN:
            opened = day - timedelta(days=age)
            passing.append(_job(role, 9_000_000 + opened.toordinal() * 10 + number, opened))
    jobs = sorted([*staying, *passing], key=lambda job: int(job["id"]))
    return json.dumps({"jobs": jobs, "meta": {"total": len(jobs)}}, indent=1).encode()


def pages(day: date) -> dict[str, tuple[str, bytes]]:
    """The board for the demo's server: path -> (content type, body)."""
    return {PATH: ("application/json", page(day))}


def openings(base_url: str) -> dict[str, Any]:
    """The [openings] of the demo's profile, as TOML would give it; `base_url` is the demo server's."""
    board = {"name": NAME, "kind": "greenhouse", "url": base_url.rstrip("/") + PATH}
    return {
        "titles": ["engineer", "database"],
        "places": ["Aldermouth", "remote"],
        "avoid": ["manager"],
        "boards": [board],
    }


def _job(role: _Role, number: int, opened: date) -> dict[str, Any]:
    markup = "".join(f"<p>{escape(part, quote=False)}</p>" for part in role.text.split("\n"))
    stamp = f"{opened - timedelta(days=1)}T16:00:00Z"  # never in the future of a reader of the day
    return {
        "id": number,
        "internal_job_id": number + 1,
        "title": role.title,
        "company_name": COMPANY,
        "location": {"name": role.place},
        "absolute_url": f"{SITE}/roles/{number}",
        "first_published": stamp,
        "updated_at": stamp,
        "content": escape(markup),
        "departments": [{"id": 1, "name": role.team}],
        "offices": [],
    }
