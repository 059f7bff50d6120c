"""A small S3 store on the loopback that misbehaves as it is told, and keeps count of what it stored."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Iterable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Self

BUCKET = "faulty"

SAVE_AND_DROP = "save, then close without an answer"
SAVE_AND_HANG = "save, then say nothing"
SAVE_AND_500 = "save, then answer 500"
IGNORE_CONDITION = "store although the key is taken"
DROP = "close without an answer"
CORRUPT = "give other bytes"
TRUNCATE = "give half of the bytes, then close"
STALE = "give what was there before"

ERRORS = {
    "400": (400, "InvalidRequest"),
    "403": (403, "AccessDenied"),
    "404": (404, "NoSuchBucket"),
    "409": (409, "ConditionalRequestConflict"),
    "413": (413, "EntityTooLarge"),
    "500": (500, "InternalError"),
    "501": (501, "NotImplemented"),
    "503": (503, "SlowDown"),
}
"""Answers instead of doing anything. Their text repeats what no error of ours may."""


class FaultyS3:
    """Each PUT and each GET of an object uses up one fault of its list; with none left, all is done right.

    `conditions` False ignores every If-Match and If-None-Match; `matches_nothing` accepts an If-Match on a missing key.
    `before_put` and `after_put`, if set, are called with the key of each object around its being stored.
    """

    conditions, matches_nothing = True, False
    before_put: Callable[[str], None] | None = None
    after_put: Callable[[str], None] | None = None

    def __init__(self, *, put: Iterable[str] = (), get: Iterable[str] = ()) -> None:
        self.faults = {"PUT": list(put), "GET": list(get)}
        self.versions: dict[str, list[bytes]] = {}
        self.requests: list[str] = []
        self.lock, self.stopping = threading.Lock(), threading.Event()
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.store = self
        self.endpoint = f"http://127.0.0.1:{self._server.server_address[1]}"
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02})

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stopping.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(timeout=10)

    def script(self, *, put: Iterable[str] = (), get: Iterable[str] = ()) -> None:
        """Begin anew, empty, with these faults."""
        with self.lock:
            self.faults = {"PUT": list(put), "GET": list(get)}
            self.versions, self.requests = {}, []

    def objects(self) -> dict[str, bytes]:
        """What is there now, by key."""
        with self.lock:
            return {key: versions[-1] for key, versions in self.versions.items()}

    def refuses(self, key: str, if_none_match: str | None, if_match: str | None) -> int:
        """The status with which the conditions of a PUT refuse it, or 0."""
        there = self.versions.get(key)
        if not self.conditions:
            return 0
        if if_none_match == "*" and there:
            return 412
        if if_match and not there:
            return 0 if self.matches_nothing else 404
        return 412 if if_match and there and if_match != etag_of(there[-1]) else 0

    def fault(self, method: str) -> str:
        """The fault of this request, or ""."""
        with self.lock:
            return self.faults[method].pop(0) if self.faults[method] else ""


def etag_of(body: bytes) -> str:
    """An ETag that is no digest of the body alone, as of an object that was uploaded in parts."""
    return f'"{hashlib.md5(body, usedforsecurity=False).hexdigest()}-2"'


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    store: FaultyS3


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def do_PUT(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", "0")))
        key = self._key()
        if not key:
            return self._reply(200)
        store, fault = self.server.store, self.server.store.fault("PUT")
        if fault in ERRORS:
            return self._error(*ERRORS[fault])
        if fault == DROP:
            return self._drop()
        if store.before_put is not None:
            store.before_put(key)
        with store.lock:
            refused = store.refuses(key, self.headers.get("If-None-Match"), self.headers.get("If-Match"))
            if refused and fault != IGNORE_CONDITION:
                return self._error(refused, "PreconditionFailed" if refused == 412 else "NoSuchKey")
            store.versions.setdefault(key, []).append(body)
        if store.after_put is not None:
            store.after_put(key)
        if fault == SAVE_AND_500:
            return self._error(500, "InternalError")
        if fault == SAVE_AND_HANG:
            store.stopping.wait(10)
        if fault in (SAVE_AND_DROP, SAVE_AND_HANG):
            return self._drop()
        return self._reply(200, etag=etag_of(body))

    def do_GET(self) -> None:
        key, store = self._key(), self.server.store
        if not key:
            return self._reply(200, b"<ListVersionsResult></ListVersionsResult>")
        fault = store.fault("GET")
        if fault in ERRORS:
            return self._error(*ERRORS[fault])
        if fault == DROP:
            return self._drop()
        versions = store.versions.get(key, [])[: -1 if fault == STALE else None]
        if not versions:
            return self._error(404, "NoSuchKey")
        body = versions[-1]
        if fault == TRUNCATE:
            self._reply(200, body[: len(body) // 2], length=len(body))
            return self._drop()
        return self._reply(200, body[:-1] + b"\x00" if fault == CORRUPT else body, etag=etag_of(body))

    def do_HEAD(self) -> None:
        self._reply(200)

    def do_DELETE(self) -> None:
        self.server.store.versions.pop(self._key(), None)
        self._reply(204)

    def log_message(self, *_: object) -> None:
        pass

    def _key(self) -> str:
        self.server.store.requests.append(f"{self.command} {self.path}")
        return self.path.partition("?")[0].removeprefix(f"/{BUCKET}").strip("/")

    def _reply(self, status: int, body: bytes = b"", *, length: int | None = None, etag: str = "") -> None:
        self.send_response(status)
        if etag:
            self.send_header("ETag", etag)
        self.send_header("Content-Length", str(len(body) if length is None else length))
        if status == 503:
            self.send_header("Retry-After", "7")
        self.end_headers()
        self.wfile.write(body)

    def _error(self, status: int, code: str) -> None:
        told = f"hush-secret said no to access-id, {self.path}"
        self._reply(status, f"<Error><Code>{code}</Code><Message>{told}</Message></Error>".encode())

    def _drop(self) -> None:
        self.close_connection = True
