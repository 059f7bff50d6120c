"""The local test mailbox: nothing that it took is lost or doubled, whatever ends it."""

from __future__ import annotations

import imaplib
import json
import signal
import socket
import stat
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from matins.local import mailbox as local
from matins.local.maildir import Maildir, read_ledger
from matins.providers.imap import Mailbox
from matins.providers.smtp import Smtp
from matins.rules.errors import OutcomeUnknown, ProviderUnavailable
from tests.providers.mailbox_process import MailboxProcess
from tests.providers.mails import Mail, send


def test_mail_to_any_address_lands_in_the_one_inbox(mailbox: MailboxProcess) -> None:
    for to in ("anybody@example.net", "root@localhost", "ünicode@example.net"):
        mail = Mail()
        send(Smtp(mailbox.smtp_url), mail.raw, to=to)
        assert Mailbox(mailbox.imap_url).look(message_id=mail.message_id, message_key=mail.message_key).found
        assert mailbox.ledger()[-1]["to"] == [to]


def test_a_mail_is_read_by_imap_as_it_was_sent(mailbox: MailboxProcess) -> None:
    mail = Mail("Grüße\r\n.\r\n..\r\n".encode())
    send(Smtp(mailbox.smtp_url), mail.raw)
    client = imaplib.IMAP4("127.0.0.1", mailbox.imap_port)
    client.login("matins", local.password(mailbox.data))
    client.select("INBOX")
    _, (uids,) = client.uid("SEARCH", "HEADER", "Message-ID", f'"{mail.message_id}"')
    _, parts = client.uid("FETCH", uids.decode(), "(BODY.PEEK[])")
    client.logout()
    assert parts[0][1] == mail.raw


def test_no_mail_is_lost_or_doubled_by_kills_amid_its_sending(tmp_path: Path) -> None:
    taken: Counter[str] = Counter()
    unknown: set[str] = set()
    done = threading.Event()

    def keep_sending(smtp: Smtp) -> None:
        while not done.is_set():
            mail = Mail(b"x" * 900 + b"\r\n")
            try:
                send(smtp, mail.raw)
                taken[mail.message_id] += 1
            except OutcomeUnknown:
                unknown.add(mail.message_id)
            except ProviderUnavailable:
                done.wait(0.01)

    with MailboxProcess(tmp_path) as mailbox:
        senders = [threading.Thread(target=keep_sending, args=(Smtp(mailbox.smtp_url),)) for _ in range(3)]
        for sender in senders:
            sender.start()
        for _ in range(3):
            wait_for_more(taken)
            mailbox.end(signal.SIGKILL)
            mailbox.start()
        done.set()
        for sender in senders:
            sender.join(30)
        ledger = Counter(entry["message-id"] for entry in mailbox.ledger())
        kept = Counter(id_of(mail) for mail in mailbox.mails())
        look = Mailbox(mailbox.imap_url).look(message_id=next(iter(taken)), message_key="none/such")
    assert set(taken) <= set(ledger) <= set(taken) | unknown
    assert set(ledger.values()) == {1}
    assert kept == ledger
    assert look.found


def test_a_start_finishes_what_a_kill_left_between_ledger_and_inbox(tmp_path: Path) -> None:
    maildir = Maildir(tmp_path / "m", ledger=tmp_path / "smtp.log")
    maildir.take(b"first\r\n", sender="a@b", to=["c@d"])
    (arrived,) = (tmp_path / "m" / "new").iterdir()
    arrived.rename(tmp_path / "m" / "tmp" / arrived.name)
    (tmp_path / "m" / "tmp" / "half").write_bytes(b"never finis")
    with (tmp_path / "smtp.log").open("a") as ledger:
        ledger.write('{"id": "torn", "fr')
    maildir.recover()
    maildir.take(b"second\r\n", sender="a@b", to=["c@d"])
    assert sorted(file.read_bytes() for file in (tmp_path / "m" / "new").iterdir()) == [b"first\r\n", b"second\r\n"]
    assert list((tmp_path / "m" / "tmp").iterdir()) == []
    assert [entry["size"] for entry in read_ledger(tmp_path / "smtp.log")] == [7, 8]
    assert [json.loads(line)["size"] for line in (tmp_path / "smtp.log").read_text().splitlines()] == [7, 8]


def test_imap_still_answers_after_a_kill_that_left_its_locks(tmp_path: Path) -> None:
    mail = Mail()
    with MailboxProcess(tmp_path) as mailbox:
        send(Smtp(mailbox.smtp_url), mail.raw)
        look = Mailbox(mailbox.imap_url).look
        assert look(message_id=mail.message_id, message_key=mail.message_key).found
        mailbox.end(signal.SIGKILL)
        (tmp_path / "mailbox" / "matins" / "dovecot-uidlist.lock").touch()
        (tmp_path / "mailbox" / "matins" / "dovecot-uidlist").write_bytes(b"")
        mailbox.start()
        assert look(message_id=mail.message_id, message_key=mail.message_key).found


