"""The guarded fetcher: one conditional GET, redirects followed by hand, every hop judged, everything capped.

A failure names the host and the cause, never a full address and nothing of what the server said.
"""

from __future__ import annotations

import ssl
from dataclasses import dataclass, field, replace

import httpcore2

from matins.rules.errors import ProviderError, ProviderRefused, ProviderUnavailable, Refused
from matins.rules.evidence import Cursor
from matins.sources.address import host_of, request_url
from matins.sources.guard import Deadline, Gate, Resolver
from matins.sources.headers import charset_of, retry_after
from matins.sources.inflate import Caps, Inflater

USER_AGENT = "Matins/0.1"
_ACCEPT = (
    "application/atom+xml, application/rss+xml, application/feed+json, application/xml;q=0.9, text/xml;q=0.9, "
    "application/json;q=0.8, */*;q=0.1"
)
_PERMANENT = frozenset({301, 308})
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_PASSING = frozenset({408, 425, 429})
"""Refusals that say themselves that they will pass (RFC 9110, 8470, 6585)."""
_VALIDATOR_LENGTH = 500
_MISTAKES = (
    httpcore2.TimeoutException, httpcore2.NetworkError, httpcore2.ProtocolError, httpcore2.UnsupportedProtocol
)  # fmt: skip


def _system_resolver() -> Resolver:
    from socket import getaddrinfo

    return getaddrinfo


@dataclass(frozen=True, slots=True)
class Fetched:
    """What came back."""

    status: int
    """200 or 304; 410 from `look` only."""
    body: bytes
    content_type: str
    cursor: Cursor
    """The validators for the next read; for a 304 those that were sent."""
    final_url: str
    """Where the body came from: the base of its relative links."""
    charset_hint: str
    retry_after: float | None
    """Seconds the server asked us to wait, if it did."""
    broke_off: str = ""
    """Why the body is only the beginning of one, from `look` only; "" if it is whole."""
    moved: bool = False
    """It came by redirects, and every one of them was permanent."""


@dataclass(frozen=True, slots=True)
class _Onward:
    url: str
    permanent: bool


@dataclass(frozen=True, slots=True)
class Fetcher:
    """Gets documents from the public Internet, and from the private hosts named here. Safe to share by threads."""

    allow_hosts: frozenset[str] = frozenset()
    """Hosts ("host" or "host:port") that may have a private address."""
    caps: Caps = field(default_factory=Caps)
    total_seconds: float = 20.0
    """For the whole fetch: all hops, names and bodies."""
    connect_seconds: float = 5.0
    """For one attempt to connect to one address."""
    max_redirects: int = 5
    resolver: Resolver = field(default_factory=_system_resolver)
    tls: ssl.SSLContext = field(default_factory=httpcore2.default_ssl_context)

    def get(self, url: str, *, cursor: Cursor) -> Fetched:
        """The document at `url`, or "not modified" since `cursor`.

        Raises ProviderUnavailable (network, 5xx, 429, out of time) or ProviderRefused (guard, 4xx, caps, encoding).
        """
        fetched = self.look(url, cursor=cursor)
        redirected = fetched.final_url != _requestable(url, base="", came_from="")
        if fetched.status == 410:
            raise _named(ProviderRefused("410"), host_of(fetched.final_url), redirected)
        if fetched.broke_off:
            raise ProviderUnavailable(fetched.broke_off, key=host_of(fetched.final_url))
        return fetched

    def look(self, url: str, *, cursor: Cursor) -> Fetched:
        """The same, which also hands back the beginning of a body that broke off, and a 410 of the address itself.

        A cap that was passed and a time that was up are failures here too: what is cut on purpose is no beginning.
        """
        deadline = Deadline.after(self.total_seconds)
        first = _requestable(url, base="", came_from="")
        here = _Onward(first, permanent=True)
        for hop in range(self.max_redirects + 1):
            asked = cursor if here.url == first else Cursor()
            answer = self._hop(here, asked, deadline, redirected=here.url != first)
            if isinstance(answer, Fetched):
                return replace(answer, moved=hop > 0 and here.permanent)
            here = replace(answer, permanent=answer.permanent and here.permanent)
        raise ProviderRefused(f"redirects more than {self.max_redirects} times", key=host_of(first))

    def _hop(self, here: _Onward, cursor: Cursor, deadline: Deadline, *, redirected: bool) -> Fetched | _Onward:
        """What came from `here`, or the address to go to next."""
        host = host_of(here.url)
        gate = Gate(self.resolver, self.allow_hosts, self.connect_seconds, deadline)
        try:
            with (
                httpcore2.ConnectionPool(ssl_context=self.tls, network_backend=gate, max_connections=1) as pool,
                pool.stream("GET", here.url, headers=_headers(cursor), extensions=self._timeouts()) as response,
            ):
                return self._read(_Answer(response), here, cursor, redirected=redirected)
        except _MISTAKES as mistake:
            raise _named(ProviderUnavailable(self._why(mistake, deadline)), host, redirected) from mistake
        except ProviderError as failure:
            raise _named(failure, host, redirected) from failure.__cause__

    def _why(self, mistake: Exception, deadline: Deadline) -> str:
        return f"no whole answer in {self.total_seconds:g} s" if deadline.passed else _cause(mistake)

    def _timeouts(self) -> dict[str, dict[str, float]]:
        return {"timeout": {"connect": self.connect_seconds, "read": self.total_seconds, "write": self.total_seconds}}

    def _read(self, answer: _Answer, here: _Onward, cursor: Cursor, *, redirected: bool) -> Fetched | _Onward:
        if answer.status in _REDIRECTS:
            onward = _requestable(answer.header("location"), base=here.url, came_from=host_of(here.url))
            return _Onward(onward, answer.status in _PERMANENT)
        if answer.status == 304 and not (cursor.etag or cursor.last_modified):
            raise ProviderRefused("answered 304 (not modified) though nothing was compared")
        if answer.status == 304:
            return answer.fetched(b"", cursor, here.url)
        if answer.status == 410 and here.permanent:
            return answer.fetched(b"", Cursor(), here.url)
        answer.must_be_ok()
        # Validators belong to one address: behind a redirect they would be sent to another one next time.
        validators = Cursor() if redirected else Cursor(answer.validator("etag"), answer.validator("last-modified"))
        body, broke_off = self._body(answer)
        return replace(answer.fetched(body, validators, here.url), broke_off=broke_off)

    def _body(self, answer: _Answer) -> tuple[bytes, str]:
        """The body, and why it is only the beginning of one. A time that is up is no NetworkError: it goes through."""
        inflater = Inflater.of(answer.header("content-encoding"), caps=self.caps)
        try:
            for chunk in answer.response.iter_stream():
                inflater.take(chunk)
        except (httpcore2.NetworkError, httpcore2.RemoteProtocolError) as mistake:
            return bytes(inflater.plain), _cause(mistake)
        return inflater.body(), "the compressed answer is cut off" if inflater.cut_off else ""


