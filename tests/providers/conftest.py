"""The local test mailbox, one for all tests of a process that do not end it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.providers.mailbox_process import MailboxProcess


@pytest.fixture(scope="session")
def mailbox(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MailboxProcess]:
    """A running mailbox. It keeps the mail of other tests."""
    with MailboxProcess(tmp_path_factory.mktemp("mailbox")) as running:
        yield running
