"""What every test may ask for: real parts, shared by the whole run, and a fresh corner of each per test."""

from __future__ import annotations

import asyncio
import os
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

import psycopg
import pytest
from hypothesis import settings

from tests import stack
from tests.databases import Databases

settings.register_profile("ci", derandomize=True, database=None)
if os.environ.get("CI"):  # the same examples on every run: what a random one finds at a desk becomes an @example
    settings.load_profile("ci")

LONG = 200
"""Seconds that a test is given which starts whole processes and waits for them."""

AS_ROOT = "as_root"
"""Files of this name are collected only when the tests run as root."""


@dataclass(frozen=True, slots=True)
class ObjectStore:
    """A real S3 store."""

    endpoint: str
    access_key: str = field(repr=False)
    secret_key: str = field(repr=False)


def pytest_configure(config: pytest.Config) -> None:
    """The controller makes the directory of this run; the workers find it in their environment."""
    if not hasattr(config, "workerinput"):
        directory = stack.make()
        config.add_cleanup(lambda: stack.clear(directory))


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Where several processes run the tests, each begins with its share of the long ones: those with a time-out of
    their own. They mostly wait, so that the short ones fill the gaps, and no process ends with five of them in a row.

    As xdist's `worksteal` does, each process is given an equal part of the list, in its order.
    """
    processes = getattr(config, "workerinput", {}).get("workercount", 1)
    long = [item for item in items if _is_long(item)]
    short = (item for item in list(items) if not _is_long(item))
    ordered: list[pytest.Item] = []
    for number in range(processes):
        part = long[number::processes]
        size = (len(items) - len(ordered)) // (processes - number)
        ordered += [*part, *islice(short, max(size - len(part), 0))]
    items[:] = [*ordered, *short]


def _is_long(item: pytest.Item) -> bool:
    limit = item.get_closest_marker("timeout")
    return limit is not None and limit.args[0] >= LONG


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """Tests of what only root can do are not there for anybody else."""
    return True if AS_ROOT in collection_path.stem and os.geteuid() != 0 else None


@pytest.fixture(scope="session")
def postgres_admin() -> str:
    """The address of the run's Postgres, its database `postgres`."""
    return stack.start_postgres()


@pytest.fixture(scope="session")
def _admin(postgres_admin: str) -> Iterator[psycopg.Connection]:
    with psycopg.connect(postgres_admin, autocommit=True) as conn:
        yield conn


@pytest.fixture(scope="session")
def _databases(_admin: psycopg.Connection) -> Iterator[Databases]:
    made = Databases(_admin)
    yield made
    made.clear()


@pytest.fixture
def database(_databases: Databases) -> Iterator[str]:
    """The name of a database that has every migration and no row."""
    name = _databases.take()
    yield name
    _databases.give_back(name)


@pytest.fixture
def dsn(postgres_admin: str, database: str) -> str:
    """The address of the fresh database."""
    return stack.address_of(postgres_admin, database)


@pytest.fixture
def conn(dsn: str) -> Iterator[psycopg.Connection]:
    """A connection to the fresh database, in autocommit."""
    with psycopg.connect(dsn, autocommit=True) as connection:
        yield connection


@pytest.fixture(scope="session")
def temporal_address() -> str:
    """host:port of the run's Temporal."""
    return stack.start_temporal()


@pytest.fixture
def namespace(temporal_address: str) -> str:
    """A fresh namespace of the run's Temporal, which keeps histories for a day."""
    name = f"test-{uuid.uuid4().hex}"
    asyncio.run(_register(temporal_address, name))
    return name


async def _register(address: str, name: str) -> None:
    from google.protobuf.duration_pb2 import Duration
    from temporalio.api.workflowservice.v1 import RegisterNamespaceRequest
    from temporalio.client import Client

    client = await Client.connect(address)
    await client.workflow_service.register_namespace(
        RegisterNamespaceRequest(namespace=name, workflow_execution_retention_period=Duration(seconds=86400))
    )


@pytest.fixture(scope="session")
def objects() -> ObjectStore:
    """The run's object store."""
    return ObjectStore(**stack.start_objects())


@pytest.fixture
def bucket(objects: ObjectStore) -> Iterator[str]:
    """A fresh bucket of the run's object store; removed with all that is in it."""
    from matins.local.objects import client

    s3 = client(objects.endpoint, access_key=objects.access_key, secret_key=objects.secret_key)
    name = f"test-{uuid.uuid4().hex}"
    s3.create_bucket(Bucket=name)
    yield name
    s3.delete_bucket(Bucket=name)
