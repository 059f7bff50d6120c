"""Every refusal and every outside failure, as one tree.

    MatinsError
    ├── Refused                the ledger, or a rule, said no (`wait` is in seconds of the database's clock)
    │   ├── LeaseLost          your token no longer holds the work
    │   ├── LeaseHeld          somebody else holds it until `until`
    │   ├── NotDue             it may be claimed from `at`
    │   ├── ActionInFlight     an effect of this work is under way, or its fate is unknown
    │   ├── AttemptsSpent      its budget is used up
    │   ├── Closed             it is finished
    │   ├── StepOutOfOrder     another step is at hand
    │   ├── IntentConflict     the same key was asked with another intent
    │   ├── OutputConflict     the same work was finished with another output
    │   ├── DateConflict       a date that is not the owner's today
    │   ├── NoSuchRow          nothing is declared under this key
    │   ├── ProfileMissing     the owner has no profile
    │   ├── ProfileRefused     a profile says something that cannot be
    │   ├── EvidenceMissing    a frozen piece cannot be read back
    │   ├── Superseded         a newer text is current
    │   ├── CopyRefused        the reader's copy says what its evidence does not
    │   └── TooLate            its useful-until has passed
    ├── TemporalUnreachable    the orchestrator could not be asked; the ledger is unharmed
    └── ProviderError          an outsider; exactly three outcomes
        ├── ProviderRefused      it did not happen and will not
        ├── ProviderUnavailable  it did not happen and may be tried again
        │   └── ObjectChanged      another object is there than the one that was seen
        └── OutcomeUnknown       it may have happened

The docstring of a class is its default message. Facts are attributes. A message never holds an address, a secret or
text from a feed: it may end up in a history that other people can read.
"""

from __future__ import annotations

from datetime import datetime


class MatinsError(Exception):
    """Something was refused."""

    def __init__(self, message: str | None = None, *, key: str = "") -> None:
        self.message = message or (type(self).__doc__ or "").strip().splitlines()[0]
        self.key = key
        super().__init__(f"{key}: {self.message}" if key else self.message)


class Refused(MatinsError):
    """The ledger said no."""


class LeaseLost(Refused):
    """This token no longer holds the work."""


class LeaseHeld(Refused):
    """Somebody else holds the work."""

    def __init__(self, message: str | None = None, *, key: str = "", until: datetime, wait: float) -> None:
        super().__init__(message, key=key)
        self.until, self.wait = until, wait


class NotDue(Refused):
    """It is not due yet."""

    def __init__(self, message: str | None = None, *, key: str = "", at: datetime, wait: float) -> None:
        super().__init__(message, key=key)
        self.at, self.wait = at, wait


class ActionInFlight(Refused):
    """An effect of this work is in flight, or nobody knows yet whether it happened."""


class AttemptsSpent(Refused):
    """Its attempts are used up."""


class Closed(Refused):
    """It is finished."""


class StepOutOfOrder(Refused):
    """Another step is at hand."""


class IntentConflict(Refused):
    """The same key was asked before with another intent."""

    def __init__(self, message: str | None = None, *, key: str = "", stored: str, asked: str) -> None:
        super().__init__(message or f"stored {stored}, asked {asked}", key=key)
        self.stored, self.asked = stored, asked


class OutputConflict(IntentConflict):
    """The same work was finished before with another output."""


class DateConflict(Refused):
    """The date asked for is not the owner's today."""


class NoSuchRow(Refused):
    """Nothing is declared under this key."""


class ProfileMissing(Refused):
    """There is no profile."""


class ProfileRefused(Refused):
    """The profile says something that cannot be."""


class EvidenceMissing(Refused):
    """A frozen piece of evidence cannot be read back."""


class Superseded(Refused):
    """A newer text is current: this one is not published."""


class CopyRefused(Refused):
    """The reader's copy says something that its evidence does not."""


class TooLate(Refused):
    """It is past the time until which it was useful."""


class TemporalUnreachable(MatinsError):
    """Temporal did not answer."""


class ProviderError(MatinsError):
    """An outside provider did not do what was asked."""


class ProviderRefused(ProviderError):
    """It did not happen, and asking again would not change that."""


class ProviderUnavailable(ProviderError):
    """It did not happen, and it may be tried again."""

    def __init__(self, message: str | None = None, *, key: str = "", retry_after: float | None = None) -> None:
        super().__init__(message, key=key)
        self.retry_after = retry_after


class ObjectChanged(ProviderUnavailable):
    """Another object is there than the one that was seen."""

    def __init__(self, message: str | None = None, *, key: str = "", etag: str) -> None:
        super().__init__(message, key=key)
        self.etag = etag
        """Of the object that is there; "" if there is none."""


class OutcomeUnknown(ProviderError):
    """It may have happened."""
