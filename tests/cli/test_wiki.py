"""`matins wiki`: what the object store has is copied whole, and can be read from the folder."""

import pytest
from psycopg.types.json import Jsonb

from matins.providers.objects import Objects
from matins.rules.media import content_type
from matins.rules.wiki import FORMS, object_key


@pytest.fixture
def store(objects, bucket, monkeypatch):
    """The run's object store as the settings name it."""
    monkeypatch.setenv("AWS_ENDPOINT_URL", objects.endpoint)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", objects.access_key)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", objects.secret_key)
    monkeypatch.setenv("MATINS_BUCKET", bucket)
    store = Objects(objects.endpoint, access_key=objects.access_key, secret_key=objects.secret_key, bucket=bucket)
    yield store
    store.close()


def test_a_wiki_is_copied_into_a_folder_and_what_is_missing_is_named(matins, walk, store, tmp_path) -> None:
    walk.own("sam")
    assert "sam's wiki has no pages yet" in matins("wiki", "sam").out
    key = walk.to("sam", "reported")
    walk.keep_wiki(key, "a1", "b2")
    pages = {form: {"hash": "", "etag": ""} for form in FORMS}
    walk.conn.execute("update page set published = 1, published_at = ledger_now(), objects = %s", (Jsonb(pages),))
    walk.conn.execute("update page set wanted = 2 where id = 'b2'")
    for page in ("a1", "b2"):
        for form in FORMS:
            name = object_key("sam", "topic", page, form)
            store.put(name, f"{page}{form}".encode(), content_type=content_type(form), idempotency_key=name)
    folder = tmp_path / "out" / "wiki"
    ran = matins("wiki", "sam", "--to", str(folder))
    assert (ran.code, ran.err) == (0, "")
    assert "sam's wiki: 2 pages" in ran.out
    assert "1 of them not up to date yet" in ran.out
    assert ran.out.splitlines()[-1] == f"  read  {folder}/index.html"
    files = {str(file.relative_to(folder)): file.read_text() for file in folder.rglob("*") if file.is_file()}
    assert files == {f"topics/{page}{form}": f"{page}{form}" for page in ("a1", "b2") for form in FORMS}
    walk.conn.execute("update page set kind = 'index' where id = 'a1'")
    ran = matins("wiki", "sam", "--to", str(folder))
    assert (ran.code, "sam/wiki/index.md" in ran.err) == (1, True)
    (tmp_path / "file").write_text("")
    ran = matins("wiki", "sam", "--to", str(tmp_path / "file" / "below"))
    assert (ran.code, "cannot be written" in ran.err) == (2, True)


def test_where_there_is_no_object_store_it_cannot_look(matins, walk) -> None:
    walk.own("sam")
    walk.keep_wiki(walk.to("sam", "reported"), "a1")
    walk.conn.execute("update page set published = 1, published_at = ledger_now(), objects = '{\".md\": {}}'")
    ran = matins("wiki", "sam")
    assert (ran.code, ran.err) == (3, "The object store does not answer (none is running here). Start it:  matins up\n")
    assert matins("wiki", "nobody").code == 1
