"""`matins profile list` and `edit`: nothing typed is lost, and what changes is said in words."""

import io
import json
import stat
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from matins.cli.profile_words import changes, toml
from matins.ledger import profile
from matins.rules.profile import parse

NAMES = st.from_regex(r"[a-z0-9](?:[a-z0-9-]{0,8}[a-z0-9])?", fullmatch=True)
LINES = st.text(st.characters(codec="utf-8", categories=("L", "N", "P", "S")), min_size=1, max_size=12)
ANY = st.text(st.characters(codec="utf-8"), min_size=1, max_size=12)
TIMES = st.lists(st.times().map(lambda at: at.isoformat("minutes")), min_size=3, max_size=3, unique=True).map(sorted)
DESTINATIONS = st.lists(
    st.fixed_dictionaries(
        {"name": NAMES, "address": NAMES.map(lambda name: f"{name}@example.net")},
        optional={
            "proof": st.sampled_from(("mailbox", "none")),
            "if_unknown": st.sampled_from(("ask", "send_again", "let_go")),
        },
    ),
    max_size=3,
    unique_by=lambda one: one["name"],
)
BOARDS = st.lists(
    st.fixed_dictionaries({"name": NAMES, "kind": st.sampled_from(("lever", "ashby", "greenhouse")), "board": NAMES}),
    min_size=1,
    max_size=3,
    unique_by=(lambda one: one["name"], lambda one: one["board"]),
)
OPENINGS = st.fixed_dictionaries(
    {"titles": st.lists(LINES, min_size=1, max_size=3), "boards": BOARDS},
    optional={"places": st.lists(LINES, max_size=3), "mail": st.booleans()},
)


ODD = ("\x7f\x00\x1f\t\n\r\"'\\\u2028\U0001f600 #=[]", "a.b")


@st.composite
def profiles(draw):
    """A profile that can be, whatever is in it."""
    opens, ready_by, closes = draw(TIMES)
    raw = {
        "owner": draw(NAMES),
        "name": draw(LINES),
        "zone": draw(st.sampled_from(("Europe/London", "Asia/Kathmandu"))),
        "window": f"{opens}-{closes}",
        "ready_by": ready_by,
        "long": draw(st.integers(0, 20)),
        "interests": draw(st.dictionaries(st.one_of(st.just(""), ANY), st.lists(ANY, min_size=1, max_size=3))),
        "destinations": draw(DESTINATIONS),
    }
    raw |= draw(st.one_of(st.just({}), st.just({"send_at": opens})))
    raw |= draw(st.one_of(st.just({}), st.fixed_dictionaries({"openings": OPENINGS})))
    return parse(raw, where="the test")


@settings(max_examples=15, deadline=None)
@given(profiles(), profiles())
@example(*(parse({"owner": "sam", "zone": "Europe/London", "interests": {odd: [odd]}}, where="x") for odd in ODD))
def test_any_profile_comes_back_from_its_toml_and_any_difference_is_told(one, other) -> None:
    back = parse(tomllib.loads(toml(one.document())), where="the test")
    assert back == one
    assert list(back.interests) == list(one.interests)
    assert changes(one.document(), back.document()) == []
    same = {**other.document(), "owner": one.owner} == one.document()
    assert (changes(one.document(), other.document()) == []) == same


