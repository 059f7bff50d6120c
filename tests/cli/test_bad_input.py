"""Bad input: one sentence that says what, where and what to do, for that owner only; the others go on."""

import json

import pytest

from matins.demo.server import DemoServer
from matins.ledger import profile, source, today

GOOD = """
owner = "{owner}"
zone = "Europe/London"
window = "05:00-09:00"
[[destinations]]
name = "inbox"
address = "{owner}@example.net"
"""


@pytest.fixture
def file(tmp_path):
    """Writes a profile file."""

    def write(text: str, name: str = "sam.toml"):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return str(path)

    return write


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ("Europe/London", "Asia/Hanoi", 'unknown zone "Asia/Hanoi"'),
        ("Europe/London", "EST5", 'unknown zone "EST5"'),
        ("Europe/London", " Europe/Rome ", 'unknown zone " Europe/Rome "'),
        ('zone = "Europe/London"', 'zone = ""', "no zone"),
        ("05:00-09:00", "09:00-05:00", "the window 09:00-05:00 ends before it starts"),
        ("05:00-09:00", "early", "window is not two times"),
        ("05:00-09:00", "25:00-26:00", "window is not a time of day"),
        ('zone =', 'products = ["horoscope"]\nzone =', 'unknown product "horoscope"'),
        ("sam@example.net", "sam@example.net\\nBcc: x@example.org", "destination inbox is not one mail address"),
        ("sam@example.net", "sam and kim", "destination inbox is not one mail address"),
        ('owner = "sam"', 'owner = "Sam Smith"', 'owner "Sam Smith" is not a name'),
        ("zone =", 'colour = "red"\nzone =', 'unknown field "colour"'),
        ("zone =", 'ready_by = "09:30"\nzone =', "ready_by 09:30 is not inside the window"),
        ("zone =", "zone ~", "is not TOML"),
    ],
)  # fmt: skip
def test_a_profile_that_cannot_be_is_refused_with_one_sentence_and_exit_2(matins, file, old, new, sentence) -> None:
    path = file(GOOD.format(owner="sam").replace(old, new))
    ran = matins("profile", "apply", path)
    assert ran.code == 2
    assert len(ran.err.splitlines()) == 1
    assert sentence in ran.err
    assert path in ran.err


@pytest.mark.parametrize(
    ("content", "said"),
    [(b"\xff\xfe\x00binary", "is not a text in UTF-8"), (b"", "is empty"), (b'zone = "UTC"', "names no owner")],
)
def test_a_file_that_is_no_profile_is_named_in_a_plain_sentence(matins, tmp_path, content, said) -> None:
    (tmp_path / "x.toml").write_bytes(content)
    ran = matins("profile", "apply", str(tmp_path / "x.toml"))
    assert (ran.code, ran.err.startswith(f"{tmp_path / 'x.toml'}: {said}"), ran.err.count("\n")) == (2, True, 1)


def test_where_nothing_was_ever_started_that_is_said(matins, monkeypatch, tmp_path) -> None:
    monkeypatch.delenv("MATINS_POSTGRES_DSN")
    for line in ("owed", "profile list", "source list sam"):
        ran = matins(*line.split())
        assert ran.code == 3
        assert ran.err == f"{tmp_path / 'data'}: there is no Matins yet. Start it:  matins up\n"


def test_a_second_owner_with_a_fault_stops_nobody_else(matins, file, conn) -> None:
    good, bad = file(GOOD.format(owner="sam")), file(GOOD.format(owner="jo").replace("London", "Atlantis"), "jo.toml")
    ran = matins("profile", "apply", bad, good)
    assert ran.code == 2
    assert ran.out == "sam: profile 1 applied\n"
    assert "jo: unknown zone" in ran.err
    assert profile.owners(conn) == ["sam"]


def test_a_profile_applied_twice_changes_nothing(matins, file, conn) -> None:
    path = file(GOOD.format(owner="sam"))
    assert matins("profile", "apply", path).out == "sam: profile 1 applied\n"
    assert matins("profile", "apply", path).out == "sam: profile 1 says what it said before; nothing changed\n"
    assert profile.current(conn, "sam").version == 1


