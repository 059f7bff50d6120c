"""Objects: put once, believed when read back, against a real store and against one that misbehaves."""

from __future__ import annotations

import threading
import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from typing import Any

import boto3
import pytest

from matins.providers.objects import Objects
from matins.rules.canonical import sha256
from matins.rules.errors import ProviderRefused, ProviderUnavailable
from tests.conftest import ObjectStore
from tests.providers import faulty_s3 as faulty
from tests.providers.faulty_s3 import BUCKET, FaultyS3
from tests.providers.mailbox_process import free_port

BODY = "Guten Morgen ☕\n".encode() * 100


@pytest.fixture(scope="module")
def s3(objects: ObjectStore) -> Iterator[Any]:
    """A client of our own, to see what is stored."""
    client = boto3.client(
        "s3",
        endpoint_url=objects.endpoint,
        aws_access_key_id=objects.access_key,
        aws_secret_access_key=objects.secret_key,
        region_name="us-east-1",
    )
    yield client
    client.close()


@pytest.fixture(scope="module")
def store(objects: ObjectStore) -> Iterator[Objects]:
    """The real store, with a bucket for this file."""
    keys = {"access_key": objects.access_key, "secret_key": objects.secret_key}
    made = Objects(objects.endpoint, **keys, bucket=f"objects-{uuid.uuid4().hex}")
    made.ensure_bucket()
    yield made
    made.close()


@pytest.fixture(scope="module")
def _running() -> Iterator[tuple[FaultyS3, Objects]]:
    with FaultyS3() as server:
        keys = {"access_key": "access-id", "secret_key": "hush-secret"}
        made = Objects(server.endpoint, **keys, bucket=BUCKET)
        yield server, made
        made.close()


@pytest.fixture
def server(_running: tuple[FaultyS3, Objects]) -> FaultyS3:
    """The store that misbehaves, empty and without a fault."""
    _running[0].script()
    return _running[0]


@pytest.fixture
def broken(_running: tuple[FaultyS3, Objects]) -> Objects:
    """What we think of the store that misbehaves."""
    return _running[1]


def put(objects: Objects, key: str = "ada/brief/a.json", data: bytes = BODY):
    return objects.put(key, data, content_type="application/json", idempotency_key="ada/brief/publish")


def test_what_was_put_is_read_back_and_a_repeated_put_gets_the_same_receipt(store: Objects, s3: Any) -> None:
    key = fresh()
    first = put(store, key)
    assert (first.provider, first.reference) == (store.provider, f"{key}#ada/brief/publish")
    assert put(store, key) == first
    assert store.get(key) == BODY
    assert store.read_back(key, sha256(BODY))
    stored = s3.head_object(Bucket=bucket_of(store), Key=key)
    assert (stored["Metadata"], stored["ContentType"]) == ({"sha256": sha256(BODY)}, "application/json")


def test_other_bytes_under_a_taken_key_are_refused_by_name_and_the_first_stay(store: Objects) -> None:
    key = fresh()
    put(store, key)
    with pytest.raises(ProviderRefused, match=key):
        put(store, key, b"other")
    assert store.get(key) == BODY


def test_a_bucket_with_versions_names_the_version_and_the_probe_leaves_none(
    objects: ObjectStore, bucket: str, s3: Any
) -> None:
    s3.put_bucket_versioning(Bucket=bucket, VersioningConfiguration={"Status": "Enabled"})
    keys = {"access_key": objects.access_key, "secret_key": objects.secret_key}
    with closing(Objects(objects.endpoint, **keys, bucket=bucket)) as store:
        receipt = put(store, "a")
        version = s3.head_object(Bucket=bucket, Key="a")["VersionId"]
        assert receipt.reference == f"a@{version}"
        assert put(store, "a") == receipt
        assert store.probe()
    listed = s3.list_object_versions(Bucket=bucket)
    assert [entry["Key"] for entry in listed["Versions"]] == ["a"]
    assert "DeleteMarkers" not in listed


def test_what_is_not_there_is_none_and_not_read_back(store: Objects) -> None:
    assert store.get(fresh()) is None
    assert not store.read_back(fresh(), sha256(b""))


def test_eight_writers_of_one_key_leave_one_object_and_one_winner(store: Objects) -> None:
    key, start = fresh(), threading.Barrier(8)

    def write(body: bytes) -> bytes | None:
        start.wait(10)
        while True:
            try:
                put(store, key, body)
            except ProviderRefused:
                return None
            except ProviderUnavailable:
                continue
            return body

    with ThreadPoolExecutor(8) as pool:
        winners = [body for body in pool.map(write, (b"writer %d" % one for one in range(8))) if body]
    assert winners == [store.get(key)]


