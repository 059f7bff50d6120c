"""Sending by phases: what each trouble at each phase means, and that the mail arrives as it is."""

from __future__ import annotations

import ssl
import time
from importlib.resources import files

import pytest

from matins.providers.smtp import Smtp
from matins.rules.errors import (
    LeaseLost,
    MatinsError,
    OutcomeUnknown,
    ProviderRefused,
    ProviderUnavailable,
    Refused,
)
from tests.providers import faulty_smtp as faulty
from tests.providers.faulty_smtp import (
    AUTH,
    BODY,
    CONNECT,
    DATA,
    DOT,
    EHLO,
    MAIL,
    RCPT,
    STARTTLS,
    FaultySmtp,
    be_silent,
    drip,
    hang_up,
    say,
    say_and_hang_up,
)
from tests.providers.mailbox_process import MailboxProcess, free_port
from tests.providers.mails import SENDER, TO, Mail, send

STEP = {"step_timeout": 0.3}
TOTAL = {"timeout": 0.6}
LIMITS = {"silent": STEP, "too slow": TOTAL, "slower than the total": TOTAL}
"""Short only where a test waits for it, so that a busy machine changes no outcome."""

TALK = {
    "422": say("422 4.2.2 <reader-9c21@example.net> is full"),
    "421 and close": say_and_hang_up(b"421 4.3.2 closing\r\n"),
    "550": say("550 5.1.1 <reader-9c21@example.net> unknown"),
    "silent": be_silent,
    "closed": hang_up,
    "half a reply": say_and_hang_up(b"250-first line\r\n250"),
    "garbage": say("what is this"),
    "binary garbage": say_and_hang_up(b"\x00\xff\x16\x03\x01\r\n"),
    "too slow": drip(b"250 2.0.0 " + b"x" * 100 + b"\r\n", every=0.1),
}
PERMANENT = {(MAIL, "550"), (RCPT, "550"), (DATA, "550")}

BEFORE_THE_DOT = [(phase, fault) for phase in (CONNECT, EHLO, MAIL, RCPT, DATA) for fault in TALK]


@pytest.mark.parametrize(("phase", "fault"), BEFORE_THE_DOT, ids=lambda value: str(value).replace(" ", "-"))
def test_every_trouble_before_the_final_dot_means_not_sent(phase: str, fault: str) -> None:
    expected = ProviderRefused if (phase, fault) in PERMANENT else ProviderUnavailable
    with FaultySmtp({phase: TALK[fault]}) as server:
        with pytest.raises(expected) as caught:
            send(Smtp(server.url, **LIMITS.get(fault, {})), Mail().raw)
        assert type(caught.value) is expected
        assert "not sent" in str(caught.value)
        assert_tells_nothing(caught.value)
    assert server.bodies == []


TAKEN = {
    "one line": say("250 2.0.0 Ok: queued as A1"),
    "several lines": say("250-2.0.0 well\r\n250-2.0.0 well\r\n250 2.0.0 Ok: queued as A1"),
    "a very long line": say("250 2.0.0 Ok: queued as A1 " + "x" * 100_000),
    "slowly": drip(b"250 2.0.0 Ok: queued as A1\r\n", every=0.01),
    "and closed": say_and_hang_up(b"250 2.0.0 Ok: queued as A1\r\n"),
    "bare line feed": say_and_hang_up(b"250 2.0.0 Ok: queued as A1\n"),
}


@pytest.mark.parametrize("fault", TAKEN)
def test_a_whole_positive_reply_after_the_dot_is_a_receipt(fault: str) -> None:
    mail = Mail().raw
    with FaultySmtp({DOT: TAKEN[fault]}) as server:
        receipt = send(Smtp(server.url), mail)
    assert (receipt.provider, receipt.reference) == (f"smtp:127.0.0.1:{server.port}", "A1")
    assert receipt.evidence["reply"].startswith("250 2.0.0")
    assert len(receipt.evidence["reply"]) <= 2_000
    assert server.bodies == [mail]