def test_the_order_of_interests_is_part_of_a_profile(matins, file, conn) -> None:
    topics = ['[interests]\nzeal = ["z"]\nart = ["a"]\n', '[interests]\nart = ["a"]\nzeal = ["z"]\n']
    for topic in topics:
        text = GOOD.format(owner="sam").replace("[[destinations]]", topic + "[[destinations]]")
        assert "applied" in matins("profile", "apply", file(text)).out
    stored = profile.current(conn, "sam")
    assert stored.version == 2
    assert [topic for topic, _ in stored.document["interests"]] == ["art", "zeal"]


def test_a_date_that_is_not_todays_is_refused_naming_both(matins, walk) -> None:
    walk.own("sam")
    ran = matins("run", "sam", "--date", "2026-01-02")
    assert ran.code == 1
    day = today.today(walk.conn, "sam").isoformat()
    assert f"sam's day is {day}, you asked for 2026-01-02" in ran.err


def test_run_for_nobody_is_refused_by_name(matins) -> None:
    ran = matins("run", "nobody")
    assert (ran.code, ran.err.splitlines()[0][:34]) == (1, 'there is no profile for "nobody"; ')


def test_run_while_temporal_is_down_is_asked_for_and_says_so(matins, walk, monkeypatch) -> None:
    monkeypatch.setenv("TEMPORAL_ADDRESS", "127.0.0.1:1")
    walk.own("sam")
    ran = matins("run", "sam")
    assert ran.code == 3
    assert ran.err.startswith("sam's morning is asked for and waits in the ledger. Temporal does not answer at ")
    assert walk.conn.execute("select status from obligation where product = 'morning'").fetchone() == ("queued",)


def test_a_file_that_is_not_there_is_named(matins, tmp_path) -> None:
    ran = matins("profile", "apply", str(tmp_path / "none.toml"))
    assert ran.code == 2
    assert ran.err == f"{tmp_path / 'none.toml'}: cannot be read (no such file or directory)\n"


FEED = b"""<?xml version="1.0"?><rss version="2.0"><channel><title>Quay News</title><link>http://example.net/</link>
<item><guid>1</guid><title>Open</title><link>http://example.net/1</link></item></channel></rss>"""


@pytest.fixture
def served(monkeypatch):
    """A loopback web server with a feed and a page, which may be read."""
    pages = {"/feed.xml": ("application/rss+xml", FEED), "/page": ("text/html", b"<!doctype html><html><p>Hello")}
    with DemoServer(lambda: pages) as server:
        monkeypatch.setenv("MATINS_ALLOW_HOSTS", f"127.0.0.1:{server.port}")
        yield server.url


def test_a_feed_is_added_under_its_own_title_and_twice_is_once(matins, walk, served) -> None:
    walk.own("sam")
    assert "sam reads Quay News from now on." in matins("source", "add", "sam", f"{served}/feed.xml").out
    assert "Nothing changed." in matins("source", "add", "sam", f"{served}/feed.xml").out
    assert matins("source", "list", "sam").out.splitlines()[0].split("  ")[0] == "Quay News"


def test_a_web_page_is_no_feed_and_is_not_added(matins, walk, served) -> None:
    walk.own("sam")
    ran = matins("source", "add", "sam", f"{served}/page")
    assert ran.code == 1
    assert f"sam: {served}/page is not added: " in ran.err
    assert "Give the address of a feed" in ran.err
    assert matins("source", "list", "sam").out.startswith("sam reads nothing yet.")


def test_a_feed_that_cannot_be_reached_now_is_added_and_said(matins, walk, served) -> None:
    walk.own("sam")
    ran = matins("source", "add", "sam", f"{served}/missing.xml", "--name", "Later")
    assert ran.code in (0, 1)
    assert ("could not be reached now" in ran.out) == (ran.code == 0)


