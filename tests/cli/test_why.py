"""`matins why`: the first missing piece, whose move is next, and the evidence in order."""

import json

from matins.ledger import doubt
from matins.rules.receipt import Sighting


def test_a_ready_morning_ends_in_one_line_and_lists_its_evidence(matins, walk) -> None:
    walk.own("sam")
    walk.to("sam", "done")
    ran = matins("why", "sam")
    assert ran.code == 0
    assert "Everything owed was done, with evidence." in ran.out
    acts = [line.split()[1] for line in ran.out.splitlines() if line[2:4].isdigit()]
    assert [act for act in acts if act != "owed"] == ["read", "write", "publish", "send", "send", "openings"]


def test_json_has_the_documented_shape_and_no_first_missing_when_ready(matins, walk) -> None:
    walk.own("sam")
    walk.to("sam", "done")
    told = json.loads(matins("why", "sam", "--json").out)
    assert set(told) == {"owner", "local_date", "state", "first_missing", "next", "evidence"}
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
    walk._jobs(key)
    claim, envelope = walk.send(key)
    doubt.doubt(walk.conn, claim, reason="the reply was lost", quarantine=60)
    ran = matins("why", "sam")
    assert "First missing: the mail to inbox, sent." in ran.out
    assert "It will not send a second one." in ran.out
    assert "may have been sent: the reply was lost" in ran.out
    found = Sighting(True, "imap:test:143", "inbox")
    assert doubt.accept_found(walk.conn, claim.key, mail_id=envelope.mail_id, sighting=found)
    assert "marked as sent: looked for and found in the inbox" in matins("why", "sam").out


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
