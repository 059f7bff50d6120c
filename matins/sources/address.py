"""Addresses of feeds and items: what may be asked for, what names a source, what a reader is given.

One reading of a URL serves all three, so that the address that is judged is the address that is used. Rules of
syntax: RFC 3986 (escapes, dot segments), UTS 46 for names that are not ASCII.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from ipaddress import IPv6Address
from urllib.parse import quote, urljoin, urlsplit

import idna

from matins.rules.errors import Refused

MAX_LENGTH = 4_000
_PORTS = {"http": 80, "https": 443}
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
_LABEL = re.compile(r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?")
_ESCAPE = re.compile(r"%([0-9A-Fa-f]{2})?")
_PLAIN = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
_SAFE = "/%:@!$&'()*+,;=~-._"
_TRACKING = frozenset(
    {"fbclid", "gclid", "dclid", "gbraid", "wbraid", "msclkid", "yclid", "twclid", "ttclid", "igshid", "mc_cid",
     "mc_eid", "mkt_tok", "_hsenc", "_hsmi", "ref", "ref_src", "ref_url", "cmpid", "ocid", "xtor", "at_medium",
     "at_campaign", "ns_mchannel", "ns_campaign", "vero_id", "oly_enc_id", "guccounter", "__twitter_impression"}
)  # fmt: skip
_TRACKING_PREFIXES = ("utm_", "pk_", "mtm_", "piwik_")


@dataclass(frozen=True, slots=True)
class _Parts:
    origin: str
    path: str
    query: tuple[str, ...]
    fragment: str

    def url(self, *, fragment: bool = False) -> str:
        asked = f"?{'&'.join(self.query)}" if self.query else ""
        return self.origin + self.path + asked + (f"#{self.fragment}" if fragment and self.fragment else "")


def canonical_url(url: str) -> str:
    """The one spelling of `url` that names a source or an item: no tracking, no fragment, query sorted.

    Raises Refused for anything that is not http or https with a host, has credentials or a line break.
    """
    parts = _parts(url)
    return _Parts(parts.origin, parts.path, tuple(sorted(_untracked(parts.query))), "").url()


def request_url(url: str, *, base: str = "") -> str:
    """The URL as a server is asked for it, resolved against `base`: checked and escaped, nothing taken away.

    Raises Refused as `canonical_url` does.
    """
    return _parts(_joined(base, url)).url()


def item_url(href: str, *, base: str = "") -> str:
    """The link that a reader is given: absolute, without tracking, its fragment kept; "" if it is no such link."""
    if not href.strip():
        return ""
    try:
        parts = _parts(_joined(base, href))
    except Refused:
        return ""
    fragment = "" if _is_tracking(parts.fragment) else parts.fragment
    return _Parts(parts.origin, parts.path, tuple(_untracked(parts.query)), fragment).url(fragment=True)


def host_of(url: str) -> str:
    """The host of a checked URL, as allow lists and messages name it: lower case, no brackets, no port."""
    return urlsplit(url).hostname or ""


def _joined(base: str, url: str) -> str:
    try:
        return urljoin(base, _checked(url)) if base else url
    except ValueError as broken:
        raise _bad("it cannot be read") from broken


def _parts(url: str) -> _Parts:
    try:
        split = urlsplit(_checked(url))
        host, port = split.hostname or "", split.port
    except ValueError as broken:
        raise _bad("it cannot be read") from broken
    if split.scheme not in _PORTS:
        raise _bad("it is not http or https")
    if "@" in split.netloc:
        raise _bad("it has credentials in it")
    if not host:
        raise _bad("it has no host")
    shown = "" if port is None or port == _PORTS[split.scheme] else f":{port}"
    return _Parts(
        origin=f"{split.scheme}://{_host(host)}{shown}",
        path=_without_dots(_escaped(split.path)),
        query=tuple(_escaped(pair, also="?") for pair in split.query.split("&") if pair),
        fragment=_escaped(split.fragment, also="?"),
    )


def _checked(url: str) -> str:
    url = url.strip(" ")
    if _CONTROL.search(url):
        raise _bad("it has a line break or a control character in it")
    if len(url) > MAX_LENGTH:
        raise _bad(f"it is longer than {MAX_LENGTH} characters")
    return url


def _host(host: str) -> str:
    if ":" in host:
        return f"[{_ipv6(host)}]"
    if not host.isascii():
        try:
            host = idna.encode(host, uts46=True).decode("ascii").lower()
        except idna.IDNAError as unknown:
            raise _bad("its host is not a name") from unknown
    host = host.removesuffix(".")
    if len(host) > 253 or not all(_LABEL.fullmatch(label) for label in host.split(".")):
        raise _bad("its host is not a name")
    return host


def _ipv6(host: str) -> str:
    try:
        if "%" in host:
            raise ValueError(host)
        return IPv6Address(host).compressed
    except ValueError as unknown:
        raise _bad("its host is not an address") from unknown


def _escaped(text: str, *, also: str = "") -> str:
    def one(match: re.Match[str]) -> str:
        if match[1] is None:
            return "%25"
        character = chr(int(match[1], 16))
        return character if character in _PLAIN else match[0].upper()

    return quote(_ESCAPE.sub(one, text), safe=_SAFE + also)


def _without_dots(path: str) -> str:
    kept: list[str] = []
    segments = path.split("/")[1:]
    for segment in segments:
        if segment == "..":
            del kept[-1:]
        elif segment != ".":
            kept.append(segment)
    if segments and segments[-1] in (".", ".."):
        kept.append("")
    return "/" + "/".join(kept)


def _untracked(query: tuple[str, ...]) -> list[str]:
    return [pair for pair in query if not _is_tracking(pair)]


def _is_tracking(pair: str) -> bool:
    name = pair.partition("=")[0].lower()
    return name in _TRACKING or name.startswith(_TRACKING_PREFIXES)


def _bad(what: str) -> Refused:
    return Refused(f"bad URL: {what}; write it as https://host/path")
