"""The guard at the door to the network: every address is judged before it is connected to.

A host is resolved once per hop, every answer is judged, and the connection goes to a judged address, so that a name
cannot answer one thing to the check and another to the call. TLS and the Host header keep the name.
"""

from __future__ import annotations

import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address
from typing import Any

import httpcore2

from matins.rules.errors import ProviderRefused, ProviderUnavailable

Resolver = Callable[..., Iterable[Any]]
"""Called as socket.getaddrinfo is: (host, port, type=SOCK_STREAM); answers what it answers."""

_ADDRESSES_TRIED = 4
_ALLOCATED = IPv6Network("2000::/3")
_NAT64 = IPv6Network("64:ff9b::/96")
"""RFC 6052: the last 32 bits are an IPv4 address."""


@dataclass(frozen=True, slots=True)
class Deadline:
    """The instant, on this process's monotonic clock, at which one whole fetch ends."""

    at: float

    @classmethod
    def after(cls, seconds: float) -> Deadline:
        """A deadline `seconds` from now."""
        return cls(time.monotonic() + seconds)

    def within(self, seconds: float | None) -> float:
        """What is left, but at most `seconds`. Raises httpcore2.ReadTimeout where nothing is left."""
        left = self.at - time.monotonic()
        if left <= 0:
            raise httpcore2.ReadTimeout("the time of this fetch is up")
        return left if seconds is None else min(left, seconds)

    @property
    def passed(self) -> bool:
        """Whether it is over."""
        return time.monotonic() >= self.at


def is_public(address: str) -> bool:
    """Whether `address` belongs to the public Internet, also by the IPv4 address that it may carry inside."""
    try:
        found = ip_address(address)
    except ValueError:
        return False
    return all(_is_public(one) for one in _with_inner(found))


def _with_inner(address: IPv4Address | IPv6Address) -> Iterator[IPv4Address | IPv6Address]:
    if isinstance(address, IPv4Address):
        yield address
    elif address.ipv4_mapped:
        yield address.ipv4_mapped
    elif address in _NAT64:
        yield IPv4Address(int(address) & 0xFFFFFFFF)
    elif address.sixtofour:  # judged by the address inside: Python's versions differ on the outer one
        yield address.sixtofour
    else:
        yield address


def _is_public(address: IPv4Address | IPv6Address) -> bool:
    if isinstance(address, IPv6Address) and address not in _ALLOCATED:
        return False
    return address.is_global and not (address.is_multicast or address.is_reserved or address.is_unspecified)


@dataclass(frozen=True, slots=True)
class Gate(httpcore2.NetworkBackend):
    """The network as one fetch may use it: judged addresses only, and nothing after its deadline."""

    resolver: Resolver
    allow_hosts: frozenset[str]
    connect_seconds: float
    deadline: Deadline

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore2.NetworkStream:
        """A connection to the first judged address of `host` that takes one.

        Raises ProviderRefused, before any connection, if one of its addresses is private and it is not allowed.
        """
        failure: Exception = httpcore2.ConnectError()
        for address in self.judged(host, port)[:_ADDRESSES_TRIED]:
            seconds = self.deadline.within(self.connect_seconds if timeout is None else timeout)
            try:
                stream = httpcore2.SyncBackend().connect_tcp(address, port, seconds, local_address, socket_options)
            except (httpcore2.ConnectError, httpcore2.ConnectTimeout) as refused:
                failure = refused
            else:
                return _Timed(stream, self.deadline)
        raise failure

    def connect_unix_socket(self, *_: Any, **__: Any) -> httpcore2.NetworkStream:
        """Never: sources are on the network. Raises ProviderRefused."""
        raise ProviderRefused("a local socket is no source")

    def judged(self, host: str, port: int) -> tuple[str, ...]:
        """The addresses of `host`, resolved once, in the resolver's order, without repeats."""
        addresses = tuple(dict.fromkeys(self._resolved(host, port)))
        if not addresses:
            raise ProviderUnavailable("its name cannot be resolved", key=host)
        if {host, f"{host}:{port}"} & self.allow_hosts:
            return addresses
        if not all(is_public(address) for address in addresses):
            raise ProviderRefused("resolves to a private address", key=host)
        return addresses

    def _resolved(self, host: str, port: int) -> list[str]:
        """Asked in a thread: a resolver has no timeout of its own."""
        answers: list[str] = []

        def ask() -> None:
            try:
                answers.extend(str(found[4][0]) for found in self.resolver(host, port, type=socket.SOCK_STREAM))
            except (OSError, UnicodeError):
                answers.clear()

        thread = threading.Thread(target=ask, name="resolve", daemon=True)
        thread.start()
        thread.join(self.deadline.within(None))
        if thread.is_alive():
            raise ProviderUnavailable("its name server did not answer in time", key=host)
        return answers


@dataclass(frozen=True, slots=True)
class _Timed(httpcore2.NetworkStream):
    """A stream on which no wait is longer than what is left of the whole fetch: a slow drip ends too."""

    stream: httpcore2.NetworkStream
    deadline: Deadline

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self.stream.read(max_bytes, self.deadline.within(timeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self.stream.write(buffer, self.deadline.within(timeout))

    def close(self) -> None:
        self.stream.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore2.NetworkStream:
        secured = self.stream.start_tls(ssl_context, server_hostname, self.deadline.within(timeout))
        return _Timed(secured, self.deadline)

    def get_extra_info(self, info: str) -> Any:
        return self.stream.get_extra_info(info)
