"""Looking for a mail: where it is found, and when "not found" may be believed."""

from __future__ import annotations

import imaplib
import time

import pytest

from matins.providers.imap import Mailbox
from matins.providers.smtp import Smtp
from matins.rules.errors import MatinsError, ProviderRefused, ProviderUnavailable, Refused
from matins.rules.receipt import Sighting
from tests.providers.faulty_imap import HANG, HANG_UP, FaultyImap
from tests.providers.mailbox_process import MailboxProcess, free_port
from tests.providers.mails import Mail, send

INBOX = rb'(\HasNoChildren) "/" INBOX'


def look(url: str, mail: Mail, **limits: float) -> Sighting:
    return Mailbox(url, **limits).look(message_id=mail.message_id, message_key=mail.message_key)


def header(mail: Mail) -> bytes:
    return f"Message-ID: {mail.message_id}\r\nX-Matins-Message:\r\n {mail.message_key}\r\n\r\n".encode()


def file_in(mailbox: MailboxProcess, folder: str, mail: Mail) -> None:
    client = imaplib.IMAP4("127.0.0.1", mailbox.imap_port)
    client.login("matins", mailbox.imap_url.split(":")[2].split("@")[0])
    client.create(folder)
    assert client.append(folder, "", "", mail.raw)[0] == "OK"
    client.logout()


def test_a_mail_that_arrived_is_found_in_the_inbox_of_a_real_server(mailbox: MailboxProcess) -> None:
    mail, other = Mail(), Mail()
    send(Smtp(mailbox.smtp_url), mail.raw)
    mechanism = f"imap:127.0.0.1:{mailbox.imap_port}"
    assert look(mailbox.imap_url, mail) == Sighting(True, mechanism, "inbox")
    assert look(mailbox.imap_url, other) == Sighting(False, mechanism, complete=True)


def test_a_mail_in_the_junk_folder_of_a_real_server_is_found_and_one_in_sent_is_not(
    mailbox: MailboxProcess,
) -> None:
    junk, sent = Mail(), Mail()
    file_in(mailbox, "Junk", junk)
    file_in(mailbox, "Sent", sent)
    assert look(mailbox.imap_url, junk).placement == "junk"
    assert not look(mailbox.imap_url, sent).found


def test_a_look_leaves_the_mail_new_and_unread(mailbox: MailboxProcess) -> None:
    mail = Mail()
    send(Smtp(mailbox.smtp_url), mail.raw)
    look(mailbox.imap_url, mail)
    new = mailbox.data / "mailbox" / "matins" / "new"
    assert mail.raw in [file.read_bytes() for file in new.iterdir()]


def test_one_of_the_two_headers_is_enough() -> None:
    mail = Mail()
    for line in (f"Message-ID:\r\n\t{mail.message_id}", f"x-matins-message: {mail.message_key}"):
        with FaultyImap({"INBOX": [f"{line}\r\n\r\n".encode()]}) as server:
            assert look(server.url, mail).found


def test_a_mail_whose_key_only_contains_ours_is_another_mail() -> None:
    mail = Mail()
    near = f"Message-ID: {mail.message_id[:-1]}.x>\r\nX-Matins-Message: {mail.message_key}-2\r\n\r\n".encode()
    with FaultyImap({"INBOX": [near, b"\r\n"]}) as server:
        assert look(server.url, mail) == Sighting(False, f"imap:127.0.0.1:{server.port}")


JUNK_LISTINGS = {
    "marked": ((INBOX, rb'(\HasNoChildren \Junk) "/" "Unwanted \"mail\""'), (), 'Unwanted "mail"'),
    "marked when asked": (
        (INBOX, rb'() "/" Werbung'),
        (INBOX, rb'(\Junk) "/" Werbung'),
        "Werbung",
    ),
    "by name": ((INBOX, rb'() "." INBOX.Spam'), (), "INBOX.Spam"),
    "by name in another case": ((INBOX, rb'(\Marked) "/" "Junk E-mail"'), (), "Junk E-mail"),
    "no hierarchy": ((INBOX, rb"() NIL JUNK"), (), "JUNK"),
    "as a literal": ((INBOX, b'() "/" {4}\r\nSpam'), (), "Spam"),
    "a name with a backslash": ((INBOX, rb'(\junk) "\\" "a\\b"'), (), "a\\\\b"),
}


@pytest.mark.parametrize("kind", JUNK_LISTINGS)
def test_the_junk_folder_is_known_by_its_mark_or_else_by_its_name(kind: str) -> None:
    listing, special, name = JUNK_LISTINGS[kind]
    mail = Mail()
    with FaultyImap({"INBOX": [], name: [header(mail)]}, listing=listing, special=special) as server:
        sighting = look(server.url, mail)
    assert (sighting.found, sighting.placement) == (True, "junk")


def test_folders_are_opened_read_only_and_sent_is_not_opened_at_all() -> None:
    mail = Mail()
    listing = (INBOX, rb'(\Sent) "/" Sent', rb'(\All) "/" "All Mail"', rb'(\Noselect) "/" Spam', rb'() "/" Junk')
    folders = {"INBOX": [], "Junk": [], "Sent": [header(mail)], "All Mail": [header(mail)]}
    with FaultyImap(folders, listing=listing) as server:
        sighting = look(server.url, mail)
    assert sighting == Sighting(False, sighting.mechanism, complete=True)
    opened = [command for command in server.commands if command.startswith(("EXAMINE", "SELECT"))]
    assert opened == ["EXAMINE INBOX", 'EXAMINE "Junk"']


