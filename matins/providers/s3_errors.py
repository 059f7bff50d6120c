"""What an S3 store's errors stand for: its status and code, never its text, which may repeat what we sent."""

from __future__ import annotations

import re
from typing import Any

from matins.rules.errors import ProviderError, ProviderRefused, ProviderUnavailable

_DOOR = frozenset({301, 307, 401, 403, 404, 408, 409, 412, 425, 429})
"""Answers about who asks, where and when, not about the object: settings that a person mends, or "not now"."""

_DOOR_CODES = frozenset({"RequestTimeout", "ExpiredToken", "InvalidToken", "AuthorizationHeaderMalformed"})


def trouble(provider: str, error: Exception) -> ProviderError:
    """The outcome that an error stands for: refused only what asking again would not change."""
    status = status_of(error)
    if not status:
        return ProviderUnavailable(f"{provider}: no answer ({type(error).__name__})")
    said = f"{provider} answered {status} {code_of(error)}".rstrip()
    if status == 501 or (400 <= status < 500 and status not in _DOOR and code_of(error) not in _DOOR_CODES):
        return ProviderRefused(said)
    return ProviderUnavailable(said, retry_after=_retry_after(error))


def never_asked(error: Exception) -> bool:
    """Whether no connection came about, so that there is nothing to read back."""
    from botocore.exceptions import ConnectTimeoutError, EndpointConnectionError

    return isinstance(error, ConnectTimeoutError | EndpointConnectionError)


def _answer(error: Exception) -> dict[str, Any]:
    return getattr(error, "response", None) or {}


def status_of(error: Exception) -> int:
    """The HTTP status that the store answered with, or 0 if there was no answer."""
    return int(_answer(error).get("ResponseMetadata", {}).get("HTTPStatusCode", 0))


def code_of(error: Exception) -> str:
    """The store's name for the error, or "": never its text, which may repeat what we sent."""
    code = str(_answer(error).get("Error", {}).get("Code", ""))
    return code if re.fullmatch(r"[A-Za-z]{1,60}", code) else ""


def _retry_after(error: Exception) -> float | None:
    given = _answer(error).get("ResponseMetadata", {}).get("HTTPHeaders", {}).get("retry-after", "")
    return float(given) if given.isascii() and given.isdigit() else None
