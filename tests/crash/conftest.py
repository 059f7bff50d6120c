"""A scene on the shared parts of this run."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import ObjectStore
from tests.crash.scene import Scene


@pytest.fixture
def scene(
    tmp_path: Path, dsn: str, temporal_address: str, namespace: str, objects: ObjectStore, bucket: str
) -> Iterator[Scene]:
    """A scene with a database, a namespace, a bucket and a mailbox of its own."""
    store = {
        "endpoint": objects.endpoint,
        "access_key": objects.access_key,
        "secret_key": objects.secret_key,
        "bucket": bucket,
    }
    with Scene(tmp_path, dsn=dsn, temporal=temporal_address, namespace=namespace, store=store) as made:
        yield made
