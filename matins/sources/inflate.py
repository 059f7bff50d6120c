"""Decompression by hand, with caps on what comes out: a small answer may not grow without end.

Encodings: RFC 9110 section 8.4.1 (gzip, deflate). Only gzip is asked for; deflate is read where it comes anyway.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass, field

from matins.rules.errors import ProviderRefused

MEGABYTE = 1024 * 1024
_PIECE = 256 * 1024
_GZIP = b"\x1f\x8b"
_KNOWN = {"": "", "identity": "", "gzip": "gzip", "x-gzip": "gzip", "deflate": "deflate"}


@dataclass(frozen=True, slots=True)
class Caps:
    """What one body may grow to."""

    max_bytes: int = 8 * MEGABYTE
    """After decompression."""
    ratio: int = 100
    """Plain bytes per compressed byte, judged beyond the first `free` plain bytes."""
    free: int = MEGABYTE


@dataclass(slots=True)
class Inflater:
    """Takes a body as it comes over the wire and gives it back plain, or raises as soon as a cap is passed."""

    encoding: str
    caps: Caps
    taken: int = 0
    plain: bytearray = field(default_factory=bytearray)
    _member: zlib._Decompress | None = None

    @classmethod
    def of(cls, content_encoding: str, *, caps: Caps) -> Inflater:
        """For the value of a Content-Encoding header. Raises ProviderRefused if nobody asked for that encoding."""
        name = content_encoding.strip().lower()
        if name not in _KNOWN:
            raise ProviderRefused("answered in an encoding that was not asked for")
        return cls(_KNOWN[name], caps)

    def take(self, chunk: bytes) -> None:
        """The next bytes from the wire. Raises ProviderRefused past a cap, or where they are not what they claim."""
        self.taken += len(chunk)
        if not self.encoding:
            self._keep(chunk)
            return
        while chunk:
            chunk = self._inflate(chunk)

    @property
    def cut_off(self) -> bool:
        """Whether the compressed stream has not come to its end."""
        return bool(self.encoding and self.taken and not (self._member and self._member.eof))

    def body(self) -> bytes:
        """The plain body as far as it came. Raises ProviderRefused if it is compressed once more."""
        if self.encoding and self.plain.startswith(_GZIP):
            raise ProviderRefused("the answer is compressed twice")
        return bytes(self.plain)

    def _inflate(self, chunk: bytes) -> bytes:
        """What is left of `chunk` after one piece."""
        if self._member is None or self._member.eof:
            if self._member and not chunk.strip(b"\0"):
                return b""  # padding after a gzip member
            self._member = zlib.decompressobj(self._window(chunk))
        try:
            self._keep(self._member.decompress(chunk, _PIECE))
        except zlib.error as broken:
            raise ProviderRefused(f"says it is {self.encoding}, and is not") from broken
        return self._member.unused_data if self._member.eof else self._member.unconsumed_tail

    def _window(self, chunk: bytes) -> int:
        if self.encoding == "gzip":
            return zlib.MAX_WBITS | 16
        wrapped = chunk[0] & 0x0F == 8 and (len(chunk) < 2 or int.from_bytes(chunk[:2], "big") % 31 == 0)
        return zlib.MAX_WBITS if wrapped else -zlib.MAX_WBITS

    def _keep(self, plain: bytes) -> None:
        self.plain += plain
        if len(self.plain) > self.caps.max_bytes:
            raise ProviderRefused(f"too large: more than {self.caps.max_bytes // MEGABYTE or 1} MB")
        if self.encoding and len(self.plain) > max(self.caps.free, self.caps.ratio * self.taken):
            raise ProviderRefused(f"expands to more than {self.caps.ratio} times its size")
