"""`matins why`: the first missing piece, whose move is next, and the evidence in order."""

import json

from psycopg.types.json import Jsonb

from matins import settings
from matins.cli import progress
from matins.ledger import decision, doubt, ingest, standing, today
from matins.rules.receipt import Sighting


def test_a_ready_morning_ends_in_one_line_and_lists_its_evidence(matins, walk) -> None:
    walk.own("sam")
    walk.to("sam", "done")
    ran = matins("why", "sam")
    assert ran.code == 0
    assert "Everything owed was done, with evidence." in ran.out
    acts = [line.split()[1] for line in ran.out.splitlines() if line[2:4].isdigit()]
    assert [act for act in acts if act != "owed"] == ["read", "write", "publish", "send", "send", "openings", "wiki"]


def test_json_has_the_documented_shape_and_no_first_missing_when_ready(matins, walk) -> None:
    walk.own("sam")
    walk.to("sam", "done")
    told = json.loads(matins("why", "sam", "--json").out)
    assert set(told) == {"owner", "local_date", "state", "first_missing", "next", "our_network", "evidence"}
    assert told["state"] == "READY"
    assert told["first_missing"] is None
    assert all({"at", "what"} <= set(one) for one in told["evidence"])
    assert [one["at"] for one in told["evidence"]] == sorted(one["at"] for one in told["evidence"])


def test_the_first_missing_piece_is_named_with_whose_move_is_next(matins, walk) -> None:
    walk.own("sam")
    walk.to("sam", "composed")
    told = json.loads(matins("why", "sam", "--json").out)
    assert told["first_missing"] == "the edition, published"
    assert told["next"] == "Matins is at it; what died is taken over within five minutes."


def test_a_mail_of_unknown_fate_is_looked_for_and_not_sent_again(matins, walk) -> None:
    walk.own("sam")
    key = walk.to("sam", "published")
    walk.finish(key)
    claim, envelope = walk.send(key)
    doubt.doubt(walk.conn, claim, reason="the reply was lost", quarantine=60)
    ran = matins("why", "sam")
    assert "First missing: the mail to inbox, sent." in ran.out
    assert "It will not send a second one." in ran.out
    assert "may have been sent: the reply was lost" in ran.out
    found = Sighting(True, "imap:test:143", "inbox")
    assert doubt.accept_found(walk.conn, claim.key, mail_id=envelope.mail_id, sighting=found)
    assert "marked as sent: looked for and found in the inbox" in matins("why", "sam").out


def test_a_held_mail_is_what_is_missing_first_though_later_pieces_are_too(matins, walk) -> None:
    walk.own("sam")
    key = walk.to("sam", "published")
    claim, _ = walk.send(key)
    doubt.doubt(walk.conn, claim, reason="the reply was lost", quarantine=60)
    doubt.hold(walk.conn, claim.key, reason="nobody can look")
    assert "HELD.  First missing: the mail to inbox, sent." in matins("why", "sam").out
    (found,) = standing.mornings(walk.conn, today.today(walk.conn, "sam"), owner="sam")
    ended = progress.ending(walk.conn, settings.load(), found)
    assert ended == "\nHELD. First missing: the mail to inbox, sent.\n  matins why sam"


def test_what_could_not_be_read_or_only_in_part_is_named_while_a_morning_is_made_and_after(
    matins, walk, capsys
) -> None:
    walk.own("sam")
    walk.to("sam", "done")
    half = {"name": "Half Feed", "reason": "broke off after 12 entries"}
    found = {"sources": 5, "reached": 1, "unseen": [{"name": "Echo", "reason": "503"}], "in_part": [half]}
    walk.conn.execute("update evidence_set set coverage = coverage || %s", [Jsonb(found)])
    walk.conn.execute("update edition set kind = 'blind'")
    told = json.loads(matins("why", "sam", "--json").out)["evidence"]
    assert [one["what"] for one in told if one["event"] in ("evidence_set.frozen", "edition.drafted")] == [
        "1 of 5 sources, 1 in part, 1 new item; could not look: Echo (503); "
        "read in part: Half Feed (broke off after 12 entries)",
        '1 story, quoted from the sources, no model used, in an edition that says "could not look"',
    ]
    progress.watch(walk.conn, "sam", today.today(walk.conn, "sam"))
    lines = [line.strip() for line in capsys.readouterr().out.splitlines()]
    assert lines[0].startswith("read       1 of 5 sources, 1 in part, 1 new item ")
    assert lines[1:3] == ["could not look: Echo (503)", "read in part: Half Feed (broke off after 12 entries)"]


def test_no_inner_word_reaches_a_person_without_v(matins, walk) -> None:
    walk.own("sam")
    walk.to("sam", "done")
    for page in (matins("why", "sam").out, matins("owed").out):
        words = page.lower().replace(",", " ").replace(".", " ").split()
        assert not {"obligation", "continuation", "lease", "token", "sweep", "claim", "delivered", "cursor"} & set(
            words
        )


def test_v_adds_hashes_and_tokens(matins, walk) -> None:
    walk.own("sam")
    walk.to("sam", "done")
    assert "output_hash " in matins("why", "sam", "-v").out or "bundle_hash " in matins("why", "sam", "-v").out


def test_an_owner_without_a_profile_is_refused_by_name(matins) -> None:
    ran = matins("why", "nobody")
    assert ran.code == 1
    assert ran.err == 'there is no profile for "nobody"; apply one: matins profile apply FILE\n'


def test_the_openings_and_the_wiki_are_told_in_words(matins, walk) -> None:
    walk.own("sam")
    key = walk.to("sam", "observed")
    assert "First missing: the openings." in matins("why", "sam").out
    walk.report(key, headline="3 new, 41 open, 1 gone", checked=["acme"])
    assert "First missing: the wiki, brought up to date." in matins("why", "sam").out
    assert "wiki to come" in " ".join(matins("owed").out.split())
    walk.keep_wiki(key, "a", "b")
    last = [line.split(maxsplit=2)[1:] for line in matins("why", "sam").out.splitlines() if line[2:4].isdigit()][-2:]
    assert last == [["openings", "3 new, 41 open, 1 gone"], ["wiki", "2 of 2 pages not up to date yet"]]
    walk.conn.execute("update page set published = wanted, published_at = ledger_now()")
    assert "  wiki      2 pages brought up to date\n" in matins("why", "sam").out
    (row,) = [line.split() for line in matins("owed").out.splitlines() if " openings " in line]
    assert row[:3] == ["sam", "openings", "READY"]
    assert row[4:] == ["3", "new,", "41", "open,", "1", "gone"]


def test_a_network_that_is_down_now_is_told(matins, walk) -> None:
    walk.own("sam")
    walk.to("sam", "queued")
    decision.note(walk.conn, "network", "our_network", ingest.OUR_NETWORK)
    assert "Also:  Most sources cannot be reached" in matins("why", "sam").out
    assert "\nMost sources cannot be reached: most likely it is this machine's network." in matins("owed").out
    assert json.loads(matins("why", "sam", "--json").out)["our_network"] is True
    walk.conn.execute("update decision set last_seen_at = ledger_now() - interval '16 minutes'")
    assert "Also:" not in matins("why", "sam").out
