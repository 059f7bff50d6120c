"""Houses: one with local parts from nothing, and one on the run's shared parts, given by environment variables only."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import pytest

from matins.demo import feeds
from matins.demo.server import DemoServer
from matins.local import process
from matins.rules import calendar
from matins.rules.verdict import State, state
from matins.settings import CHECKOUT
from tests.conftest import ObjectStore
from tests.end_to_end.house import House, mails, noon_zone
from tests.providers.mailbox_process import MailboxProcess


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    """An empty data directory: the first command starts every part in it. All of them are stopped at the end."""
    made = House(tmp_path / "data", {})
    yield made
    made.down()


@dataclass(frozen=True, slots=True)
class Outside:
    """A house on outside services. `pages` is what its feed server has, by path; a test may change it."""

    house: House
    mailbox: MailboxProcess
    base: str
    pages: dict[str, tuple[str, bytes]]

    @contextmanager
    def worker(self) -> Iterator[None]:
        """A worker that serves every queue from the block's beginning, told to end afterwards."""
        log = self.house.data.parent / "worker.log"
        with log.open("wb") as out:
            serving = subprocess.Popen(
                [sys.executable, str(CHECKOUT / "worker.py")], env=self.house.environment, stdout=out, stderr=out
            )
        ready = self.house.data / "worker.ready"
        try:
            assert process.wait(lambda: ready.exists() or serving.poll() is not None, seconds=60), log.read_text()
            yield
        finally:
            serving.terminate()
            code = serving.wait(timeout=30)
        assert code == 0, log.read_text()

    def own(self, owner: str, **more: str) -> Path:
        """Write a profile for `owner`, whose day is open now, with one destination. Returns the file."""
        fields = {"owner": owner, "zone": noon_zone(), "window": "00:00-23:59", **more}
        lines = [f'{name} = "{value}"' for name, value in fields.items()]
        file = self.house.data.parent / f"{owner}.toml"
        inbox = f'[[destinations]]\nname = "inbox"\naddress = "{owner}@example.net"\n'
        file.write_text("\n".join([*lines, inbox]))
        return file

    def feeds(self, count: int) -> list[str]:
        """The addresses of the first feeds there are."""
        return [f"{self.base}{path}" for path in list(self.pages)[:count]]

    def mails(self, owner: str) -> list[bytes]:
        """The mails that came for `owner`."""
        return mails(self.mailbox.data, owner)

    def wait_ready(self, *owners: str) -> None:
        """Wait until nothing is missing of these owners' mornings."""

        def are_ready() -> bool:
            owed = self.house.mornings()
            return all(owner in owed and state(owed[owner]) is State.READY for owner in owners)

        assert process.wait(are_ready, seconds=60, every=0.1), self.house.owed()


@pytest.fixture
def outside(
    tmp_path: Path, dsn: str, temporal_address: str, namespace: str, objects: ObjectStore, bucket: str
) -> Iterator[Outside]:
    """Services that a worker and the command line know of by environment variables only."""
    pages = dict(feeds.feeds(calendar.local_date(datetime.now(UTC), feeds.ZONE)))
    with MailboxProcess(tmp_path / "mailbox") as mailbox, DemoServer(lambda: pages) as server:
        house = House(
            tmp_path / "data",
            {
                "MATINS_POSTGRES_DSN": dsn,
                "TEMPORAL_ADDRESS": temporal_address,
                "TEMPORAL_NAMESPACE": namespace,
                "AWS_ENDPOINT_URL": objects.endpoint,
                "AWS_ACCESS_KEY_ID": objects.access_key,
                "AWS_SECRET_ACCESS_KEY": objects.secret_key,
                "MATINS_BUCKET": bucket,
                "MATINS_SMTP_URL": mailbox.smtp_url,
                "MATINS_IMAP_URL": mailbox.imap_url,
                "MATINS_ALLOW_HOSTS": f"127.0.0.1:{server.port}",
            },
        )
        house.data.mkdir()
        yield Outside(house, mailbox, server.url, pages)
