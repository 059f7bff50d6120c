"""Mails for tests, and what `send` wants to be told besides."""

from __future__ import annotations

import uuid
from dataclasses import dataclass, field
from typing import Any

from matins.providers.smtp import Smtp
from matins.rules.receipt import Receipt

SENDER = "Matins <sender-7f3a@example.org>"
TO = "reader-9c21@example.net"


@dataclass(frozen=True, slots=True)
class Mail:
    """One mail with keys of its own."""

    body: bytes = b"Good morning.\r\n"
    name: str = field(default_factory=lambda: uuid.uuid4().hex)

    @property
    def message_id(self) -> str:
        """Its Message-ID."""
        return f"<{self.name}@matins.test>"

    @property
    def message_key(self) -> str:
        """Its X-Matins-Message."""
        return f"ada/brief/2026-11-30/{self.name}/email/inbox"

    @property
    def raw(self) -> bytes:
        """Its bytes."""
        head = (
            "From: sender-7f3a@example.org\r\nTo: reader-9c21@example.net\r\nSubject: Morning\r\n"
            f"Message-ID: {self.message_id}\r\nX-Matins-Message: {self.message_key}\r\n\r\n"
        )
        return head.encode() + self.body


def send(smtp: Smtp, mail: bytes, **changed: Any) -> Receipt:
    """`smtp.send` with everything that a test does not care about."""
    arguments: dict[str, Any] = {
        "sender": SENDER,
        "to": TO,
        "idempotency_key": "ada/brief/2026-11-30/send",
        "still_mine": lambda: None,
        "watch": lambda _: None,
    }
    return smtp.send(mail, **(arguments | changed))
