"""The checked-in picture of the schema is the one that the migrations make."""

from __future__ import annotations

from tests.schema import snapshot


def test_the_snapshot_is_what_the_migrations_make(migrated_dsn: str) -> None:
    made = snapshot.dump(migrated_dsn)
    assert snapshot.FILE.read_text(encoding="utf-8") == made, "run: python -m tests.schema.snapshot"