UNKNOWN = {
    "silent": be_silent,
    "closed": hang_up,
    "half a line": say_and_hang_up(b"250 2.0.0 Ok"),
    "half a code": say_and_hang_up(b"2"),
    "first of several lines": say_and_hang_up(b"250-2.0.0 Ok\r\n"),
    "garbage": say("thank you"),
    "no text but garbage": say_and_hang_up(b"\r\n"),
    "code out of range": say("150 2.0.0 Ok"),
    "the prompt again": say("354 go on"),
    "endless": say_and_hang_up(b"250-more\r\n" * 150_000 + b"250 Ok\r\n"),
    "slower than the total": drip(b"250 2.0.0 Ok: queued as A1\r\n", every=0.1),
}


@pytest.mark.parametrize("fault", UNKNOWN)
def test_without_a_whole_reply_after_the_dot_the_outcome_is_unknown(fault: str) -> None:
    mail = Mail().raw
    with FaultySmtp({DOT: UNKNOWN[fault]}) as server:
        with pytest.raises(OutcomeUnknown) as caught:
            send(Smtp(server.url, **LIMITS.get(fault, {})), mail)
        assert_tells_nothing(caught.value)
    assert server.bodies == [mail]


def test_a_refusal_after_the_dot_is_final_and_a_4xx_may_be_tried_again() -> None:
    with FaultySmtp({DOT: say("554 5.7.1 spam from sender-7f3a@example.org")}) as server:
        with pytest.raises(ProviderRefused, match=r"554 5\.7\.1$") as caught:
            send(Smtp(server.url), Mail().raw)
        assert_tells_nothing(caught.value)
    later = pytest.raises(ProviderUnavailable, match=r"451 4\.3\.0$")
    with FaultySmtp({DOT: say("451 4.3.0 later")}) as server, later:
        send(Smtp(server.url), Mail().raw)


def test_a_server_that_reads_nothing_after_the_prompt_leaves_a_short_mail_unknown() -> None:
    with FaultySmtp({BODY: be_silent}) as server, pytest.raises(OutcomeUnknown):
        send(Smtp(server.url, **STEP), Mail().raw)
    assert server.bodies == []


def test_a_server_that_stops_reading_amid_a_long_mail_was_not_sent_it() -> None:
    with FaultySmtp({BODY: be_silent}) as server, pytest.raises(ProviderUnavailable):
        send(Smtp(server.url, **STEP), Mail(b"x" * 70 + b"\r\n" + b"long line\r\n" * 1_200_000).raw)
    assert server.bodies == []


def test_a_server_that_hung_up_after_the_prompt_was_not_sent_the_mail() -> None:
    with FaultySmtp({BODY: hang_up}) as server, pytest.raises(ProviderUnavailable):
        send(Smtp(server.url), Mail().raw, still_mine=lambda: wait_for(server.ended))


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("421 4.4.2 timeout", ProviderUnavailable),
        ("552 5.3.4 too big", ProviderRefused),
        ("250 2.0.0 Ok: queued as FALSE", ProviderUnavailable),
    ],
)
def test_what_a_server_says_before_the_dot_is_not_taken_for_its_answer(said: str, expected: type[MatinsError]) -> None:
    spoken = faulty.threading.Event()

    def speak(connection: faulty.Connection) -> bool:
        connection.send(said.encode() + b"\r\n")
        spoken.set()
        return True

    with FaultySmtp({BODY: speak}) as server:
        with pytest.raises(expected) as caught:
            send(Smtp(server.url), Mail().raw, still_mine=lambda: wait_for(spoken))
        assert "not sent" in str(caught.value)
    assert server.bodies == []


def test_a_worker_that_lost_its_lease_at_the_prompt_sends_no_byte_of_the_mail() -> None:
    def lost() -> None:
        raise LeaseLost(key="message/1")

    phases: list[str] = []
    with FaultySmtp() as server:
        with pytest.raises(LeaseLost, match="message/1"):
            send(Smtp(server.url), Mail().raw, still_mine=lost, watch=phases.append)
        wait_for(server.ended)
    assert server.commands[-1] == "DATA"
    assert server.body_bytes == 0
    assert phases == ["before_connect"]


