"""`matins source`: what a person sees of a source and can do about it, on a real ledger and a loopback web server."""

import json
import shlex
from xml.etree import ElementTree

import pytest

from matins import settings
from matins.cli.connection import orchestrator
from matins.demo.server import DemoServer
from matins.ledger import ingest, source, window
from matins.rules.evidence import Cursor, Reading, ReadOutcome, SourceKind

URL = "http://feeds.example.net/a-rather-long-path-of-a-feed/that-goes-on-and-on-and-on/to-its-very-end.xml"


def unread(walk, key: str, *, outcome: ReadOutcome = ReadOutcome.UNREACHABLE, reason: str = "503") -> ingest.Unread:
    """One read that fails."""
    open_window = source.window(walk.conn, key)
    walk.conn.execute("update work set retry_at = null where key = %s", (open_window.work_key,))
    claim = walk.claim(open_window.work_key)
    return ingest.fail(walk.conn, claim, open_window, Reading(False, outcome, cursor=Cursor(), reason=reason))


@pytest.fixture
def read(walk):
    """Sam reads one source of a long address; its key."""
    walk.own("sam")
    source.add(walk.conn, "sam", url=URL, name="The Gazette of the Harbour of Aldermouth")
    return source.of_owner(walk.conn, "sam")[0].key


def test_a_failing_source_shows_why_its_tries_and_what_to_type(matins, walk, read) -> None:
    unread(walk, read)
    ran = matins("source", "show", "sam", "the gaz")
    assert ran.code == 0
    assert "could not look since" in ran.out
    assert "4 tries left before the next window." in ran.out
    commands = [shlex.split(line) for line in ran.out.splitlines() if line.startswith("    matins ")]
    assert commands == [
        ["matins", "source", "retry", "sam", "The Gazette of the Harbour of Aldermouth"],
        ["matins", "source", "skip", "sam", "The Gazette of the Harbour of Aldermouth", "--reason", "WHY"],
    ]
    for _ in range(4):
        unread(walk, read)
    told = json.loads(matins("source", "show", "sam", URL, "--json").out)
    assert [one["how"] for one in told["unread_windows"]] == ["spent"]
    assert (told["outcome"], told["attempts"], len(told["reads"])) == ("unreachable", 0, 5)
    assert "gave up after 5 tries: 503" in matins("source", "show", "sam", URL).out


def test_a_read_source_shows_what_it_gave_and_no_command(matins, walk) -> None:
    walk.own("sam")
    walk.to("sam", "researched")
    walk.conn.execute(
        "insert into decision select 'source/' || key, 'k', 'a warning', ledger_now(), ledger_now(), 3 from source"
    )
    ran = matins("source", "show", "sam", "gaz")
    assert ran.code == 1, "the Gazette is The Gazette"
    ran = matins("source", "show", "sam", "the")
    assert "1 item kept, 1 in it at the last whole read" in ran.out
    assert "The quay is open" in ran.out
    assert "1 new of 1 item" in ran.out
    assert "a warning; 3 items since" in ran.out
    assert "matins source" not in ran.out


def test_lists_and_pages_fit_eighty_columns_and_say_no_inner_word(matins, walk, read) -> None:
    unread(walk, read, reason="the server closed the connection before it had answered, which it often does")
    pages = matins("source", "list", "sam").out, matins("source", "show", "sam", "the").out
    for page in pages:
        lines = [line for line in page.replace(URL, "").splitlines() if not line.startswith("    matins ")]
        assert max(map(len, lines)) <= 80
        assert not {"cursor", "lease", "token", "claim", "ingest"} & set(page.lower().split())


def test_when_most_sources_fail_at_once_it_is_said_to_be_our_network(matins, walk) -> None:
    walk.own("sam")
    for number in range(5):
        source.add(walk.conn, "sam", url=f"http://{number}.example.net/", name=f"source {number}")
    for one in source.of_owner(walk.conn, "sam"):
        unread(walk, one.key)
    said = matins("source", "list", "sam").out
    assert "this machine's network" in " ".join(said.split())
    assert all(one["our_network"] for one in json.loads(matins("source", "list", "sam", "--json").out))
    walk.conn.execute("update decision set last_seen_at = ledger_now() - interval '16 minutes'")
    assert "network" not in matins("source", "list", "sam").out


def test_a_retry_gives_all_tries_anew_and_a_poll_does_not_jump_the_wait(matins, walk, read, monkeypatch) -> None:
    monkeypatch.setenv("TEMPORAL_ADDRESS", "127.0.0.1:1")
    unread(walk, read)
    waits = matins("source", "poll", "sam", "the")
    assert waits.code == 1
    assert "(503) and waits for its next try at" in waits.err
    assert "matins source retry sam 'The Gazette of the Harbour of Aldermouth'" in waits.err
    ran = matins("source", "retry", "sam", "the")
    assert ran.code == 3, "the ledger has it, and Temporal could not be asked"
    assert "is due, and the next check begins it" in ran.err
    found = walk.conn.execute("select attempts, retry_at from work where kind = 'ingest'").fetchone()
    assert found == (0, None)
    assert source.find_due(walk.conn) == [read]
    assert "is due, and the next check begins it" in matins("source", "poll", "sam", "the").err
    walk.claim(source.window(walk.conn, read).work_key)
    busy = matins("source", "retry", "sam", "the")
    assert (busy.code, busy.err.startswith("The Gazette of the Harbour of Aldermouth: it is being read")) == (1, True)
    assert "ingest/" not in busy.err


