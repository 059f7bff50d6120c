"""`matins outbox`: every message that is not proved yet, in words, and the exit code."""

import json

from matins.ledger import doubt, message, observation, today
from matins.rules.receipt import Receipt
from tests.ledger.clock import Clock


def test_a_mail_is_told_at_every_stage_until_it_is_proved(matins, walk) -> None:
    walk.own("sam")
    key = walk.to("sam", "published")
    nothing = "Nothing waits: every message is at the proof its destination asks for.\n"
    assert matins("outbox", "--date", "2026-01-01").out == nothing
    assert "waits to be sent" in matins("outbox").out
    walk.conn.execute("update work set retry_at = ledger_now() + interval '1 hour' where kind = 'message'")
    assert "waits till " in matins("outbox", "sam").out
    walk.conn.execute("update work set retry_at = null")
    claim, envelope = walk.send(key)
    assert "being sent" in matins("outbox").out
    message.accept(walk.conn, claim, Receipt("smtp:test:25", "r1", {"reply": "250 queued as 9F2C1"}))
    ran = matins("outbox")
    assert (ran.code, "sent, not seen yet; looked for again" in ran.out) == (0, True)
    assert "sam@example.net" not in ran.out
    assert {"sam@example.net", "250 queued as 9F2C1", envelope.work_key} <= {
        line.split(maxsplit=1)[1] for line in matins("outbox", "-v").out.splitlines() if line.startswith("  ")
    }
    walk._observe(key)
    assert matins("outbox").out == nothing
    assert "in the inbox" in matins("outbox", "--all").out
    (one,) = json.loads(matins("outbox", "--all", "--json").out)
    assert (one["owner"], one["kind"], one["state"], one["proved"], one["tries"]) == (
        "sam", "brief", "in the inbox", True, 1
    )  # fmt: skip


def test_a_mail_of_unknown_fate_is_looked_for_and_a_held_one_waits_for_its_owner(matins, walk) -> None:
    walk.own("sam")
    claim, _ = walk.send(walk.to("sam", "published"))
    doubt.doubt(walk.conn, claim, reason="the reply was lost", quarantine=60)
    ran = matins("outbox")
    assert (ran.code, "may have been sent; looked for again" in " ".join(ran.out.split())) == (0, True)
    doubt.hold(walk.conn, claim.key, reason="nobody can look")
    ran = matins("outbox")
    assert ran.code == 1
    assert "held: it may have been sent, you decide" in " ".join(ran.out.split())
    assert ran.out.splitlines()[-1] == f"  look whether it came:  matins why sam {today.today(walk.conn, 'sam')}"


def test_a_mail_that_nobody_looks_for_any_more_stays_on_the_list_of_its_day_only(matins, walk) -> None:
    Clock.install(walk.conn)
    clock = Clock(walk.conn)
    walk.own("sam")
    walk.to("sam", "accepted")
    walk.conn.execute("update message set useful_until_at = ledger_now() - interval '1 second'")
    (work_key,) = walk.conn.execute("select work_key from message").fetchone()
    observation.look_again(walk.conn, work_key, reason="not there")
    assert "sent, not seen; not looked for any more" in " ".join(matins("outbox").out.split())
    day = today.today(walk.conn, "sam").isoformat()
    clock.forward(86_400)
    assert matins("outbox").out.startswith("Nothing waits")
    assert "not looked for any more" in " ".join(matins("outbox", "--date", day).out.split())
    assert matins("outbox", "nobody").err.startswith('there is no profile for "nobody"')


def test_every_line_of_the_outbox_fits_eighty_columns(matins, walk) -> None:
    for owner in ("an-owner-with-a-name-of-32-chars", "bo"):
        walk.own(owner)
        claim, _ = walk.send(walk.to(owner, "published"))
        doubt.doubt(walk.conn, claim, reason="the reply was lost", quarantine=60)
    assert max(len(line) for line in matins("outbox").out.splitlines()) <= 80
