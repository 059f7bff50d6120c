"""What the doctor says of proofs and of a database that does not answer, on a real ledger."""

import pytest

from matins.cli import doctor
from matins.settings import Settings


def finding(name: str, **chosen: str) -> doctor.Finding:
    """What one check of the doctor finds."""
    check = {"imap": doctor._imap, "postgres": doctor._postgres, "ledger": doctor._ledger}[name]
    return doctor._ask(name, check, Settings(**chosen))


def test_a_proof_by_mailbox_without_a_mailbox_is_wrong_and_says_whose(walk, dsn) -> None:
    walk.own("kim", destinations=[{"name": "inbox", "address": "kim@example.net", "proof": "none"}])
    assert finding("imap", postgres_dsn=dsn).ok
    walk.own("sam")
    found = finding("imap", postgres_dsn=dsn)
    assert (found.ok, found.text) == (False, 'no mailbox is watched, and proof = "mailbox" for sam\'s inbox')
    assert found.remedy == 'set imap_url, or proof = "none":  matins profile edit sam'
    assert max(map(len, doctor.page([found]).splitlines())) <= 80


@pytest.mark.parametrize("name", ["postgres", "ledger"])
@pytest.mark.parametrize(
    ("dsn", "said"),
    [
        ("", "no Postgres is running here"),
        ("host=127.0.0.1 port=1 user=u password=hunter2", "Postgres does not answer at 127.0.0.1:1"),
        ("postgresql://u:hunter2@127.0.0.1:1/x", "Postgres does not answer at 127.0.0.1:1"),
        ("nonsense", "postgres_dsn is not an address of a database"),
    ],
)
def test_a_database_that_does_not_answer_is_told_in_words(name, dsn, said) -> None:
    found = finding(name, postgres_dsn=dsn, imap_url="", smtp_url="")
    assert (found.ok, found.text.endswith(said)) == (False, True), found.text
    assert "hunter2" not in found.text + found.remedy
    assert "Error" not in found.text