SAM = {
    "owner": "sam", "zone": "Europe/London", "interests": {"rail": ["rail", "train"], "energy": ["heat"]},
    "destinations": [{"name": "inbox", "address": "sam@example.net"}],
}  # fmt: skip
BOARD = {"name": "acme", "kind": "lever", "board": "acme"}


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({}, []),
        ({"window": "06:00-09:00"}, ["window: 05:00-09:00, now 06:00-09:00"]),
        ({"send_at": "06:45"}, ["not sent before: none, now 06:45"]),
        ({"long": 3}, ["long stories: 5, now 3"]),
        ({"interests": {"energy": ["heat"], "rail": ["rail", "train"]}}, ["order of interests: energy, rail"]),
        (
            {"interests": {"rail": ["rail"], "space": ["orbit"]}},
            ["interest energy: taken out", "interest space: new, orbit", "interest rail: rail"],
        ),
        (
            {
                "destinations": [
                    {"name": "inbox", "address": "s@example.net"},
                    {"name": "b", "address": "b@example.net"},
                ]
            },
            [
                "mail to inbox, address: sam@example.net, now s@example.net",
                "mail to b: new, b@example.net, email, mailbox, ask",
            ],
        ),
        ({"destinations": []}, ["mail to inbox: taken out"]),
        ({"openings": {"titles": ["engineer"], "boards": [BOARD]}}, ["openings: asked for from now on"]),
    ],
)
def test_every_change_is_told_in_words(change, told) -> None:
    before, after = (parse(raw, where="the test").document() for raw in (SAM, {**SAM, **change}))
    assert changes(before, after) == told


def test_a_change_of_what_is_asked_of_the_boards_is_told() -> None:
    asked = [
        {**SAM, "openings": {"titles": ["engineer"], "mail": mail, "boards": [{**BOARD, "name": name}]}}
        for mail, name in ((False, "acme"), (True, "bolt"))
    ]
    before, after = (parse(raw, where="the test").document() for raw in asked)
    assert changes(before, after)[:2] == ["openings, mail: no, now yes", "board acme: taken out"]


@pytest.fixture
def editor(tmp_path, monkeypatch):
    """Makes $EDITOR a program that replaces text in the file, and keeps a copy of what it was given."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.delenv("VISUAL", raising=False)

    def use(old: str, new: str, *, code: int = 0) -> Path:
        program, seen = tmp_path / "editor.py", tmp_path / "seen.txt"
        program.write_text(
            "import pathlib, sys\n"
            "file = pathlib.Path(sys.argv[1])\n"
            "text = file.read_text()\n"
            f"pathlib.Path({str(seen)!r}).write_text(text)\n"
            f"file.write_text(text.replace({old!r}, {new!r}))\n"
            f"sys.exit({code})\n"
        )
        monkeypatch.setenv("EDITOR", f"{sys.executable} -S -E {program}")
        return seen

    return use


def kept(tmp_path: Path) -> list[Path]:
    return list(tmp_path.glob("matins-sam-*.toml"))


def test_an_edited_profile_is_applied_and_says_what_changes_and_from_when(matins, walk, editor, tmp_path) -> None:
    walk.own("sam")
    seen = editor('name = "sam"', 'name = "Sam"')
    ran = matins("profile", "edit", "sam")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.startswith("sam: profile 2 applied, from today, ")
    assert ran.out.splitlines()[1:] == ["  name: sam, now Sam", "  feeds: as before"]
    assert seen.read_text().startswith("# sam's profile 1. ")
    walk.to("sam", "queued")
    editor('name = "Sam"', 'name = "Samuel"')
    assert "today keeps profile 2" in matins("profile", "edit", "sam").out
    editor("nothing", "of this kind")
    assert matins("profile", "edit", "sam").out == "sam: nothing changed\n"
    editor('name = "Samuel"', "name='Samuel' # a remark")
    assert matins("profile", "edit", "sam").out == "sam: nothing changed\n"
    assert (profile.current(walk.conn, "sam").version, kept(tmp_path)) == (3, [])


REFUSED = [
    ("00:00-23:59", "early", 0, "window is not two times"),
    ("zone = ", "zone ~ ", 0, "is not TOML"),
    ('owner = "sam"', 'owner = "kim"', 0, 'owner = "kim" is another one'),
    ('name = "sam"', 'name = "Sam"', 3, "ended with 3; nothing is applied"),
]
"""Old text, new text, the editor's exit code, and what is said."""


