"""Mail handed to an SMTP server, by phases, so that what a broken connection means is always known.

Nothing is sent before the final dot goes out: every trouble up to there is "not sent". From the dot's first byte
until a whole reply was read, the outcome is unknown. The server remembers no keys; whether a mail of unknown
outcome arrived is asked of the mailbox (`matins.providers.imap`).

Phases and replies: RFC 5321, sections 3.3, 4.2 and 4.5.2.
"""

from __future__ import annotations

import re
import smtplib
import socket
import ssl
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from email.utils import getaddresses
from urllib.parse import unquote, urlsplit

from matins.providers.connection import Cutoff, Deadline, cause, connect, secure
from matins.providers.smtp_reply import Reply, ask, has_spoken, read_reply, reference
from matins.rules.errors import OutcomeUnknown, ProviderRefused, ProviderUnavailable, Refused
from matins.rules.receipt import Receipt

PORTS = {"smtp": 25, "smtps": 465, "smtp+starttls": 587}

_GOODBYE = 1.0

_ADDRESS = re.compile(r"[^\s<>,;@\"]+@[^\s<>,;@\"]+")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_BARE_LINE_END = re.compile(rb"\r(?!\n)|(?<!\r)\n")


@dataclass(frozen=True, slots=True)
class _Envelope:
    sender: str
    to: str
    size: int
    eight_bit: bool

    @property
    def international(self) -> bool:
        return not (self.sender + self.to).isascii()


class Smtp:
    """One SMTP server: `smtp://[user:password@]host:port`, `smtps://` or `smtp+starttls://`."""

    remembers_keys = False

    def __init__(
        self, url: str, *, timeout: float = 60.0, step_timeout: float = 30.0, tls: ssl.SSLContext | None = None
    ) -> None:
        """Raises Refused, without repeating it, for an address that is not of this form.

        `timeout` limits one mail in all, `step_timeout` each wait for the server; both in seconds. `tls` replaces
        the machine's own trust in certificates.
        """
        parts = urlsplit(url)
        try:
            port = parts.port or PORTS.get(parts.scheme, 0)
        except ValueError:
            port = 0
        if parts.scheme not in PORTS or not parts.hostname or not port:
            raise Refused("the mail server's address must look like smtp://user:password@host:port")
        self._scheme, self._host, self._port = parts.scheme, parts.hostname, port
        self._user, self._password = unquote(parts.username or ""), unquote(parts.password or "")
        self._timeout, self._step_timeout, self._tls = timeout, step_timeout, tls
        self.provider = f"smtp:{self._host}:{self._port}"

    def send(
        self,
        mail: bytes,
        *,
        sender: str,
        to: str,
        idempotency_key: str,
        still_mine: Callable[[], None],
        watch: Callable[[str], None],
    ) -> Receipt:
        """Hand over `mail`, byte for byte, and return what the server said when it took it.

        `still_mine` is called when the server waits for the body; whatever it raises goes to the caller, and
        nothing was sent. `watch` is told "before_connect", "after_prompt" (after `still_mine`) and "after_reply".
        Raises ProviderRefused (the server will not take this mail), ProviderUnavailable (not sent, may be tried
        again) or OutcomeUnknown (the whole mail may have gone out, and no whole reply came back).
        """
        envelope = self._envelope(mail, sender=sender, to=to)
        deadline = Deadline(self._timeout)
        watch("before_connect")
        client = smtplib.SMTP(local_hostname="localhost")
        with closing(client), Cutoff(deadline) as cutoff:
            with self._not_sent(deadline):
                self._open(client, deadline=deadline, cutoff=cutoff)
                self._offer(client, envelope)
            still_mine()
            watch("after_prompt")
            with self._not_sent(deadline):
                client.send(_stuffed(mail))
                self._hear_objection(client)
            reply = self._finish(client, deadline=deadline)
            watch("after_reply")
            self._settle(reply)
            _say_goodbye(client)
        return Receipt(self.provider, reference(reply, mail, idempotency_key), {"reply": reply.whole})

    def _envelope(self, mail: bytes, *, sender: str, to: str) -> _Envelope:
        bare_sender, bare_to = _bare(sender), _bare(to)
        if bool(sender) != bool(bare_sender) or not bare_to:
            raise ProviderRefused("not sent: an address of this mail is not one address")
        if _BARE_LINE_END.search(mail) or not mail.endswith(b"\r\n"):
            raise ProviderRefused("not sent: its lines do not all end in CRLF")
        return _Envelope(bare_sender, bare_to, len(mail), not mail.isascii())

    @contextmanager
    def _not_sent(self, deadline: Deadline) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            why = cause(error, deadline=deadline)
            raise ProviderUnavailable(f"not sent: {self.provider}: {why}") from None

    def _open(self, client: smtplib.SMTP, *, deadline: Deadline, cutoff: Cutoff) -> None:
        connection = connect(self._host, self._port, timeout=self._step_timeout, deadline=deadline)
        client.sock = cutoff.hold(connection)
        client.local_hostname = _literal(connection)
        if self._scheme == "smtps":
            client.sock = secure(connection, host=self._host, context=self._tls, cutoff=cutoff)
        self._expect_door(read_reply(client), 220, "the connection")
        self._say_hello(client)
        if self._scheme == "smtp+starttls":
            self._expect_door(ask(client, "STARTTLS"), 220, "STARTTLS")
            client.sock = secure(client.sock, host=self._host, context=self._tls, cutoff=cutoff)
            client.file = None  # what came before TLS is not trusted (RFC 3207, section 5)
            self._say_hello(client)
        if self._user:
            self._log_in(client)

    def _say_hello(self, client: smtplib.SMTP) -> None:
        code, _ = client.ehlo()
        if code != 250:
            code, _ = client.helo()
        self._expect_door(Reply(code, ""), 250, "the greeting")

    def _log_in(self, client: smtplib.SMTP) -> None:
        try:
            client.login(self._user, self._password)
        except smtplib.SMTPAuthenticationError as error:
            raise ProviderUnavailable(f"not sent: {self.provider} refused the login ({error.smtp_code})") from None
        except UnicodeEncodeError:
            raise ProviderUnavailable(f"not sent: {self.provider} takes ASCII logins only") from None
        except smtplib.SMTPNotSupportedError:
            raise ProviderUnavailable(f"not sent: {self.provider} offers no login that we know") from None

    def _offer(self, client: smtplib.SMTP, envelope: _Envelope) -> None:
        options = _options(client, envelope)
        if envelope.international:
            if not client.has_extn("smtputf8"):
                raise ProviderRefused(f"not sent: {self.provider} takes no address outside ASCII")
            client.command_encoding = "utf-8"
        self._expect(2, ask(client, f"MAIL FROM:<{envelope.sender}>{options}"), "the sender")
        self._expect(2, ask(client, f"RCPT TO:<{envelope.to}>"), "the recipient")
        self._expect(3, ask(client, "DATA"), "the announced mail")

    def _hear_objection(self, client: smtplib.SMTP) -> None:
        """Raise if the server spoke, or hung up, before the end of the mail: it has not taken it."""
        if has_spoken(client):
            self._expect(0, read_reply(client), "the half mail")

    def _finish(self, client: smtplib.SMTP, *, deadline: Deadline) -> Reply:
        try:
            client.send(b".\r\n")
            return read_reply(client)
        except OSError as error:
            why = cause(error, deadline=deadline)
            raise OutcomeUnknown(f"it may have been sent: {self.provider}: {why}") from None

    def _expect_door(self, reply: Reply, code: int, what: str) -> None:
        """Raise ProviderUnavailable for another code: nothing was said of this mail yet, so it is not refused."""
        if reply.code != code:
            raise ProviderUnavailable(f"not sent: {self.provider} answered {what} with {reply.status}")

    def _expect(self, kind: int, reply: Reply, what: str) -> None:
        """Raise unless the reply's first digit is `kind`. Only before the final dot."""
        if reply.code // 100 == kind:
            return
        said = f"not sent: {self.provider} answered {what} with {reply.status}"
        raise ProviderRefused(said) if reply.code // 100 == 5 else ProviderUnavailable(said)

    def _settle(self, reply: Reply) -> None:
        """Raise unless the reply to the final dot says that the mail was taken."""
        said = f"{self.provider} answered the mail with {reply.status}"
        match reply.code // 100:
            case 3:
                raise OutcomeUnknown(f"it may have been sent: {said}")
            case 4:
                raise ProviderUnavailable(f"not sent: {said}")
            case 5:
                raise ProviderRefused(f"not sent: {said}")


