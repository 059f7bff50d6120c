"""A mail server's queue id that comes again must not cost a mail its acceptance."""

from matins.ledger import message
from matins.rules.receipt import Receipt


def test_a_queue_id_used_again_is_replaced_by_the_mails_own_id_and_kept_as_evidence(walk) -> None:
    said = {"reply": "250 Ok: queued as 9F2C1"}
    for owner in ("sam", "kim"):
        walk.own(owner)
        key = walk.to(owner, "published")
        claim, envelope = walk.send(key)
        message.accept(walk.conn, claim, Receipt("smtp:test:25", "9F2C1", said))
    rows = walk.conn.execute("select subject, status, reference, reply from message order by created_at").fetchall()
    assert [row[1] for row in rows] == ["accepted", "accepted"]
    assert [row[2] for row in rows] == ["9F2C1", envelope.mail_id]
    assert {row[3] for row in rows} == {said["reply"]}
    kept = walk.conn.execute("select receipt ->> 'used_again' from action where reference = %s", (envelope.mail_id,))
    assert kept.fetchone() == ("9F2C1",)
