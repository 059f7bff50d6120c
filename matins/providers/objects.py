"""Objects in an S3 store: written once under a key of their own, and believed only when read back.

What an object is, its own SHA-256 says, in the caller's row and in the object's metadata; an ETag is no digest as
soon as a store encrypts or takes an object in parts. To put the same bytes again does no harm.

Conditional writes: docs.aws.amazon.com/AmazonS3/latest/userguide/conditional-writes.html. 412 says that the key is
taken, 409 that two wrote at once and perhaps nobody won; after either, reading back tells what is there.
"""

from __future__ import annotations

import os
import threading
import uuid
from base64 import b64encode
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from typing import Any

from matins.providers.s3_errors import code_of, never_asked, status_of, trouble
from matins.rules.canonical import sha256
from matins.rules.errors import ObjectChanged, ProviderError, ProviderRefused, ProviderUnavailable
from matins.rules.receipt import Receipt


@dataclass(frozen=True, slots=True)
class _Stored:
    body: bytes
    etag: str
    version: str
    claimed: str
    """The SHA-256 in its metadata, or ""."""


class Objects:
    """One bucket of one S3 store. Safe for several threads; one client, made at the first call."""

    remembers_keys = True
    """A put that is repeated gets the receipt of the first."""

    def __init__(
        self,
        endpoint: str,
        *,
        access_key: str,
        secret_key: str,
        bucket: str,
        region: str = "us-east-1",
        timeout: float = 20.0,
        connect_timeout: float = 5.0,
    ) -> None:
        """`timeout` limits each wait for the store's answer, in seconds. Nothing is asked yet."""
        self._endpoint, self._bucket, self._region = endpoint, bucket, region
        self._keys = (access_key, secret_key)
        self._timeout, self._connect_timeout = timeout, connect_timeout
        self._made: Any = None
        self._making = threading.Lock()
        self._conditions: bool | None = None
        self.provider = f"s3:{bucket}"

    def put(self, key: str, data: bytes, *, content_type: str, idempotency_key: str) -> Receipt:
        """Have exactly `data` under `key`, and the store's word for it, the same at every repetition.

        Raises ProviderRefused if other bytes are there or the store will not take these, ProviderUnavailable if
        they are not there and may be put again.
        """
        from botocore.exceptions import BotoCoreError, ClientError

        try:
            answer = self._client().put_object(
                Bucket=self._bucket,
                Key=key,
                Body=data,
                ContentType=content_type,
                IfNoneMatch="*",
                Metadata={"sha256": sha256(data)},
                ChecksumSHA256=b64encode(bytes.fromhex(sha256(data))).decode("ascii"),
            )
        except (ClientError, BotoCoreError) as error:
            trouble = self._trouble(error)
            if isinstance(trouble, ProviderRefused) or never_asked(error):
                raise trouble from None
            etag, version = self._find(key, data, trouble=trouble)
        else:
            etag, version = answer.get("ETag", ""), answer.get("VersionId", "")
        return self._receipt(key, data, etag=etag, version=version, idempotency_key=idempotency_key)

    def replace(self, key: str, data: bytes, *, content_type: str, seen: str, conditional: bool) -> str:
        """Have `data` under `key` in place of what was there. Returns its ETag, for the next time.

        With `conditional` only if the object is still the one with the ETag `seen` ("": only if there is none); a
        store that does not honour conditions must be asked without. A reply that was lost, and a condition that our
        own earlier write no longer meets, are told by reading back. Raises ObjectChanged with the ETag that is there
        if other bytes are, ProviderRefused, or ProviderUnavailable if it may be put again.
        """
        from botocore.exceptions import BotoCoreError, ClientError

        condition = ({"IfMatch": seen} if seen else {"IfNoneMatch": "*"}) if conditional else {}
        try:
            answer = self._client().put_object(
                Bucket=self._bucket,
                Key=key,
                Body=data,
                ContentType=content_type,
                Metadata={"sha256": sha256(data)},
                ChecksumSHA256=b64encode(bytes.fromhex(sha256(data))).decode("ascii"),
                **condition,
            )
        except (ClientError, BotoCoreError) as error:
            failure = self._trouble(error)
            if isinstance(failure, ProviderRefused) or never_asked(error):
                raise failure from None
            return self._replaced(key, data, failure, condition_failed=status_of(error) in (404, 412))
        return str(answer.get("ETag", ""))

    def _replaced(self, key: str, data: bytes, failure: ProviderError, *, condition_failed: bool) -> str:
        """The ETag of `data` under `key` after all; else what the failure amounts to."""
        try:
            stored = self._read(key)
        except ProviderError:
            raise failure from None
        if stored is not None and sha256(stored.body) == sha256(data):
            return stored.etag
        if condition_failed:
            raise ObjectChanged(
                f"{self.provider}: {key} is not the object that was seen", etag=stored.etag if stored else ""
            ) from None
        raise failure from None

    def get(self, key: str) -> bytes | None:
        """The bytes under `key`, or None if there are none.

        Raises ProviderUnavailable if that cannot be said, or if they are not the bytes that were put.
        """
        stored = self._read(key)
        if stored is None:
            return None
        if stored.claimed and stored.claimed != sha256(stored.body):
            raise ProviderUnavailable(f"{self.provider}: {key} came back with other bytes than were put")
        return stored.body

    def read_back(self, key: str, sha256_hex: str) -> bool:
        """Whether the bytes that the store gives for `key` right now have this SHA-256.

        Raises ProviderUnavailable if it gives no whole answer.
        """
        stored = self._read(key)
        return stored is not None and sha256(stored.body) == sha256_hex

    def ensure_bucket(self) -> None:
        """Make the bucket if it is not there. Raises ProviderRefused if it is somebody else's."""
        from botocore.exceptions import BotoCoreError, ClientError

        try:
            self._client().head_bucket(Bucket=self._bucket)
            return
        except (ClientError, BotoCoreError) as error:
            if status_of(error) != 404:
                raise self._trouble(error) from None
        with self._translated():
            try:
                self._client().create_bucket(Bucket=self._bucket, **self._place())
            except ClientError as error:
                if code_of(error) == "BucketAlreadyExists":
                    raise ProviderRefused(f"{self.provider}: the bucket is somebody else's") from None
                if code_of(error) != "BucketAlreadyOwnedByYou":
                    raise

    def probe(self) -> bool:
        """Whether the store honours conditions: it must refuse a second creating write to one key, and a write in
        place of an object with another ETag, and allow one in place of the object that is there.

        Raises ProviderUnavailable if it cannot be asked. What it writes, under `probe/`, it removes.
        """
        key = f"probe/{uuid.uuid4().hex}"
        try:
            first = self._attempt(key, b"first", IfNoneMatch="*")
            second = self._attempt(key, b"second", IfNoneMatch="*")
            other = self._attempt(key, b"third", IfMatch='"00000000000000000000000000000000"')
            stored = self._read(key)
            if (first, second, other) != (200, 412, 412) or stored is None or stored.body != b"first":
                return False
            return self._attempt(key, b"fourth", IfMatch=stored.etag) == 200 and self.read_back(key, sha256(b"fourth"))
        finally:
            self._forget(key)

    def honours_conditions(self) -> bool:
        """What `probe` found, asked once in its life. Raises ProviderUnavailable if it cannot be asked."""
        if self._conditions is None:
            self._conditions = self.probe()
        return self._conditions

    def close(self) -> None:
        """Close the connections. A later call opens new ones."""
        with self._making:
            if self._made is not None:
                self._made.close()
                self._made = None

    def _find(self, key: str, data: bytes, *, trouble: ProviderError) -> tuple[str, str]:
        """ETag and version of `data` under `key`; `trouble` if they are not there."""
        try:
            stored = self._read(key)
        except ProviderError:
            raise trouble from None
        if stored is None:
            raise trouble from None
        if sha256(stored.body) != sha256(data):
            raise ProviderRefused(f"{self.provider}: other bytes are stored as {key}") from None
        return stored.etag, stored.version

    def _receipt(self, key: str, data: bytes, *, etag: str, version: str, idempotency_key: str) -> Receipt:
        named = version not in ("", "null")
        reference = f"{key}@{version}" if named else f"{key}#{idempotency_key}"
        return Receipt(self.provider, reference, {"sha256": sha256(data), "etag": etag})

    def _read(self, key: str) -> _Stored | None:
        from botocore.exceptions import ClientError

        with self._translated():
            try:
                answer = self._client().get_object(Bucket=self._bucket, Key=key)
            except ClientError as error:
                if code_of(error) == "NoSuchKey":
                    return None
                raise
            with closing(answer["Body"]) as body:
                content = body.read()
            claimed = answer.get("Metadata", {}).get("sha256", "")
            return _Stored(content, answer.get("ETag", ""), answer.get("VersionId", ""), claimed)

    def _attempt(self, key: str, data: bytes, **condition: str) -> int:
        """The HTTP status of one conditional write: 200, 412, or what a store answers that knows no conditions."""
        from botocore.exceptions import ClientError

        with self._translated():
            try:
                self._client().put_object(Bucket=self._bucket, Key=key, Body=data, **condition)
            except ClientError as error:
                if status_of(error) in (400, 404, 409, 412, 501):
                    return status_of(error)
                raise
        return 200

    def _forget(self, key: str) -> None:
        """Remove all of `key`, in a bucket with versions too. What cannot be removed stays: it does no harm."""
        from botocore.exceptions import BotoCoreError, ClientError

        with suppress(BotoCoreError, ClientError):
            client = self._client()
            client.delete_object(Bucket=self._bucket, Key=key)
            listed = client.list_object_versions(Bucket=self._bucket, Prefix=key)
            for entry in listed.get("Versions", []) + listed.get("DeleteMarkers", []):
                if entry["VersionId"] != "null":
                    client.delete_object(Bucket=self._bucket, Key=key, VersionId=entry["VersionId"])

    @contextmanager
    def _translated(self) -> Iterator[None]:
        from botocore.exceptions import BotoCoreError, ClientError

        try:
            yield
        except (ClientError, BotoCoreError) as error:
            raise self._trouble(error) from None

    def _trouble(self, error: Exception) -> ProviderError:
        return trouble(self.provider, error)

    def _client(self) -> Any:
        with self._making:
            if self._made is None:
                self._made = self._make()
            return self._made

    def _make(self) -> Any:
        import botocore.session
        from botocore.config import Config

        nothing_of_a_person = {
            "profile": (None, None, None, None),
            "config_file": (None, None, os.devnull, None),
            "credentials_file": (None, None, os.devnull, None),
        }
        session = botocore.session.Session(session_vars=nothing_of_a_person)
        return session.create_client(
            "s3",
            endpoint_url=self._endpoint,
            region_name=self._region,
            aws_access_key_id=self._keys[0],
            aws_secret_access_key=self._keys[1],
            config=Config(
                connect_timeout=self._connect_timeout,
                read_timeout=self._timeout,
                retries={"total_max_attempts": 1},
                max_pool_connections=32,
                proxies={},
                s3={"addressing_style": "path"},
                request_checksum_calculation="when_required",
                response_checksum_validation="when_required",
            ),
        )

    def _place(self) -> Mapping[str, Any]:
        if self._region == "us-east-1":
            return {}
        return {"CreateBucketConfiguration": {"LocationConstraint": self._region}}