def test_an_idle_connection_is_closed_so_that_a_thawed_sender_sends_nothing(tmp_path: Path) -> None:
    with MailboxProcess(tmp_path, idle=0.3) as mailbox:
        with pytest.raises(ProviderUnavailable, match="closed"):
            send(Smtp(mailbox.smtp_url), Mail().raw, still_mine=lambda: wait_until_closed(mailbox.smtp_port))
        assert mailbox.ledger() == []
        assert mailbox.mails() == []


def test_sigterm_ends_it_cleanly_with_connections_open(tmp_path: Path) -> None:
    mailbox = MailboxProcess(tmp_path)
    mailbox.start()
    with (
        socket.create_connection(("127.0.0.1", mailbox.smtp_port)) as smtp,
        socket.create_connection(("127.0.0.1", mailbox.imap_port)) as imap,
    ):
        assert smtp.recv(4) == b"220 "
        assert imap.recv(4) == b"* OK"
        assert mailbox.end(signal.SIGTERM) == 0


def test_the_password_is_made_once_and_readable_by_its_owner_only(tmp_path: Path) -> None:
    first = local.password(tmp_path)
    assert local.password(tmp_path) == first
    assert stat.S_IMODE((tmp_path / "mailbox-password").stat().st_mode) == 0o600
    assert local.imap_url(tmp_path, 143) == f"imap://matins:{first}@127.0.0.1:143"
    assert [file.name for file in tmp_path.iterdir()] == ["mailbox-password"]


def test_nobody_else_can_read_mail_password_or_account(mailbox: MailboxProcess) -> None:
    send(Smtp(mailbox.smtp_url), Mail().raw)
    for path in ("mailbox-password", "smtp.log", "mailbox/pymap-etc-shadow", "mailbox/matins/new"):
        assert stat.S_IMODE((mailbox.data / path).stat().st_mode) & 0o077 == 0, path


def test_a_taken_port_is_told_by_number_and_option(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        taken = MailboxProcess(tmp_path)
        taken.smtp_port = other.getsockname()[1]
        refused = subprocess.run(taken.command(), capture_output=True, text=True, timeout=20)
    assert refused.returncode == 1
    expected = f"port {taken.smtp_port} of 127.0.0.1 cannot be used (Address already in use): set another --smtp-port\n"
    assert refused.stderr == expected


def test_a_second_mailbox_on_the_same_directory_is_refused(mailbox: MailboxProcess) -> None:
    second = subprocess.run(MailboxProcess(mailbox.data).command(), capture_output=True, text=True, timeout=20)
    assert second.returncode == 1
    assert second.stderr.startswith("a mailbox already runs on ")
    assert second.stderr.count("\n") == 1


def test_a_directory_that_is_a_file_is_refused_in_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    refused = subprocess.run(MailboxProcess(tmp_path / "file").command(), capture_output=True, text=True, timeout=20)
    assert refused.returncode == 1
    assert refused.stderr.count("\n") == 1


def test_a_mail_that_cannot_be_kept_is_put_off_and_leaves_no_trace(tmp_path: Path) -> None:
    with MailboxProcess(tmp_path) as mailbox:
        send(Smtp(mailbox.smtp_url), Mail().raw)
        waiting = tmp_path / "mailbox" / "matins" / "tmp"
        waiting.rmdir()
        with pytest.raises(ProviderUnavailable, match=r"452 4\.3\.1"):
            send(Smtp(mailbox.smtp_url), Mail().raw)
        waiting.mkdir()
        send(Smtp(mailbox.smtp_url), Mail().raw)
        assert len(mailbox.ledger()) == len(mailbox.mails()) == 2


def test_a_mail_whose_ledger_line_cannot_be_written_is_nowhere(tmp_path: Path) -> None:
    maildir = Maildir(tmp_path / "m", ledger=tmp_path / "smtp.log")
    (tmp_path / "smtp.log").unlink()
    (tmp_path / "smtp.log").mkdir()
    with pytest.raises(IsADirectoryError):
        maildir.take(b"mail\r\n", sender="a@b", to=["c@d"])
    assert [file for folder in ("tmp", "new", "cur") for file in (tmp_path / "m" / folder).iterdir()] == []


def wait_for_more(taken: Counter[str]) -> None:
    """Wait until five more mails were taken."""
    before = len(taken)
    wait_until(lambda: len(taken) > before + 5)


def wait_until_closed(port: int) -> None:
    """Wait until the server has closed its connection."""
    wait_until(lambda: not established(port))


def established(port: int) -> bool:
    """Whether the kernel knows an established connection whose local end is this port."""
    lines = Path("/proc/net/tcp").read_text().splitlines()[1:]
    return any(line.split()[1].endswith(f":{port:04X}") and line.split()[3] == "01" for line in lines)


def wait_until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < deadline
        threading.Event().wait(0.01)


def id_of(mail: bytes) -> str:
    return mail.split(b"Message-ID: ")[1].split(b"\r\n")[0].decode()
