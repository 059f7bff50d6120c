"""What a morning left at the receiving ends, and whether ledger and world tell one story."""

from __future__ import annotations

import json
from email.parser import BytesHeaderParser
from itertools import pairwise
from typing import Any

import psycopg

from matins.ledger import invariants
from matins.local import objects as local_objects
from matins.rules.canonical import sha256
from matins.rules.wiki import object_key
from tests.crash.scene import Scene


def assert_happened_once(scene: Scene, key: str) -> None:
    """One mail, one edition, one bundle, one claim per token, and every rule of the ledger holds."""
    with scene.ledger() as conn:
        _assert_one_mail(scene, conn, key)
        _assert_one_bundle(scene, conn, key)
        _assert_pages_are_there(scene, conn, key.split("/")[0])
        _assert_tokens_grow(conn)
        assert invariants.broken(conn) == {}


def mails_by_key(scene: Scene) -> dict[str, list[bytes]]:
    """The mails that lie in the Maildir, by the message key in their header."""
    found: dict[str, list[bytes]] = {}
    for mail in scene.mailbox.mails():
        message_key = BytesHeaderParser().parsebytes(mail)["X-Matins-Message"]
        found.setdefault(message_key, []).append(mail)
    return found


def _assert_one_mail(scene: Scene, conn: psycopg.Connection[Any], key: str) -> None:
    frozen = dict(conn.execute("select key, mail_hash from message where subject = %s", (key,)).fetchall())
    here = {name: mails for name, mails in mails_by_key(scene).items() if name.startswith(f"{key}/")}
    assert {name: [sha256(mail) for mail in mails] for name, mails in here.items()} == {
        name: [mail_hash] for name, mail_hash in frozen.items()
    }
    taken = [entry for entry in scene.mailbox.ledger() if key.split("/")[0] in "".join(entry["to"])]
    assert len(taken) == len(frozen)


def _assert_one_bundle(scene: Scene, conn: psycopg.Connection[Any], key: str) -> None:
    stored = _objects(scene, key)
    editions = conn.execute("select status, bundle_hash, draft_hash from edition where key = %s", (key,)).fetchall()
    [(status, bundle_hash, draft_hash)] = editions
    [evidence_hash] = [found for (found,) in conn.execute("select hash from evidence_set where key = %s", (key,))]
    folder = f"{key}/{bundle_hash[:16]}"
    listing = stored[f"{folder}/manifest.json"]
    files = {f"{folder}/{one['name']}": one["sha256"] for one in json.loads(listing)["files"]}
    assert status == "published"
    assert {name: sha256(body) for name, body in stored.items()} == files | {
        f"{folder}/manifest.json": bundle_hash,
        f"{key}/evidence-{evidence_hash[:16]}.json": evidence_hash,
        f"{key}/draft-{draft_hash[:16]}.json": draft_hash,
    }


def _assert_pages_are_there(scene: Scene, conn: psycopg.Connection[Any], owner: str) -> None:
    """Every page of the owner's wiki is up to date, and its objects are, byte for byte, what was marked."""
    found = conn.execute("select kind, id, objects, wanted - published from page where owner = %s", (owner,)).fetchall()
    stored = _objects(scene, owner)
    for kind, page_id, objects, behind in found:
        assert behind == 0
        for form, told in objects.items():
            assert sha256(stored[object_key(owner, kind, page_id, form)]) == told["hash"]


def _objects(scene: Scene, key: str) -> dict[str, bytes]:
    store = scene.store
    s3 = local_objects.client(store["endpoint"], access_key=store["access_key"], secret_key=store["secret_key"])
    listed = s3.list_objects_v2(Bucket=store["bucket"], Prefix=f"{key}/").get("Contents", [])
    names = [one["Key"] for one in listed]
    return {name: s3.get_object(Bucket=store["bucket"], Key=name)["Body"].read() for name in names}


def _assert_tokens_grow(conn: psycopg.Connection[Any]) -> None:
    claims: dict[str, list[int]] = {}
    for subject, token in conn.execute("select subject, token from audit where event like '%.claimed' order by id"):
        claims.setdefault(subject, []).append(token)
    assert claims
    for tokens in claims.values():
        assert all(later == earlier + 1 for earlier, later in pairwise(tokens)), claims