def test_a_retry_starts_the_read_itself(matins, read, monkeypatch, temporal_address, namespace) -> None:
    monkeypatch.setenv("TEMPORAL_ADDRESS", temporal_address)
    monkeypatch.setenv("TEMPORAL_NAMESPACE", namespace)
    ran = matins("source", "retry", "sam", "the")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.startswith(
        "The Gazette of the Harbour of Aldermouth is being read. How it went:  matins source show"
    )
    with orchestrator(settings.load()) as temporal:
        assert temporal.describe("ingest", read) == "running"


def test_a_skip_is_kept_with_its_reason_and_opens_the_next_window(matins, walk, read) -> None:
    unread(walk, read)
    for reason in ("", "  ", "two\nlines", "x" * 201, "\x1b[31m"):
        assert matins("source", "skip", "sam", "the", "--reason", reason).code == 2
    assert matins("source", "skip", "sam", "the").code == 2, "a reason is needed"
    assert window.unread(walk.conn, read) == []
    ran = matins("source", "skip", "sam", "the", "--reason", "moves house")
    assert ran.code == 0
    (left,) = window.unread(walk.conn, read)
    assert (left.how, left.reason) == ("skipped", "moves house")
    assert "skipped by you" in matins("source", "list", "sam").out


def test_nothing_is_skipped_of_a_source_that_was_read(matins, walk) -> None:
    walk.own("sam")
    walk.to("sam", "researched")
    key = source.of_owner(walk.conn, "sam")[0].key
    before = source.window(walk.conn, key)
    ran = matins("source", "skip", "sam", "the", "--reason", "why not")
    assert (ran.code, "nothing to skip: it was read at " in ran.err) == (1, True)
    assert (window.unread(walk.conn, key), source.window(walk.conn, key)) == ([], before)
    source.add(walk.conn, "sam", url=URL, name="new")
    assert "nothing to skip: it was not read yet" in matins("source", "skip", "sam", "new", "--reason", "x").err


def test_a_removed_source_is_not_read_any_more_and_its_board_is_the_profiles(matins, walk) -> None:
    walk.own("sam")
    walk.own("kim")
    source.add(walk.conn, "sam", url=URL, name="The Gazette")
    source.add(walk.conn, "kim", url=URL, name="Gazette")
    source.add(walk.conn, "sam", url="http://b.example/", name="openings at acme", kind=SourceKind.LEVER)
    assert "openings at acme" in matins("source", "list", "sam").out
    refused = matins("source", "remove", "sam", "openings")
    assert (refused.code, refused.err.endswith("matins profile edit sam\n")) == (1, True)
    board = matins("source", "add", "sam", "jobs.lever.co/acme")
    assert (board.code, "[[openings.boards]]" in board.err) == (1, True)
    assert "It is still read for 1 other." in matins("source", "remove", "sam", "the").out
    assert "Nobody else reads it" in matins("source", "remove", "kim", URL).out
    assert [one.purpose for one in source.of_owner(walk.conn, "sam")] == ["openings"]


def feed(title: str) -> tuple[str, bytes]:
    item = "<item><guid>1</guid><title>Open</title></item>"
    text = f'<rss version="2.0"><channel><title>{title}</title>{item}</channel></rss>'
    return "application/rss+xml", text.encode()


@pytest.fixture
def served(monkeypatch):
    """A loopback web server with three feeds, two of one name, and a page that links to one; which may be read."""
    page = b'<!doctype html><link rel=alternate type="application/rss+xml" href="/a.xml"><p>Hello'
    pages = {"/a.xml": feed("Quay"), "/b.xml": feed("Quay"), "/c.xml": feed("C"), "/": ("text/html", page)}
    with DemoServer(lambda: pages) as server:
        monkeypatch.setenv("MATINS_ALLOW_HOSTS", f"127.0.0.1:{server.port}, 127.0.0.1:1")
        yield server.url


def test_a_page_is_added_by_the_feed_that_it_links_to(matins, walk, served) -> None:
    walk.own("sam")
    assert matins("source", "add", "sam", f"{served}/", "--name", "a\x1b[2Jb").code == 2
    ran = matins("source", "add", "sam", f"{served}/")
    assert ran.out.splitlines()[:2] == ["sam reads Quay from now on.", f"Its feed is {served}/a.xml"]
    assert "Nothing changed." in matins("source", "add", "sam", f"{served}/a.xml").out
    board = matins("source", "add", "sam", f"{served}/c.xml", "--name", "openings at acme")
    assert board.out.startswith("sam reads feed: openings at acme"), "the name that its board would have"


