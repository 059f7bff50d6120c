"""Two mornings in a row: what was told is not told again, roles come and go, and the wiki grows."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import psycopg
import pytest

from activities.desk import Desk
from matins.providers.objects import Objects
from matins.rules import plans
from tests.activities.days import Days
from tests.conftest import ObjectStore
from tests.ledger.clock import Clock
from tests.sources.server import Reply, running

OLD = ("harbour", "The harbour hires a second pilot", "The harbour hires a second pilot. She begins in March.")
PORT = "The port stays closed to large ships. The council meets on Friday about the barge."
BEES = ("bees", "Bees return to the town hall", "Bees returned to the town hall roof. The keeper counts 3 hives.")
KINDS = ("greenhouse", "lever", "ashby")


@pytest.fixture
def days(desk: Desk, conn: psycopg.Connection[Any], clock: Clock, objects: ObjectStore, bucket: str) -> Iterator[Days]:
    keys = {"access_key": objects.access_key, "secret_key": objects.secret_key}
    with running() as server, closing(Objects(objects.endpoint, **keys, bucket=bucket)) as store:
        yield Days(desk, conn, clock, store, server)


def _headlines(draft: dict[str, Any]) -> list[str]:
    return [story["headline"] for story in draft["stories"]]


def test_a_told_story_is_told_again_only_for_a_new_fact_and_its_page_grows(days: Days) -> None:
    days.owe()
    days.feed(OLD)
    days.morning()
    days.night()
    days.feed(("port", "The port stays closed", PORT), BEES, OLD)
    first = days.draft(days.morning())
    assert sorted(_headlines(first)) == ["Bees return to the town hall", "The port stays closed"]
    days.night()
    again = (
        "bees",
        "Bees return to the town hall",
        "To the town hall roof, bees returned; 3 hives, counts the keeper.",
    )
    days.feed(
        ("port", "The port opens a lane", f"{PORT} From Monday 2 ships a day may pass, the pilots said."), again, OLD
    )
    second = days.draft(days.morning())
    assert _headlines(second) == ["The port opens a lane"]
    [told] = second["stories"]
    assert told["told_on"] == first["date"]
    assert told["new_fact"] == "From Monday 2 ships a day may pass, the pilots said."
    assert {(one["title"], one["reason"].split()[0]) for one in second["left_out_items"]} == {(BEES[1], "told")}
    page = days.page("The port opens a lane")
    current, changed = page.split("How it changed")
    assert "2 ships a day" in current
    assert "The council meets on Friday" in changed
    assert page.count("gazette.example/port") >= 2


def test_a_morning_declared_under_plan_1_ends_under_plan_1_and_the_next_one_has_a_wiki(days: Days) -> None:
    days.owe()
    days.feed(OLD, BEES)
    key = days.morning(plan=1)
    steps = {step for (step,) in days.conn.execute("select step from action where subject = %s", (key,)).fetchall()}
    assert steps == {"research", *plans.STEPS[1]}
    assert days.conn.execute("select count(*) from page").fetchall() == [(0,)]
    days.night()
    days.feed(OLD, BEES, ("port", "The port stays closed", PORT))
    key = days.morning()
    steps = {step for (step,) in days.conn.execute("select step from action where subject = %s", (key,)).fetchall()}
    assert steps == {"research", *plans.STEPS[2]}
    assert "The council meets on Friday" in days.page("The port stays closed")


def _role(kind: str, name: str) -> dict[str, Any]:
    title, link = f"Engineer {name}", f"https://{kind}.example/{name}"
    match kind:
        case "greenhouse":
            return {"id": sum(name.encode()), "title": title, "absolute_url": link, "location": {"name": "London"},
                    "content": f"You keep {name}."}  # fmt: skip
        case "lever":
            return {"id": name, "text": title, "hostedUrl": link, "categories": {"location": "London"},
                    "descriptionPlain": f"You keep {name}."}  # fmt: skip
        case _:
            return {"id": name, "title": title, "jobUrl": link, "location": "London", "isListed": True,
                    "descriptionPlain": f"You keep {name}."}  # fmt: skip


def _lists(days: Days, kind: str, *names: str) -> None:
    """The board of this kind lists these roles from now on."""
    roles = [_role(kind, name) for name in names]
    body: Any = {"jobs": roles, "meta": {"total": len(roles)}} if kind == "greenhouse" else {"jobs": roles}
    body = roles if kind == "lever" else body
    days.server.script[f"/{kind}"] = Reply(
        body=json.dumps(body).encode(), headers=(("Content-Type", "application/json"),)
    )


def test_roles_of_three_kinds_of_boards_come_and_go_and_a_board_that_is_down_removes_none(days: Days) -> None:
    boards = [{"name": kind, "kind": kind, "url": days.server.url(f"/{kind}")} for kind in KINDS]
    days.owe(openings={"titles": ["engineer"], "mail": True, "boards": boards})
    days.feed(OLD)
    for kind in KINDS:
        _lists(days, kind, f"{kind}-a", f"{kind}-b")
    first = days.report(days.morning())
    assert first["counts"] == {"new": 0, "open": 6, "removed": 0}
    days.night()
    _lists(days, "greenhouse", "greenhouse-a", "greenhouse-b", "greenhouse-c")
    _lists(days, "lever", "lever-a")
    days.server.script["/ashby"] = Reply(503)
    key = days.morning()
    second = days.report(key)
    assert [role["title"] for role in second["new"]] == ["Engineer greenhouse-c"]
    assert [role["title"] for role in second["removed"]] == ["Engineer lever-b"]
    assert second["counts"] == {"new": 1, "open": 6, "removed": 1}
    assert {board["name"]: board["state"] for board in second["boards"]}["ashby"] == "not checked"
    kinds = days.conn.execute("select kind, count(*) from message group by kind order by kind").fetchall()
    assert kinds == [("brief", 2), ("openings", 2)]
    assert _headlines(days.draft(key)) == []
    stories = days.conn.execute("select count(*) from evidence_item join event on event.key = event_key").fetchall()
    assert stories == [(1,)], "a role is no news"