PARTIAL = {
    "no list of folders": {"LIST": "NO later"},
    "bad list of folders": {"LIST": "BAD what"},
    "no inbox": {"EXAMINE INBOX": "NO [INUSE] later"},
    "no junk": {'EXAMINE "Junk"': "NO later"},
    "no search": {"SEARCH": "NO cannot"},
    "bad search": {"SEARCH": "BAD cannot"},
}


@pytest.mark.parametrize("fault", PARTIAL)
def test_not_found_where_a_folder_could_not_be_looked_at_is_not_complete(fault: str) -> None:
    listing = (INBOX, rb'() "/" Junk')
    with FaultyImap({"INBOX": [], "Junk": []}, listing=listing, faults=PARTIAL[fault]) as server:
        sighting = look(server.url, Mail())
    assert not sighting.found
    assert not sighting.complete


def test_a_folder_with_more_candidates_than_are_compared_is_not_complete() -> None:
    with FaultyImap({"INBOX": [header(Mail())] * 201}) as server:
        sighting = look(server.url, Mail())
    assert (sighting.found, sighting.complete) == (False, False)


def test_found_in_junk_counts_though_the_inbox_could_not_be_looked_at() -> None:
    mail = Mail()
    folders, listing = {"INBOX": [], "Junk": [header(mail)]}, (INBOX, rb'() "/" Junk')
    with FaultyImap(folders, listing=listing, faults={"EXAMINE INBOX": "NO later"}) as server:
        assert look(server.url, mail).placement == "junk"


def test_a_wrong_password_is_refused_without_a_word_of_it(mailbox: MailboxProcess) -> None:
    wrong = f"imap://matins:hush-hush@127.0.0.1:{mailbox.imap_port}"
    with pytest.raises(ProviderRefused, match="refused the login") as caught:
        look(wrong, Mail())
    assert_tells_nothing(caught.value)


@pytest.mark.parametrize("code", ["UNAVAILABLE", "INUSE", "LIMIT"])
def test_a_login_that_is_put_off_may_be_tried_again(code: str) -> None:
    with FaultyImap({}, faults={"LOGIN": f"NO [{code}] reader:hush later"}) as server:
        with pytest.raises(ProviderUnavailable) as caught:
            look(server.url, Mail())
        assert_tells_nothing(caught.value)


@pytest.mark.parametrize("command", ["CAPABILITY", "LOGIN", "LIST", "EXAMINE", "SEARCH", "FETCH"])
@pytest.mark.parametrize("fault", ["hang", "hang up"])
def test_a_server_that_hangs_or_hangs_up_at_any_command_is_unavailable(command: str, fault: str) -> None:
    faults = {command: HANG if fault == "hang" else HANG_UP}
    limits = {"step_timeout": 0.3} if fault == "hang" else {}
    with FaultyImap({"INBOX": [b"A: b\r\n\r\n"]}, faults=faults) as server:
        with pytest.raises(ProviderUnavailable) as caught:
            look(server.url, Mail(), **limits)
        assert_tells_nothing(caught.value)


def test_the_whole_look_ends_at_its_time_limit() -> None:
    with FaultyImap({"INBOX": []}, faults={"SEARCH": HANG}) as server:
        began = time.monotonic()
        with pytest.raises(ProviderUnavailable, match="too long in all"):
            look(server.url, Mail(), timeout=0.5)
        assert time.monotonic() - began < 3


@pytest.mark.parametrize("greeting", [b"* BYE too many of you", b"what is this", b""])
def test_a_server_that_does_not_greet_is_unavailable(greeting: bytes) -> None:
    with FaultyImap({}, greeting=greeting) as server, pytest.raises(ProviderUnavailable):
        look(server.url, Mail(), step_timeout=1.0)


def test_nobody_listening_is_unavailable() -> None:
    with pytest.raises(ProviderUnavailable, match="connection refused"):
        look(f"imap://a:b@127.0.0.1:{free_port()}", Mail())


def test_what_cannot_be_searched_for_is_refused_before_anybody_is_called() -> None:
    with FaultyImap({}) as server:
        for message_id, key in (("", "a/b"), ("<a@b>", ""), ("<a@b>\r\nX LOGOUT", "a/b"), ("<ä@b>", "a/b")):
            with pytest.raises(ProviderRefused):
                Mailbox(server.url).look(message_id=message_id, message_key=key)
    assert server.commands == []


@pytest.mark.parametrize("url", ["", "imap://", "imap://host", "smtp://a:hush@b:1", "imap://a:hush@b:port"])
def test_an_address_of_another_form_is_refused_without_repeating_it(url: str) -> None:
    with pytest.raises(Refused) as caught:
        Mailbox(url)
    assert "hush" not in str(caught.value)


def assert_tells_nothing(error: MatinsError) -> None:
    assert "hush" not in f"{error} {error.__cause__}"
    assert error.__suppress_context__