def test_a_real_store_honours_conditions_and_the_probe_leaves_nothing(store: Objects, s3: Any) -> None:
    assert store.probe()
    assert "Contents" not in s3.list_objects_v2(Bucket=bucket_of(store), Prefix="probe/")


def test_a_bucket_is_made_once_and_its_absence_is_told_by_name(objects: ObjectStore, s3: Any) -> None:
    name, keys = fresh(), {"access_key": objects.access_key, "secret_key": objects.secret_key}
    with closing(Objects(objects.endpoint, **keys, bucket=name)) as made:
        for ask in (put, lambda objects, key: objects.get(key)):
            with pytest.raises(ProviderUnavailable, match="404 NoSuchBucket"):
                ask(made, "a")
        made.ensure_bucket()
        made.ensure_bucket()
        put(made, "a")
    s3.delete_object(Bucket=name, Key="a")
    s3.delete_bucket(Bucket=name)


def test_a_large_body_whose_etag_is_no_digest_is_read_back_by_its_own_hash(store: Objects, s3: Any) -> None:
    key, body = fresh(), b"0123456789abcdef" * (6 << 16)
    named = {"Bucket": bucket_of(store), "Key": key}
    upload = s3.create_multipart_upload(**named)["UploadId"]
    parts = []
    for number, chunk in ((1, body[: 5 << 20]), (2, body[5 << 20 :])):
        part = s3.upload_part(**named, UploadId=upload, PartNumber=number, Body=chunk)
        parts.append({"PartNumber": number, "ETag": part["ETag"]})
    s3.complete_multipart_upload(**named, UploadId=upload, MultipartUpload={"Parts": parts})
    assert s3.head_object(**named)["ETag"].endswith('-2"')
    assert store.read_back(key, sha256(body))
    assert not store.read_back(key, sha256(body[:-1]))


def test_a_corrupt_object_is_told_by_the_hash_in_its_metadata(store: Objects, s3: Any) -> None:
    key = fresh()
    s3.put_object(Bucket=bucket_of(store), Key=key, Body=b"damaged", Metadata={"sha256": sha256(BODY)})
    with pytest.raises(ProviderUnavailable, match=f"{key} came back with other bytes"):
        store.get(key)
    assert not store.read_back(key, sha256(BODY))
    with pytest.raises(ProviderRefused, match="other bytes"):
        put(store, key)


@pytest.mark.parametrize("fault", [faulty.SAVE_AND_DROP, faulty.SAVE_AND_500])
def test_a_put_whose_answer_was_lost_is_resolved_by_reading_back(server: FaultyS3, broken: Objects, fault: str) -> None:
    server.script(put=[fault])
    receipt = put(broken, "a")
    assert put(broken, "a") == receipt
    assert server.versions == {"a": [BODY]}


def test_a_put_whose_answer_does_not_come_in_time_is_resolved_by_reading_back(server: FaultyS3) -> None:
    server.script(put=[faulty.SAVE_AND_HANG])
    keys = {"access_key": "access-id", "secret_key": "hush-secret"}
    with closing(Objects(server.endpoint, **keys, bucket=BUCKET, timeout=1.0)) as hasty:
        assert put(hasty, "a").reference == "a#ada/brief/publish"
    assert server.versions == {"a": [BODY]}


def test_a_412_over_our_own_lost_write_gives_our_own_receipt(server: FaultyS3, broken: Objects) -> None:
    server.script(put=[faulty.SAVE_AND_DROP], get=["503"])
    with pytest.raises(ProviderUnavailable):
        put(broken, "a")
    assert put(broken, "a").reference == "a#ada/brief/publish"
    assert server.versions == {"a": [BODY]}


@pytest.mark.parametrize("fault", ["409", "500", "503", faulty.DROP])
def test_a_put_that_stored_nothing_may_be_tried_again(server: FaultyS3, broken: Objects, fault: str) -> None:
    server.script(put=[fault])
    with pytest.raises(ProviderUnavailable) as caught:
        put(broken, "a")
    assert caught.value.retry_after == (7.0 if fault == "503" else None)
    put(broken, "a")
    assert server.versions == {"a": [BODY]}


def test_two_writers_who_both_got_409_both_try_again_and_leave_one_object(server: FaultyS3, broken: Objects) -> None:
    server.script(put=["409", "409"])
    for _ in range(2):
        with pytest.raises(ProviderUnavailable, match="409 ConditionalRequestConflict"):
            put(broken, "a")
    assert put(broken, "a") == put(broken, "a")
    assert server.versions == {"a": [BODY]}