@pytest.mark.parametrize(
    "url", ["ftp://example.net/feed", "file:///etc/passwd", "not a url", "http://", "http://u:p@h/"]
)
def test_a_bad_url_is_refused_with_one_sentence(matins, walk, url) -> None:
    walk.own("sam")
    ran = matins("source", "add", "sam", url)
    assert ran.code == 1
    assert len(ran.err.splitlines()) == 1


def test_a_private_address_is_not_looked_at(matins, walk) -> None:
    walk.own("sam")
    ran = matins("source", "add", "sam", "http://127.0.0.1:1/feed.xml")
    assert "private" in ran.err
    assert 'allow_hosts = ["127.0.0.1:1"] in matins.toml, then  matins up' in ran.err


BAD = [
    (2, "No such command 'sow'", "source sow sam"),
    (1, 'no profile for "nobody"', "source list nobody"),
    (1, 'no profile for "nobody"', "source show nobody gazette"),
    (1, 'no profile for "nobody"', "source remove nobody gazette"),
    (1, 'no profile for "nobody"', "source retry nobody gazette"),
    (1, 'no profile for "nobody"', "source poll nobody gazette"),
    (1, 'no profile for "nobody"', "source skip nobody gazette --reason why"),
    (1, 'no profile for "nobody"', "source export nobody"),
    (1, 'no profile for "nobody"', "source import nobody {list}"),
    (1, 'no profile for "nobody"', "source add nobody example.net"),
    (1, 'no profile for "nobody"', "profile edit nobody"),
    (1, 'no profile for "nobody"', "profile show nobody"),
    (1, 'no profile for "nobody"', "outbox nobody"),
    (1, 'no profile for "nobody"', "wiki nobody"),
    (1, 'no source called "times"', "source show sam times"),
    (1, 'no source called "times"', "source skip sam times --reason why"),
    (2, "Missing option '--reason'", "source skip sam gazette"),
    (1, "Gazette A or Gazette B; write more of it", "source remove sam gaz"),
    (1, "[[openings.boards]]", "source add sam https://api.lever.co/v0/postings/acme"),
    (1, "is not added", "source add sam http://"),
    (2, "none.opml: cannot be read", "source import sam none.opml"),
    (2, "cannot be read (is a directory)", "source import sam /"),
    (2, "not OPML", "source import sam {text}"),
    (1, "there are no feeds in it", "source import sam {list}"),
    (2, "declares entities", "source import sam {entities}"),
    (2, "cannot be written", "source export sam /nowhere/at/all.opml"),
    (2, '"soon" is not a date', "outbox --date soon"),
    (2, '"2026-02-30" is not a date', "why sam 2026-02-30"),
    (2, "No such option", "outbox --everything"),
    (1, "nothing is recorded for sam on 2026-01-02", "why sam 2026-01-02"),
]  # fmt: skip


def test_every_bad_input_is_refused_by_name_and_changes_nothing(matins, walk, tmp_path) -> None:
    walk.own("sam")
    for letter in "AB":
        source.add(walk.conn, "sam", url=f"http://{letter}.example/".lower(), name=f"Gazette {letter}")
    files = {
        "list": '<opml version="2.0"><body/></opml>',
        "text": "Good morning.",
        "entities": '<!DOCTYPE opml [<!ENTITY a "b">]><opml/>',
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    before = walk.conn.execute("select count(*), max(id) from audit").fetchone()
    for code, said, line in BAD:
        ran = matins(*(word.format(**{name: tmp_path / name for name in files}) for word in line.split()))
        told = " ".join(ran.err.split())
        assert (line, ran.code, said in told) == (line, code, True), told
        assert "Traceback" not in told
        assert len(ran.err.splitlines()) == 1 or code == 2
    assert walk.conn.execute("select count(*), max(id) from audit").fetchone() == before


def test_every_listing_is_there_for_programs(matins, walk) -> None:
    walk.own("sam")
    source.add(walk.conn, "sam", url="http://a.example/", name="Gazette A")
    for line in ("source list sam", "source show sam gaz", "profile list", "profile show sam", "outbox --all", "owed"):
        assert json.loads(matins(*line.split(), "--json").out) is not None
