"""Every part and setting, asked for real: what is well, what is wrong and what to do, and what leaves this machine."""

from __future__ import annotations

import imaplib
import shutil
import smtplib
import ssl
from collections.abc import Callable
from dataclasses import asdict, dataclass
from importlib.metadata import version
from urllib.parse import SplitResult, unquote, urlsplit

import psycopg

from matins.cli.table import hung
from matins.cli.times import ago
from matins.ledger import health, invariants, migrate, profile, standing
from matins.local import objects, part, process, temporal, worker
from matins.rules.errors import Refused
from matins.settings import Settings

_SECONDS = 10.0
_ROOM = 1_000_000_000
_SMTP_PORTS = {"smtp": 25, "smtp+starttls": 587, "smtps": 465}
_IMAP_PORTS = {"imap": 143, "imaps": 993}


@dataclass(frozen=True, slots=True)
class Finding:
    """What was asked of `name`, what came of it, and, if it is not well, what to do."""

    name: str
    ok: bool
    text: str
    remedy: str = ""

    def as_dict(self) -> dict[str, object]:
        """The same for programs."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class _Wrong(Exception):
    text: str
    remedy: str


def examine(settings: Settings) -> list[Finding]:
    """Ask everything. Nothing that was found wrong keeps the rest from being asked."""
    checks: dict[str, Callable[[Settings], str]] = {
        "settings": _settings,
        "data": _data,
        "postgres": _postgres,
        "ledger": _ledger,
        "temporal": _temporal,
        "objects": _objects,
        "smtp": _smtp,
        "imap": _imap,
        "worker": _worker,
        "zones": _zones,
        "goes out": _goes_out,
    }
    return [_ask(name, check, settings) for name, check in checks.items()]


def page(findings: list[Finding]) -> str:
    """The findings for a person, 80 columns wide; what to do comes last."""
    lines = [hung(f"  {found.name:<9} {'OK   ' if found.ok else 'WRONG'}  ", found.text) for found in findings]
    todo = [hung(f"  {found.name}: ", found.remedy) for found in findings if not found.ok]
    return "\n".join([*lines, *(["", "For you", *todo] if todo else ["", "All is well."])])


def _ask(name: str, check: Callable[[Settings], str], settings: Settings) -> Finding:
    try:
        return Finding(name, True, check(settings))
    except _Wrong as wrong:
        return Finding(name, False, wrong.text, wrong.remedy)
    except Refused as refusal:
        return Finding(name, False, str(refusal), "correct the setting")


def _settings(settings: Settings) -> str:
    settings.limits()
    where = f"from {settings.config}" if settings.config else "defaults and the environment"
    return f"{where}; the durations agree"


def _data(settings: Settings) -> str:
    if not settings.data.is_dir():
        raise _Wrong(f"{settings.data} is not there yet", "matins up")
    free = shutil.disk_usage(settings.data).free
    if free < _ROOM:
        raise _Wrong(f"only {free / 1e9:.1f} GB free at {settings.data}", "make room on this disk")
    return f"{settings.data}, {free / 1e9:.0f} GB free"


def _postgres(settings: Settings) -> str:
    if not settings.postgres_dsn:
        raise _Wrong("no Postgres is running here", "matins up")
    try:
        with psycopg.connect(settings.postgres_dsn, autocommit=True, connect_timeout=5) as conn:
            shown = conn.info.server_version
            schemas, current = health.schemas(conn)
            _compare_search_path(current, schemas)
            migrate.check_clock(conn)
    except psycopg.Error as error:
        raise _Wrong(_silence(settings, error), _start(settings, "postgres_dsn")) from None
    return f"{shown // 10000}.{shown % 100}, schema {schemas[0]}, its own clock"


def _silence(settings: Settings, error: psycopg.Error) -> str:
    """Why Postgres cannot be asked, without its own words: they may hold a name."""
    try:
        parts = psycopg.conninfo.conninfo_to_dict(settings.postgres_dsn)
    except psycopg.ProgrammingError:
        return "postgres_dsn is not an address of a database"
    if not isinstance(error, psycopg.OperationalError):
        return "its tables are not there, or not all of them"
    where = f"{parts.get('host') or 'this machine'}:{parts.get('port') or 5432}"
    if "authentication failed" in str(error) or "does not exist" in str(error):
        return f"Postgres at {where} refuses the user, the password or the database"
    return f"Postgres does not answer at {where}"


def _ledger(settings: Settings) -> str:
    if not settings.postgres_dsn:
        raise _Wrong("no Postgres is running here", "matins up")
    try:
        with psycopg.connect(settings.postgres_dsn, autocommit=True, connect_timeout=5) as conn:
            broken = invariants.broken(conn)
            stuck, failed = health.stuck(conn), health.failed_passes(conn)
            checked, _ = standing.last_check(conn)
    except psycopg.Error as error:
        raise _Wrong(f"cannot be read: {_silence(settings, error)}", _start(settings, "postgres_dsn")) from None
    if broken:
        rule, rows = next(iter(broken.items()))
        raise _Wrong(f"{len(broken)} rules are broken: {rule} ({len(rows)} rows)", "keep the database, report the rule")
    if failed:
        raise _Wrong(f"the five-minute check failed in part: {', '.join(failed)}", "matins sweep, and the worker's log")
    if stuck:
        raise _Wrong(f"{stuck} pieces of work do not move", "matins sweep")
    if checked is not None and checked > 2 * settings.sweep_every:
        raise _Wrong(f"the last five-minute check was {ago(checked)}", "matins up, or matins sweep")
    return f"{len(invariants.rules())} rules hold, last check {ago(checked) if checked is not None else 'not yet'}"


def _compare_search_path(current: str | None, schemas: list[str]) -> None:
    """Tables of the same name in two schemas, or in one that is not searched first, would be written to unseen."""
    if not schemas:
        raise _Wrong("the database is empty", "matins up")
    if schemas != [current]:
        where = ", ".join(schemas)
        raise _Wrong(
            f"its tables are in {where}, its search path leads to {current}",
            f"alter role ... set search_path = {schemas[0]}",
        )


def _temporal(settings: Settings) -> str:
    address, namespace = settings.temporal_address, settings.temporal_namespace
    if not address or not temporal.answers(address, namespace=namespace, or_none=True):
        raise _Wrong(f"no answer at {address or 'any address'}", _start(settings, "temporal_address"))
    if not temporal.answers(address, namespace=namespace):
        raise _Wrong(f"no namespace {namespace} at {address}", "start a worker: it makes the namespace")
    return f"{address}, namespace {namespace}"


def _objects(settings: Settings) -> str:
    if not settings.s3_endpoint:
        raise _Wrong("no address", _start(settings, "s3_endpoint"))
    store = objects.client(
        settings.s3_endpoint,
        access_key=settings.s3_access_key,
        secret_key=settings.s3_secret_key.get_secret_value(),
    )
    if not objects.keeps_conditions(store, bucket=settings.bucket):
        raise _Wrong(
            f"{urlsplit(settings.s3_endpoint).netloc} does not take a conditional write to {settings.bucket}",
            _start(settings, "s3_endpoint"),
        )
    return f"{urlsplit(settings.s3_endpoint).netloc}, bucket {settings.bucket}, keeps conditional writes"


def _smtp(settings: Settings) -> str:
    url = urlsplit(settings.smtp_url.get_secret_value())
    if not url.hostname:
        raise _Wrong("no mail server", _start(settings, "smtp_url"))
    port = url.port or _SMTP_PORTS[url.scheme]
    try:
        _greet(url, port)
    except (OSError, smtplib.SMTPException) as error:
        raise _Wrong(f"{url.hostname}:{port}: {_cause(error)}", _start(settings, "smtp_url")) from None
    return f"{url.hostname}:{port}, greets{' and knows the user' if url.username else ''}"


def _greet(url: SplitResult, port: int) -> None:
    host, secure = str(url.hostname), ssl.create_default_context()
    if url.scheme == "smtps":
        server: smtplib.SMTP = smtplib.SMTP_SSL(host, port, timeout=_SECONDS, context=secure)
    else:
        server = smtplib.SMTP(host, port, timeout=_SECONDS)
    with server:
        server.ehlo()
        if url.scheme == "smtp+starttls":
            server.starttls(context=secure)
        if url.username:
            server.login(unquote(url.username), unquote(url.password or ""))


def _imap(settings: Settings) -> str:
    url = urlsplit(settings.imap_url.get_secret_value())
    if not url.hostname:
        if unseen := _unseen(settings):
            whose = ", ".join(f"{owner}'s {name}" for owner, name in unseen)
            raise _Wrong(
                f'no mailbox is watched, and proof = "mailbox" for {whose}',
                f'set imap_url, or proof = "none":  matins profile edit {unseen[0][0]}',
            )
        return "no mailbox is watched: a mail will be called sent, never seen"
    port = url.port or _IMAP_PORTS[url.scheme]
    try:
        _open_inbox(url, port)
    except (OSError, imaplib.IMAP4.error) as error:
        raise _Wrong(f"{url.hostname}:{port}: {_cause(error)}", _start(settings, "imap_url")) from None
    return f"{url.hostname}:{port}, INBOX can be read"


def _unseen(settings: Settings) -> list[tuple[str, str]]:
    """(owner, destination) wherever the proof is a mailbox."""
    if not settings.postgres_dsn:
        return []
    try:
        with psycopg.connect(settings.postgres_dsn, autocommit=True, connect_timeout=5) as conn:
            owners = {owner: profile.current(conn, owner).document for owner in profile.owners(conn)}
    except psycopg.Error:
        return []
    return [
        (owner, one["name"])
        for owner, said in owners.items()
        for one in said["destinations"]
        if one["proof"] == "mailbox"
    ]


def _open_inbox(url: SplitResult, port: int) -> None:
    host = str(url.hostname)
    if url.scheme == "imaps":
        secure = ssl.create_default_context()
        mailbox: imaplib.IMAP4 = imaplib.IMAP4_SSL(host, port, timeout=_SECONDS, ssl_context=secure)
    else:
        mailbox = imaplib.IMAP4(host, port, timeout=_SECONDS)
    with mailbox:
        mailbox.login(unquote(url.username or ""), unquote(url.password or ""))
        if mailbox.select("INBOX", readonly=True)[0] != "OK":
            raise imaplib.IMAP4.error("INBOX cannot be opened")


def _worker(settings: Settings) -> str:
    running = process.running(part.pid_file(settings.data, worker.NAME))
    if running is None:
        raise _Wrong("is not running here", "matins up, unless it runs on another machine")
    return f"pid {running.pid}"


def _zones(settings: Settings) -> str:  # noqa: ARG001 - asked like the others
    return f"tzdata {version('tzdata')}"


def _goes_out(settings: Settings) -> str:
    """What leaves this machine, and to whom."""
    mail = urlsplit(settings.smtp_url.get_secret_value()).hostname or "nowhere"
    return f"feeds ({_feed_hosts(settings)}), mail ({mail if settings.is_given('smtp_url') else 'stays here'})"


def _feed_hosts(settings: Settings) -> str:
    try:
        with psycopg.connect(settings.postgres_dsn, autocommit=True, connect_timeout=5) as conn:
            return ", ".join(health.feed_hosts(conn)) or "none yet"
    except psycopg.Error:
        return "cannot be listed"


def _start(settings: Settings, name: str) -> str:
    """What to do about a part that does not answer: correct what a person set, else start it."""
    return f"correct {name}, from {settings.origins[name]}" if settings.is_given(name) else "matins up"


def _cause(error: Exception) -> str:
    """Why, without the server's words: they may hold an address or a name."""
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return type(error).__name__