def test_the_phases_are_told_in_order_and_the_lease_is_asked_for_between_prompt_and_body() -> None:
    seen: list[str] = []
    with FaultySmtp() as server:

        def note(what: str) -> None:
            seen.append(f"{what}, {len(server.commands)} commands, {len(server.bodies)} mails")

        send(Smtp(server.url), Mail().raw, still_mine=lambda: note("still mine"), watch=note)
    assert seen == [
        "before_connect, 0 commands, 0 mails",
        "still mine, 4 commands, 0 mails",
        "after_prompt, 4 commands, 0 mails",
        "after_reply, 4 commands, 1 mails",
    ]


def test_the_whole_conversation_ends_at_its_time_limit_though_each_step_is_in_time() -> None:
    slow = drip(b"250 2.0.0 Ok\r\n", every=0.05)
    with FaultySmtp({MAIL: slow, RCPT: slow, DATA: slow}) as server:
        began = time.monotonic()
        with pytest.raises(ProviderUnavailable, match="too long in all"):
            send(Smtp(server.url, timeout=1.0, step_timeout=0.5), Mail().raw)
        assert time.monotonic() - began < 1.4


def test_a_farewell_that_fails_changes_nothing() -> None:
    for fault in (be_silent, hang_up, say("500 5.5.2 no")):
        with FaultySmtp({"QUIT": fault}) as server:
            began = time.monotonic()
            assert send(Smtp(server.url), Mail().raw).reference == "TEST1"
            assert time.monotonic() - began < 2.0


BODIES = {
    "dots": b".\r\n..\r\n.a\r\n...\r\nend.\r\n.\r\n",
    "a dot first": b".first line\r\nlast\r\n",
    "eight bits": "Grüße — 日本語 — ☕\r\n".encode() + bytes(range(128, 256)) + b"\r\n",
    "empty lines": b"\r\n\r\n\r\n",
    "long": b"".join(b"%06d The quick brown fox jumps over the lazy dog.\r\n" % line for line in range(8_000)),
    "a long line": b"x" * 996 + b"\r\n",
}


@pytest.mark.parametrize("body", BODIES)
def test_the_mail_arrives_byte_for_byte(mailbox: MailboxProcess, body: str) -> None:
    mail = Mail(BODIES[body])
    receipt = send(Smtp(mailbox.smtp_url), mail.raw)
    (entry,) = [entry for entry in mailbox.ledger() if entry["message-id"] == mail.message_id]
    assert entry["reply"] == receipt.evidence["reply"] == f"250 2.0.0 Ok: queued as {receipt.reference}"
    assert (entry["from"], entry["to"]) == ("sender-7f3a@example.org", [TO])
    assert entry["size"] == len(mail.raw)
    assert mailbox.mails().count(mail.raw) == 1


def test_two_mails_get_two_references(mailbox: MailboxProcess) -> None:
    smtp = Smtp(mailbox.smtp_url)
    assert send(smtp, Mail().raw).reference != send(smtp, Mail().raw).reference


