"""Record the histories that `test_replay.py` replays, from a real morning of real workers:

    python -m tests.replay.record 2026-11-30-first

writes `tests/replay/histories/2026-11-30-first-<Workflow>-<n>.json`, one file for each workflow of a morning whose
first worker is killed in mid-effect and whose mail is looked for. Run it once for each change of a workflow's shape,
under a new name; never write over a recorded history, and delete none: old mornings must go on replaying. Who ran
it and when is taken out; nothing in a history is secret (tests/workflows/test_in_temporal.py).
"""

from __future__ import annotations

import asyncio
import json
import re
import sys
import tempfile
import uuid
from pathlib import Path
from typing import Any

import psycopg
from google.protobuf.duration_pb2 import Duration
from temporalio.api.workflowservice.v1 import RegisterNamespaceRequest
from temporalio.client import Client

from matins.ledger import page
from matins.local import objects as local_objects
from matins.orchestrator import WORKFLOWS
from tests import stack
from tests.crash.scene import Scene

HISTORIES = Path(__file__).parent / "histories"
_WHO = re.compile(r"\d+@")
EVERY = {*WORKFLOWS.values(), "Sweep"}


def record(name: str) -> list[Path]:
    """Run the morning and write its histories. Returns the files."""
    directory = stack.make()
    try:
        with tempfile.TemporaryDirectory(dir=directory) as own, make_scene(Path(own)) as scene:
            key = scene.owe("ada")
            scene.die_at("send.after_reply")
            scene.live()
            scene.finish(key, sweep=True)
            _doubt_a_page(scene)
            scene.sweep()
            scene.wait(lambda: _types(scene.ask(_histories(scene))) == EVERY, why="a workflow did not end")
            found = scene.ask(_histories(scene))
    finally:
        stack.clear(directory)
    return _write(name, found)


def _doubt_a_page(scene: Scene) -> None:
    """Have the next sweep start a Page workflow."""
    with scene.ledger() as conn:
        [(page_id,)] = conn.execute("select id from page order by id limit 1").fetchall()
        page.doubt(conn, page_id)


def make_scene(directory: Path) -> Scene:
    """A scene of its own on the parts of this run."""
    admin = stack.start_postgres()
    database = f"recorded_{uuid.uuid4().hex}"
    with psycopg.connect(admin, autocommit=True) as conn:
        conn.execute(f"create database {database} template {stack.TEMPLATE}")
    store = stack.start_objects() | {"bucket": database.replace("_", "-")}
    local_objects.client(
        store["endpoint"], access_key=store["access_key"], secret_key=store["secret_key"]
    ).create_bucket(Bucket=store["bucket"])
    temporal = stack.start_temporal()
    asyncio.run(_register(temporal, database))
    dsn = stack.address_of(admin, database)
    return Scene(directory, dsn=dsn, temporal=temporal, namespace=database, store=store)


async def _register(address: str, namespace: str) -> None:
    client = await Client.connect(address)
    await client.workflow_service.register_namespace(
        RegisterNamespaceRequest(namespace=namespace, workflow_execution_retention_period=Duration(seconds=86400))
    )


async def _histories(scene: Scene) -> list[tuple[str, dict[str, Any]]]:
    client = await scene.connect()
    found = []
    async for one in client.list_workflows("ExecutionStatus = 'Completed'"):
        history = await client.get_workflow_handle(one.id, run_id=one.run_id).fetch_history()
        found.append((one.workflow_type, history.to_json_dict()))
    return sorted(found, key=lambda named: named[0])


def _types(found: list[tuple[str, dict[str, Any]]]) -> set[str]:
    return {workflow for workflow, _ in found}


def _write(name: str, found: list[tuple[str, dict[str, Any]]]) -> list[Path]:
    HISTORIES.mkdir(exist_ok=True)
    written = []
    for at, (workflow, history) in enumerate(found):
        number = 1 + sum(earlier == workflow for earlier, _ in found[:at])
        file = HISTORIES / f"{name}-{workflow}-{number}.json"
        with file.open("x", encoding="utf-8") as out:
            json.dump(_without_who(history), out, indent=1, sort_keys=True)
            out.write("\n")
        written.append(file)
    return written


def _without_who(found: Any) -> Any:
    """The history without the names of processes and machines."""
    match found:
        case dict():
            return {name: _without_who(value) for name, value in found.items()}
        case list():
            return [_without_who(value) for value in found]
        case str() if _WHO.match(found):
            return "worker"
        case _:
            return found


if __name__ == "__main__":
    for path in record(sys.argv[1]):
        print(path)
