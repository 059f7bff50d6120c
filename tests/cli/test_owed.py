"""`matins owed`: the words, the columns, the exit codes and the documented JSON."""

import json

import pytest
from psycopg.types.json import Jsonb

from matins.ledger import doubt
from matins.rules import keys
from tests.cli.conftest import STAGES

STEPS = {"step", "status", "provider", "reference", "attempts"}
MESSAGES = {"kind", "channel", "destination", "status", "provider", "reference", "mechanism", "placement"}
DOCUMENT = {"key", "owner", "product", "local_date", "status", "token", "attempts", "steps", "messages", "missing"}
LACKS = {
    "queued": ["research", "compose", "publish", "jobs", "wiki"],
    "researched": ["compose", "publish", "jobs", "wiki"],
    "composed": ["publish", "jobs", "wiki"],
    "published": ["jobs", "wiki", "message email/inbox: accepted"],
    "accepted": ["jobs", "wiki", "message email/inbox: observed"],
    "observed": ["jobs", "wiki"],
    "reported": ["wiki"],
    "done": [],
}


@pytest.mark.parametrize("stage", STAGES)
def test_json_names_exactly_what_is_missing_at_each_stage(matins, walk, stage) -> None:
    walk.own("sam")
    key = walk.to("sam", stage)
    ran = matins("owed", "--json")
    (owed,) = json.loads(ran.out)["owed"]
    assert set(owed) >= DOCUMENT
    assert (owed["key"], owed["owner"], owed["product"]) == (key, "sam", "morning")
    assert owed["missing"] == LACKS[stage]
    assert [step["step"] for step in owed["steps"]] == ["research", "compose", "publish", "jobs", "wiki"]
    assert all(set(step) == STEPS for step in owed["steps"])
    assert all(set(message) == MESSAGES for message in owed["messages"])
    done = [step["step"] for step in owed["steps"] if step["status"] == "completed"]
    assert all(step["provider"] and step["reference"] for step in owed["steps"] if step["step"] in done)


def test_a_ready_morning_says_what_the_reader_got(matins, walk) -> None:
    walk.own("sam")
    walk.to("sam", "done")
    ran = matins("owed")
    assert ran.code == 0
    assert "READY" in ran.out
    assert "1 story, 1 of 1 source, in the inbox" in ran.out
    assert "1 of 1 due is ready." in ran.out


@pytest.mark.parametrize(
    ("kind", "stories", "coverage", "said"),
    [
        ("blind", 5, {"reached": 1}, "5 stories, 1 of 5 sources, in the inbox"),
        ("blind", 0, {"reached": 0}, "could not look, 0 of 5 sources, in the inbox"),
        ("quoted", 5, {"in_part": [{"name": "Half Feed", "reason": "broke off"}]}, "5 of 5 sources, 1 in part, in the"),
        ("empty", 0, {}, "nothing new, 5 of 5 sources, in the inbox"),
    ],
)
def test_the_stories_and_how_far_the_look_reached_are_both_told(matins, walk, kind, stories, coverage, said) -> None:
    walk.own("sam")
    walk.to("sam", "done")
    found = {"sources": 5, "reached": 5, **coverage}
    walk.conn.execute("update evidence_set set coverage = coverage || %s", [Jsonb(found)])
    walk.conn.execute("update edition set kind = %s, facts = %s", [kind, Jsonb({"stories": stories})])
    assert said in " ".join(matins("owed").out.split())


def test_sent_without_a_mailbox_to_look_into_is_said_to_be_sent_and_no_more(matins, walk) -> None:
    walk.own("sam", destinations=[{"name": "inbox", "address": "sam@example.net", "proof": "none"}])
    key = walk.to("sam", "accepted")
    walk.finish(key)
    ran = matins("owed")
    assert ran.code == 0
    assert "sent (server said yes)" in ran.out
    assert "inbox" not in ran.out.split("WHERE IT STANDS")[1]


def test_a_mail_that_waits_for_a_person_is_held_and_the_exit_code_says_so(matins, walk) -> None:
    walk.own("sam")
    key = walk.to("sam", "published")
    claim, _ = walk.send(key)
    doubt.doubt(walk.conn, claim, reason="the reply was lost", quarantine=60)
    doubt.hold(walk.conn, claim.key, reason="nobody can look")
    walk.finish(key)
    ran = matins("owed")
    assert ran.code == 1
    assert "HELD" in ran.out
    assert "For you\n  1  sam's mail may have been sent." in ran.out


def test_every_line_fits_eighty_columns(matins, walk) -> None:
    for owner, stage in zip(("an-owner-with-a-name-of-32-chars", "bo", "cy", "di"), STAGES[2:6], strict=True):
        walk.own(owner)
        walk.to(owner, stage)
    assert max(len(line) for line in matins("owed").out.splitlines()) <= 80
    for owner in ("bo", "cy"):
        assert max(len(line) for line in matins("why", owner).out.splitlines()) <= 80


def test_one_owner_with_an_unknown_zone_is_named_and_the_others_are_planned(matins, walk) -> None:
    walk.own("sam")
    walk.own("jo")
    walk.conn.execute("update profile set zone = 'Europe/Atlantis' where owner = 'jo'")
    assert matins("sweep").code == 3, "no Temporal here: what could not be started is said"
    ran = matins("owed")
    assert ran.code == 1
    (line,) = [line for line in ran.out.splitlines() if line.startswith("jo ")]
    assert "CANNOT" in line
    assert 'unknown zone "Europe/Atlantis"' in ran.out
    assert any(line.startswith("sam ") and "DUE" in line for line in ran.out.splitlines())


def test_a_day_that_was_over_before_the_profile_is_said_to_be_so_and_not_promised(matins, walk) -> None:
    walk.own("sam")
    walk.conn.execute("update owner set created_at = ledger_now() + interval '1 day'")
    matins("sweep")
    ran = matins("owed")
    assert ran.code == 0
    assert "today was over before there was a" in ran.out
    assert "next check does it" not in ran.out


def test_nothing_owed_says_so(matins) -> None:
    ran = matins("owed", "--date", "2026-01-01")
    assert ran.code == 0
    assert "Nothing is owed to anybody on this date." in ran.out


def test_a_date_that_is_none_is_wrong_usage(matins) -> None:
    ran = matins("owed", "--date", "yesterday")
    assert ran.code == 2
    assert '"yesterday" is not a date' in ran.err


def test_where_there_is_no_ledger_it_says_how_to_make_one(matins, monkeypatch, postgres_admin) -> None:
    monkeypatch.setenv("MATINS_POSTGRES_DSN", postgres_admin)
    ran = matins("owed")
    assert (ran.code, ran.err) == (1, "this database has no ledger yet; make it with: matins up\n")


def test_where_postgres_is_down_it_cannot_look(matins, monkeypatch) -> None:
    monkeypatch.setenv("MATINS_POSTGRES_DSN", "postgresql://matins@127.0.0.1:1/matins")
    ran = matins("owed")
    assert (ran.code, ran.err) == (3, "Postgres does not answer. Start it:  matins up\n")


def test_v_shows_keys_tokens_and_references(matins, walk) -> None:
    walk.own("sam")
    key = walk.to("sam", "done")
    ran = matins("owed", "-v")
    assert f"{key}  succeeded  token 1" in ran.out
    assert keys.message_work(keys.message(key, "brief", "email", "inbox")) in ran.out