def _bare(address: str) -> str:
    """`a@b` of `Name <a@b>`, or "" if it is not exactly one address that can be put into a command."""
    found = getaddresses([address])
    if len(found) != 1 or _CONTROL.search(address) or not _ADDRESS.fullmatch(found[0][1]):
        return ""
    return found[0][1]


def _options(client: smtplib.SMTP, envelope: _Envelope) -> str:
    """What of this mail the server wants to know beforehand (RFC 1870, RFC 6152, RFC 6531)."""
    wanted = (
        ("size", f" SIZE={envelope.size}", True),
        ("8bitmime", " BODY=8BITMIME", envelope.eight_bit),
        ("smtputf8", " SMTPUTF8", envelope.international),
    )
    return "".join(option for extension, option, needed in wanted if needed and client.has_extn(extension))


def _say_goodbye(client: smtplib.SMTP) -> None:
    """End politely, but not at length: the mail is taken, and whoever waits wants to write that down."""
    with suppress(OSError):
        if client.sock is not None:
            client.sock.settimeout(_GOODBYE)
        client.quit()


def _stuffed(mail: bytes) -> bytes:
    """`mail` with one more dot before each line that begins with one (RFC 5321, section 4.5.2)."""
    return re.sub(rb"^\.", b"..", mail, flags=re.MULTILINE)


def _literal(connection: socket.socket) -> str:
    """Our own end as an address literal: what a client without a name of its own says (RFC 5321, 4.1.3)."""
    address = connection.getsockname()[0]
    return f"[IPv6:{address}]" if ":" in address else f"[{address}]"