def test_an_address_without_a_scheme_is_tried_with_both_and_is_added_only_if_one_answers(matins, walk, served) -> None:
    walk.own("sam")
    added = matins("source", "add", "sam", f"{served.partition('://')[2]}/a.xml")
    assert added.out.splitlines()[:2] == ["sam reads Quay from now on.", f"Its feed is {served}/a.xml"]
    refused = matins("source", "add", "sam", "127.0.0.1:1/a.xml")
    assert (refused.code, len(refused.err.splitlines())) == (1, 1)
    for said in ("https://127.0.0.1:1/a.xml (", "http://127.0.0.1:1/a.xml (", "with its scheme is added even if"):
        assert said in refused.err
    assert [one.name for one in source.of_owner(walk.conn, "sam")] == ["Quay"]


def opml(tmp_path, *urls: str) -> str:
    file = tmp_path / "feeds.opml"
    outlines = "".join(f'<outline text="x"><outline type="rss" xmlUrl="{url}"/></outline>' for url in urls)
    file.write_text(f'<opml version="2.0"><body>{outlines}</body></opml>', encoding="utf-8")
    return str(file)


def test_a_list_of_feeds_is_added_feed_by_feed_and_each_has_its_line(matins, walk, served, tmp_path) -> None:
    walk.own("sam")
    source.add(walk.conn, "sam", url=f"{served}/c.xml", name="Mine")
    urls = [f"{served}/{path}" for path in ("a.xml", "b.xml", "c.xml", "none.xml", "a.xml#again")]
    file = opml(tmp_path, *urls, "http://127.0.0.1:1/later.xml", "ftp://example.net/x", "https://jobs.lever.co/acme")
    tried = matins("source", "import", "sam", file, "--dry-run")
    assert tried.out.splitlines()[-1].endswith("Nothing was changed.")
    assert len(source.of_owner(walk.conn, "sam")) == 1
    told = json.loads(matins("source", "import", "sam", file, "--dry-run", "--json").out)
    assert [line["url"].removeprefix(served) for line in told] == [
        "/a.xml", "/b.xml", "/c.xml", "/none.xml", "/a.xml", "http://127.0.0.1:1/later.xml", "ftp://example.net/x",
        "https://jobs.lever.co/acme",
    ], "in the order of the file"  # fmt: skip
    ran = matins("source", "import", "sam", file)
    assert ran.code == 1, "some were refused"
    assert ran.out.splitlines()[-1] == "8 feeds: 3 added (1 could not be reached now), 2 read already, 3 refused."
    names = [one.name for one in source.of_owner(walk.conn, "sam")]
    assert sorted(names) == sorted(["127.0.0.1", "Mine", "Quay", "Quay (127.0.0.1)"])
    again = json.loads(matins("source", "import", "sam", opml(tmp_path, *urls[:3]), "--json").out)
    assert [line["result"] for line in again] == ["read already"] * 3


def test_an_export_is_imported_again_by_somebody_else(matins, walk, served, tmp_path) -> None:
    walk.own("sam")
    walk.own("kim")
    for path in ("a", "c"):
        source.add(walk.conn, "sam", url=f"{served}/{path}.xml", name=f'{path} & "<b>"')
    source.add(walk.conn, "sam", url="http://b.example/", name="openings at acme", kind=SourceKind.LEVER)
    file = tmp_path / "out.opml"
    assert matins("source", "export", "sam", str(file)).out == f"2 feeds written to {file}\n"
    assert matins("source", "export", "sam").out.encode() == file.read_bytes()
    file.write_bytes(b"mine")
    refused = matins("source", "export", "sam", str(file))
    assert (refused.code, "--force overwrites it" in " ".join(refused.err.split())) == (2, True)
    assert file.read_bytes() == b"mine"
    assert matins("source", "export", "sam", str(file), "--force").code == 0
    ElementTree.fromstring(file.read_bytes())
    assert matins("source", "import", "kim", str(file)).code == 0
    assert {(one.name, one.url) for one in source.of_owner(walk.conn, "kim")} == {
        (one.name, one.url) for one in source.of_owner(walk.conn, "sam") if one.purpose == "news"
    }
    assert sorted(path.name for path in tmp_path.iterdir() if path.is_file()) == ["out.opml"]


def test_what_was_added_before_an_interruption_stays(matins, walk, served, tmp_path, monkeypatch) -> None:
    walk.own("sam")
    real = source.add

    def interrupted(*arguments, **more):
        if source.of_owner(walk.conn, "sam"):
            raise KeyboardInterrupt
        return real(*arguments, **more)

    monkeypatch.setattr(source, "add", interrupted)
    ran = matins("source", "import", "sam", opml(tmp_path, f"{served}/a.xml", f"{served}/b.xml"))
    assert ran.code == 130
    assert len(source.of_owner(walk.conn, "sam")) == 1
