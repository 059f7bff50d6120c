"""The only translator of refusals and provider outcomes into Temporal failures, and of failures into histories.

Waiting is an activity's retry. What waits says for how long; every other refusal is final; anything unforeseen is
retried by the policy, and the ledger bounds how often.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from datetime import timedelta
from typing import Any, TypeVar, cast

import temporalio.api.failure.v1
from temporalio.converter import DefaultFailureConverter, PayloadConverter
from temporalio.exceptions import ApplicationError, ApplicationErrorCategory, FailureError

from matins.rules.errors import (
    ActionInFlight,
    LeaseHeld,
    LeaseLost,
    MatinsError,
    NotDue,
    OutcomeUnknown,
    ProviderUnavailable,
    Refused,
)

WAITS = (LeaseHeld, NotDue)
RETRIED = (ActionInFlight, LeaseLost, ProviderUnavailable, OutcomeUnknown)

Method = TypeVar("Method", bound=Callable[..., Any])


def translate(error: MatinsError) -> ApplicationError:
    """The Temporal failure for one of our own errors: its type, message and key, and when to try again."""
    delay = timedelta(seconds=error.wait + 0.05) if isinstance(error, WAITS) else None
    final = isinstance(error, Refused) and not isinstance(error, (*WAITS, *RETRIED))
    return ApplicationError(
        str(error),
        type=type(error).__name__,
        non_retryable=final,
        next_retry_delay=delay,
        category=ApplicationErrorCategory.BENIGN if delay else ApplicationErrorCategory.UNSPECIFIED,
    )


def told(method: Method) -> Method:
    """Let an activity's own errors leave it as Temporal failures."""

    @functools.wraps(method)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        try:
            return method(*args, **kwargs)
        except MatinsError as error:
            raise translate(error) from None

    return cast(Method, wrapped)


class OwnFailuresOnly(DefaultFailureConverter):
    """Lets into a history only the type of a foreign error: a driver's text can hold the failing row."""

    def to_failure(
        self,
        exception: BaseException,
        payload_converter: PayloadConverter,
        failure: temporalio.api.failure.v1.Failure,
    ) -> None:
        """See the base class."""
        if isinstance(exception, MatinsError):
            exception = translate(exception)
        elif not isinstance(exception, FailureError):
            exception = ApplicationError(f"{type(exception).__name__} (see the worker's log)", type="Unforeseen")
        super().to_failure(exception, payload_converter, failure)
        failure.stack_trace = ""
        if not isinstance(exception, FailureError) or isinstance(exception, ApplicationError):
            failure.ClearField("cause")