def test_what_cannot_be_is_said_and_what_was_typed_is_kept(matins, walk, editor, tmp_path) -> None:
    walk.own("sam")
    for old, new, code, said in REFUSED:
        editor(old, new, code=code)
        ran = matins("profile", "edit", "sam")
        assert (ran.code, said in ran.err) == (2, True), said
        (file,) = kept(tmp_path)
        assert ran.err.rstrip().endswith(f"matins profile apply {file}")
        assert new in file.read_text()
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        file.unlink()
    assert profile.current(walk.conn, "sam").version == 1


def test_at_a_terminal_it_is_edited_again_and_what_came_meanwhile_is_not_overwritten(
    matins, walk, editor, tmp_path, monkeypatch
) -> None:
    walk.own("sam")
    editor("", "")
    edits = iter(['zone = "Europe/Atlantis"', 'zone = "Europe/Paris"', 'zone = "Europe/Rome"'])

    def typed(words: list[str], *, check: bool) -> subprocess.CompletedProcess[str]:
        assert not check
        text = Path(words[-1]).read_text()
        line = next(line for line in text.splitlines() if line.startswith("zone"))
        Path(words[-1]).write_text(text.replace(line, next(edits)))
        return subprocess.CompletedProcess(words, 0)

    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.setattr(subprocess, "run", typed)
    monkeypatch.setattr(sys, "stdin", Terminal("y\n"))
    ran = matins("profile", "edit", "sam")
    assert (ran.code, 'unknown zone "Europe/Atlantis"' in ran.err) == (0, True)
    assert profile.current(walk.conn, "sam").document["zone"] == "Europe/Paris"

    def meanwhile(words: list[str], *, check: bool) -> subprocess.CompletedProcess[str]:
        walk.own("sam", name="Somebody else was here")
        return typed(words, check=check)

    monkeypatch.setattr(subprocess, "run", meanwhile)
    ran = matins("profile", "edit", "sam")
    assert (ran.code, "another profile was applied meanwhile" in ran.err) == (2, True)
    assert profile.current(walk.conn, "sam").document["name"] == "Somebody else was here"
    assert 'zone = "Europe/Rome"' in kept(tmp_path)[0].read_text()


def test_without_an_editor_it_says_what_to_set(matins, walk, editor, tmp_path, monkeypatch) -> None:
    walk.own("sam")
    editor("", "")
    monkeypatch.setenv("EDITOR", "")
    ran = matins("profile", "edit", "sam")
    assert (ran.code, kept(tmp_path)) == (2, [])
    assert "EDITOR=nano matins profile edit sam" in " ".join(ran.err.split())
    monkeypatch.setenv("EDITOR", "/nowhere/to/be/found")
    assert "cannot be started (No such file or directory)" in matins("profile", "edit", "sam").err
    assert matins("profile", "edit", "nobody").code == 1


def test_a_proof_that_nobody_can_bring_is_warned_of(matins, walk, editor, monkeypatch, tmp_path) -> None:
    walk.own("sam")
    monkeypatch.setenv("MATINS_SMTP_URL", "smtp://mail.example.net")
    editor('name = "sam"', 'name = "Sam"')
    ran = matins("profile", "edit", "sam")
    warning = 'sam: inbox: proof = "mailbox", but no mailbox is watched: set imap_url, or proof = "none"\n'
    assert (ran.code, ran.err) == (0, warning)
    file = tmp_path / "sam.toml"
    file.write_text(toml(profile.current(walk.conn, "sam").document), encoding="utf-8")
    assert matins("profile", "apply", str(file)).err == warning
    monkeypatch.setenv("MATINS_IMAP_URL", "imaps://u:p@mail.example.net")
    assert matins("profile", "apply", str(file)).err == ""


def test_profiles_are_listed(matins, walk) -> None:
    assert "There are no profiles yet." in matins("profile", "list").out
    walk.own("sam")
    walk.own("kim", destinations=[])
    lines = matins("profile", "list").out.splitlines()
    assert [line.split()[0] for line in lines] == ["OWNER", "kim", "sam"]
    assert lines[1].endswith("nowhere")
    assert [one["owner"] for one in json.loads(matins("profile", "list", "--json").out)] == ["kim", "sam"]
