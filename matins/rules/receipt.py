"""What a provider gives back for an effect that happened, and what a look at its traces found."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Receipt:
    """The provider's own word for one effect. (provider, reference) is unique for ever."""

    provider: str
    """The instance: `smtp:host:port`, `s3:bucket`."""
    reference: str
    """Its own name for what it did."""
    evidence: dict[str, str] = field(default_factory=dict)
    """Whatever else it said, kept as it came: the whole SMTP reply, an ETag."""


@dataclass(frozen=True, slots=True)
class Sighting:
    """One look for a mail in a mailbox."""

    found: bool
    mechanism: str
    """How it was looked for: `imap:host:port`."""
    placement: str = ""
    """`inbox` or `junk`, where found."""
    complete: bool = True
    """Whether every place where it could be was looked at. Only then does "not found" mean anything."""