@pytest.mark.parametrize(
    ("reply", "reference"),
    [
        ("250 2.0.0 Ok: queued as 4X7hZk2Qz9zDqCF", "4X7hZk2Qz9zDqCF"),
        ("250 OK id=1rAbCd-0001Xy-2Z", "1rAbCd-0001Xy-2Z"),
        ("250 2.0.0 3AU7abcd012345 Message accepted for delivery", "3AU7abcd012345"),
        (
            "250 2.6.0 <x@y> [InternalId=4711, Hostname=a.example] Queued mail for delivery",
            "4711",
        ),
        ("250 ok 1764489600 qp 12345", "1764489600 qp 12345"),
        (
            "250 2.0.0 OK  1764489600 d9443c01a7336-29b5b2a1b0asi123.45 - gsmtp",
            "d9443c01a7336-29b5b2a1b0asi123.45",
        ),
        (
            "250 Ok 0102019abcdef012-3456789a-bcde-f012-3456-789abcdef012-000000",
            "0102019abcdef012-3456789a-bcde-f012-3456-789abcdef012-000000",
        ),
        ("250-2.0.0 from a filter\r\n250 2.0.0 Ok: queued as B2.", "B2"),
        ("250 2.0.0 Ok", "<m1@matins.test>"),
        ("250", "<m1@matins.test>"),
        ("250 Queued mail for delivery", "<m1@matins.test>"),
    ],
)
def test_the_reference_is_the_queue_id_of_the_reply_or_else_the_message_id(reply: str, reference: str) -> None:
    with FaultySmtp({DOT: say(reply)}) as server:
        assert send(Smtp(server.url), Mail(name="m1").raw).reference == reference


def test_a_mail_without_message_id_and_reply_without_queue_id_is_named_by_its_key() -> None:
    with FaultySmtp({DOT: say("250 Ok")}) as server:
        assert send(Smtp(server.url), b"\r\nx\r\n").reference == "ada/brief/2026-11-30/send"


@pytest.mark.parametrize("mail", [b"a\nb\r\n", b"a\rb\r\n", b"a\r\n.\n", b"a", b"", b"a\r\n\n.\r\n"])
def test_a_mail_whose_lines_do_not_end_in_crlf_is_refused_before_anybody_is_called(mail: bytes) -> None:
    with FaultySmtp() as server, pytest.raises(ProviderRefused, match="CRLF"):
        send(Smtp(server.url), mail)
    assert server.commands == []


@pytest.mark.parametrize(
    "address",
    ["", "nobody", "a@b\r\nRCPT TO:<c@d>", "a@b> SIZE=1 <c@d", "a b@c", "a@b\x00", "a@b, c@d", "A <a@b>, C <c@d>"],
)
def test_an_address_that_is_not_one_address_is_refused_before_anybody_is_called(address: str) -> None:
    with FaultySmtp() as server:
        for changed in ({"to": address}, {"sender": address or "nobody"}):
            with pytest.raises(ProviderRefused, match=r"not one address$"):
                send(Smtp(server.url), Mail().raw, **changed)
    assert server.commands == []


def test_a_name_beside_an_address_stays_out_of_the_envelope_and_no_sender_is_the_null_sender() -> None:
    with FaultySmtp(extensions=("HELP",)) as server:
        send(Smtp(server.url), Mail().raw, sender="", to='"Lovelace, Ada" <ada@example.net>')
    assert server.commands[1:3] == ["MAIL FROM:<>", "RCPT TO:<ada@example.net>"]


def test_the_envelope_tells_size_and_eight_bits_to_a_server_that_wants_to_know() -> None:
    mail = Mail("Grüße\r\n".encode()).raw
    with FaultySmtp() as server:
        send(Smtp(server.url), mail)
    assert server.commands[1:3] == [
        f"MAIL FROM:<sender-7f3a@example.org> SIZE={len(mail)} BODY=8BITMIME",
        f"RCPT TO:<{TO}>",
    ]
    with FaultySmtp(extensions=("HELP",)) as server:
        send(Smtp(server.url), mail)
    assert server.commands[1] == "MAIL FROM:<sender-7f3a@example.org>"


def test_an_international_address_needs_a_server_that_takes_it() -> None:
    with FaultySmtp() as server:
        send(Smtp(server.url), Mail().raw, to="jürgen@example.net")
    assert server.commands[1].endswith("SMTPUTF8")
    assert server.commands[2] == "RCPT TO:<jürgen@example.net>"
    with FaultySmtp(extensions=("HELP",)) as server, pytest.raises(ProviderRefused, match="outside ASCII"):
        send(Smtp(server.url), Mail().raw, to="jürgen@example.net")
    assert server.bodies == []