@dataclass(frozen=True, slots=True)
class _Answer:
    response: httpcore2.Response

    @property
    def status(self) -> int:
        return self.response.status

    def header(self, name: str) -> str:
        """All values of one header, joined as RFC 9110 section 5.3 joins them; "" if there is none."""
        wanted = name.encode()
        return ", ".join(value.decode("latin-1") for key, value in self.response.headers if key.lower() == wanted)

    def validator(self, name: str) -> str:
        """A validator that may be sent back, else ""."""
        value = self.header(name)
        return value if value.isascii() and value.isprintable() and len(value) <= _VALIDATOR_LENGTH else ""

    def must_be_ok(self) -> None:
        if self.status == 200:
            return
        if self.status >= 500 or self.status in _PASSING:
            raise ProviderUnavailable(str(self.status), retry_after=self.retry_after())
        raise ProviderRefused(str(self.status))

    def retry_after(self) -> float | None:
        return retry_after(self.header("retry-after"), date=self.header("date"))

    def fetched(self, body: bytes, cursor: Cursor, url: str) -> Fetched:
        content_type = self.header("content-type")[:200]
        return Fetched(
            status=self.status,
            body=body,
            content_type=content_type,
            cursor=cursor,
            final_url=url,
            charset_hint=charset_of(content_type),
            retry_after=self.retry_after(),
        )


def _headers(cursor: Cursor) -> list[tuple[str, str]]:
    headers = [("User-Agent", USER_AGENT), ("Accept", _ACCEPT), ("Accept-Encoding", "gzip"), ("Connection", "close")]
    if cursor.etag:
        headers.append(("If-None-Match", cursor.etag))
    if cursor.last_modified:
        headers.append(("If-Modified-Since", cursor.last_modified))
    return headers


def _requestable(url: str, *, base: str, came_from: str) -> str:
    if base and not url:
        raise ProviderRefused("redirects without saying where", key=came_from)
    try:
        return request_url(url, base=base)
    except Refused as bad:
        cause = bad.message.partition(";")[0]
        raise ProviderRefused(f"redirects to a {cause}" if base else cause, key=came_from) from bad


def _named(failure: ProviderError, host: str, redirected: bool) -> ProviderError:
    """The same failure, naming the host where it happened, and in its message the hop that led there."""
    cause = f"redirected to {host[:100]}: {failure.message}" if redirected else failure.message
    if isinstance(failure, ProviderUnavailable):
        return ProviderUnavailable(cause, key=host, retry_after=failure.retry_after)
    return ProviderRefused(cause, key=host)


def _cause(mistake: BaseException) -> str:
    match mistake.__cause__ or mistake.__context__:
        case ssl.SSLCertVerificationError():
            return "its certificate cannot be trusted"
        case ssl.SSLError():
            return "no secure connection (TLS failed)"
        case ConnectionRefusedError():
            return "connection refused"
        case ConnectionResetError() | BrokenPipeError():
            return "connection reset"
        case httpcore2.NetworkError() as inner:
            return _cause(inner)
    if isinstance(mistake, httpcore2.ConnectTimeout):
        return "did not take the connection in time"
    if isinstance(mistake, httpcore2.TimeoutException):
        return "did not answer in time"
    if isinstance(mistake, httpcore2.NetworkError):
        return "no connection"
    return "its answer broke off or is no HTTP"