@pytest.mark.parametrize("fault", ["409", "503"])
def test_a_conflict_that_other_bytes_won_is_refused(server: FaultyS3, broken: Objects, fault: str) -> None:
    server.script(put=[fault])
    server.versions["a/b"] = [b"theirs"]
    with pytest.raises(ProviderRefused, match="other bytes are stored as a/b"):
        put(broken, "a/b")
    assert server.versions == {"a/b": [b"theirs"]}


def test_a_412_for_a_key_that_cannot_be_read_yet_may_be_tried_again(server: FaultyS3, broken: Objects) -> None:
    server.script(get=[faulty.STALE])
    server.versions["a"] = [BODY]
    with pytest.raises(ProviderUnavailable, match="412"):
        put(broken, "a")
    put(broken, "a")


@pytest.mark.parametrize("fault", ["400", "413", "501"])
def test_what_the_store_will_never_take_is_refused(server: FaultyS3, broken: Objects, fault: str) -> None:
    server.script(put=[fault])
    with pytest.raises(ProviderRefused, match=fault) as caught:
        put(broken, "a")
    assert_tells_nothing(caught.value)
    assert server.requests == ["PUT /faulty/a"]


@pytest.mark.parametrize("fault", ["403", "404"])
def test_a_store_that_does_not_let_us_in_is_unavailable(server: FaultyS3, broken: Objects, fault: str) -> None:
    server.script(put=[fault], get=[fault])
    with pytest.raises(ProviderUnavailable, match=fault) as caught:
        put(broken, "a")
    assert_tells_nothing(caught.value)


@pytest.mark.parametrize("fault", ["403", "404", "500", "503", faulty.DROP, faulty.TRUNCATE])
def test_a_read_without_a_whole_answer_is_unavailable_not_absent(server: FaultyS3, broken: Objects, fault: str) -> None:
    server.script(get=[fault, fault])
    server.versions["a"] = [BODY]
    with pytest.raises(ProviderUnavailable) as caught:
        broken.get("a")
    assert_tells_nothing(caught.value)
    with pytest.raises(ProviderUnavailable):
        broken.read_back("a", sha256(BODY))
    assert broken.get("a") == BODY


def test_corrupt_and_stale_bytes_are_not_read_back_as_ours(server: FaultyS3, broken: Objects) -> None:
    server.script(get=[faulty.CORRUPT, faulty.STALE, faulty.STALE])
    server.versions["page"] = [b"before", BODY]
    assert [broken.read_back("page", sha256(BODY)) for _ in range(4)] == [False, False, False, True]


@pytest.mark.parametrize("second", [faulty.IGNORE_CONDITION, "501", "409"])
def test_a_store_that_ignores_or_does_not_know_conditions_is_found_out(
    server: FaultyS3, broken: Objects, second: str
) -> None:
    server.script(put=["", second])
    assert not broken.probe()
    assert server.versions == {}


@pytest.mark.parametrize("fault", ["503", faulty.DROP])
def test_a_store_that_cannot_be_asked_about_conditions_is_unavailable(
    server: FaultyS3, broken: Objects, fault: str
) -> None:
    server.script(put=[fault])
    with pytest.raises(ProviderUnavailable):
        broken.probe()


def test_a_request_is_made_once_and_never_repeated_behind_our_back(server: FaultyS3, broken: Objects) -> None:
    server.script(get=["500", "500", "500"])
    with pytest.raises(ProviderUnavailable):
        broken.get("a")
    assert server.requests == ["GET /faulty/a"]


def test_nobody_listening_is_unavailable() -> None:
    endpoint, keys = f"http://127.0.0.1:{free_port()}", {"access_key": "access-id", "secret_key": "hush-secret"}
    with closing(Objects(endpoint, **keys, bucket=BUCKET)) as objects:
        for ask in (
            lambda: put(objects, "a"),
            lambda: objects.get("a"),
            lambda: objects.read_back("a", sha256(BODY)),
            objects.ensure_bucket,
            objects.probe,
        ):
            with pytest.raises(ProviderUnavailable) as caught:
                ask()
            assert_tells_nothing(caught.value)


def test_a_person_s_own_settings_are_not_used(server: FaultyS3, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_PROFILE", "nobody")
    monkeypatch.setenv("HTTP_PROXY", f"http://127.0.0.1:{free_port()}")
    with closing(Objects(server.endpoint, access_key="a", secret_key="b", bucket=BUCKET)) as objects:
        put(objects, "a")
    assert server.versions == {"a": [BODY]}


def fresh() -> str:
    return f"key-{uuid.uuid4().hex}"


def bucket_of(store: Objects) -> str:
    return store.provider.removeprefix("s3:")


def assert_tells_nothing(error: Exception) -> None:
    told = f"{error} {error.__cause__}"
    assert "hush" not in told
    assert "access-id" not in told