def test_nobody_listening_is_unavailable() -> None:
    with pytest.raises(ProviderUnavailable, match="connection refused"):
        send(Smtp(f"smtp://127.0.0.1:{free_port()}"), Mail().raw)


@pytest.mark.parametrize(
    "url", ["", "127.0.0.1:25", "http://a:25", "smtp://", "smtp://user:hush@", "smtp://user:hush@a:notaport"]
)
def test_an_address_of_another_form_is_refused_without_repeating_it(url: str) -> None:
    with pytest.raises(Refused) as caught:
        Smtp(url)
    assert "hush" not in str(caught.value)


def certificate() -> ssl.SSLContext:
    certs = files("aiosmtpd") / "tests" / "certs"
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(str(certs / "server.crt"), str(certs / "server.key"))
    return context


def trust() -> ssl.SSLContext:
    context = ssl.create_default_context(cafile=str(files("aiosmtpd") / "tests" / "certs" / "server.crt"))
    context.check_hostname = False
    return context


def test_a_mail_goes_out_under_tls_with_a_login() -> None:
    mail = Mail().raw
    with FaultySmtp(tls=certificate(), extensions=("STARTTLS", "AUTH PLAIN LOGIN")) as server:
        url = f"smtp+starttls://user%40a:p%3Aw@127.0.0.1:{server.port}"
        send(Smtp(url, tls=trust()), mail)
    verbs = [command.split()[0].upper() for command in server.commands]
    assert verbs == [EHLO, STARTTLS, EHLO, AUTH, MAIL, RCPT, DATA, "QUIT"]
    assert server.bodies == [mail]
    with FaultySmtp(tls=certificate(), tls_at_once=True) as server:
        send(Smtp(f"smtps://127.0.0.1:{server.port}", tls=trust()), mail)
    assert server.bodies == [mail]


@pytest.mark.parametrize("scheme", ["smtps", "smtp+starttls"])
def test_a_certificate_that_nobody_vouches_for_is_not_talked_to(scheme: str) -> None:
    distrust = pytest.raises(ProviderUnavailable, match="certificate is not trusted")
    with FaultySmtp(tls=certificate(), tls_at_once=scheme == "smtps", extensions=("STARTTLS",)) as server, distrust:
        send(Smtp(f"{scheme}://user:hush@127.0.0.1:{server.port}"), Mail().raw)
    assert not [command for command in server.commands if command.startswith((AUTH, MAIL))]


def test_a_server_without_starttls_gets_neither_login_nor_mail() -> None:
    refused = pytest.raises(ProviderUnavailable, match="STARTTLS with 502")
    with FaultySmtp({STARTTLS: say("502 5.5.1 no")}, extensions=("AUTH PLAIN",)) as server, refused:
        send(Smtp(f"smtp+starttls://user:hush@127.0.0.1:{server.port}"), Mail().raw)
    assert not [command for command in server.commands if command.startswith((AUTH, MAIL))]


@pytest.mark.parametrize(("extensions", "answer"), [(("AUTH PLAIN",), "535 5.7.8 user:hush is wrong"), (("HELP",), "")])
def test_a_login_that_is_refused_or_not_offered_leaves_the_mail_to_be_sent(
    extensions: tuple[str, ...], answer: str
) -> None:
    with FaultySmtp({AUTH: say(answer)}, extensions=extensions) as server:
        with pytest.raises(ProviderUnavailable, match="login") as caught:
            send(Smtp(f"smtp://user:hush@127.0.0.1:{server.port}"), Mail().raw)
        assert_tells_nothing(caught.value)
    assert server.bodies == []


def assert_tells_nothing(error: MatinsError) -> None:
    told = f"{error} {error.__cause__}"
    for secret in ("hush", "example.net", "example.org", SENDER, TO):
        assert secret not in told
    assert error.__suppress_context__ or error.__context__ is None


def wait_for(event: faulty.threading.Event) -> None:
    assert event.wait(10)
