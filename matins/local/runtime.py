"""The whole local runtime, Postgres, Temporal, the object store, the test mailbox, the worker: up and down.

`up` may be called at any time and brings everything to the state it should be in: what is healthy is used
again, what is stale is started anew, data are kept. What the settings name is not started but asked.
"""

from __future__ import annotations

import fcntl
import json
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from pydantic import SecretStr

from matins.demo.feeds import UNREACHABLE_HOST
from matins.local import feeds, mail, objects, part, ports, postgres, private, process, temporal, watch, worker
from matins.rules.errors import Refused
from matins.settings import RUNTIME_FILE, VARIABLES, Settings

Say = Callable[[str], None]
"""Takes one line, at most 80 columns."""

PARTS = (postgres.NAME, temporal.NAME, objects.NAME, mail.NAME, feeds.NAME, worker.NAME)
"""In the order of starting; the demo's feeds only where the demo was asked for."""
_PORTS = {
    "postgres": (postgres.NAME, 1),
    "temporal": (temporal.NAME, 1),
    "temporal_ui": (temporal.NAME, 1),
    "objects": (objects.NAME, objects.WIDTH),
    "smtp": (mail.NAME, 1),
    "imap": (mail.NAME, 1),
    "feeds": (feeds.NAME, 1),
}
"""Which part listens on each port, and how many in a row it needs."""


OUTSIDE = ("postgres_dsn", "temporal_address", "s3_endpoint", "smtp_url", "imap_url")
"""Settings that name a part that runs elsewhere."""


@dataclass(frozen=True, slots=True)
class Runtime:
    """What is running: the settings with every address filled in, and the parts that run here."""

    settings: Settings
    here: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Shown:
    """What one part says when it is ready."""

    addresses: Mapping[str, Any]
    text: str


def up(
    settings: Settings, *, say: Say, with_worker: bool = True, with_feeds: bool = False, local: bool = False
) -> Runtime:
    """Have everything running, and say one line for each part.

    A second call at the same time waits for the first, and then finds everything ready. Raises Refused if a part
    cannot be started or, when given from outside, does not answer.

    `with_feeds` starts the demo's feeds too, and lets the worker read them although they are on this machine. What was
    outside the last time and is not set now is refused, unless `local` says so: a mail for a reader must not end in the
    test mailbox because a shell lacks a setting.
    """
    _prepare(settings.data)
    with _alone(settings.data, say=say):
        _compare_outside(settings, local=local)
        settings = _all_up(settings, say=say, with_worker=with_worker, with_feeds=with_feeds)
    return Runtime(settings, tuple(name for name in PARTS if _is_here(settings.data, name)))


def down(settings: Settings, *, say: Say) -> bool:
    """Stop every part that runs here, in reverse order, and say one line for each. Whether there were any."""
    stopped = False
    if not settings.data.exists():
        return stopped
    watch.stop(settings.data)
    with _alone(settings.data, say=say):
        for name in reversed(PARTS):
            began = time.monotonic()
            ended = _stop(settings, name)
            if ended is not None:
                stopped = True
                say(
                    line(
                        name,
                        "stopped" if ended else "killed: it did not end in time",
                        time.monotonic() - began,
                    )
                )
    return stopped


def heal(settings: Settings, *, say: Say) -> tuple[str, ...]:
    """Bring up what fell since the last `up`. Returns the names of what had fallen; whatever `down` stopped stays."""
    if not fallen(settings.data):
        return ()
    with _alone(settings.data, say=say):
        names = fallen(settings.data)
        if names:
            with_worker = _is_known(settings.data, worker.NAME)
            say(f"  {', '.join(names)} ended without being asked: starting again")
            _all_up(settings, say=say, with_worker=with_worker)
    return names


def fallen(data: Path) -> tuple[str, ...]:
    """The parts that should run here and do not: their pid files are there, their processes are not."""
    return tuple(name for name in PARTS if _is_known(data, name) and not _is_here(data, name))


def feeds_url(data: Path) -> str:
    """Where the demo's feeds are served."""
    return f"http://127.0.0.1:{_runtime_file(data).get('ports', {}).get('feeds', 0)}"


def is_down(data: Path) -> bool:
    """Whether no part is meant to run here."""
    return not any(_is_known(data, name) for name in PARTS)


def line(name: str, text: str, seconds: float) -> str:
    """One line of progress, 80 columns wide."""
    return f"  {name:<10} {text:<57.57} {seconds:>6.1f} s"


def _all_up(settings: Settings, *, say: Say, with_worker: bool, with_feeds: bool = False) -> Settings:
    for name in PARTS:
        _ports(settings, name)  # a port that was asked for and is taken is refused before anything starts
    for name in PARTS[:-1]:
        if name != feeds.NAME or with_feeds or _is_known(settings.data, name):
            settings = _bring_up_somewhere(settings, name, say=say)
    if with_worker:
        _bring_up(settings, worker.NAME, lambda: _worker(settings), say=say)
    return settings


def _bring_up_somewhere(settings: Settings, name: str, *, say: Say) -> Settings:
    """Start one part on the ports it had, or on free ones: chosen just before, for others may be choosing too."""
    for fresh in (False, True):
        chosen = _ports(settings, name, fresh=fresh)
        _remember(settings.data, {"ports": chosen})
        try:
            return _bring_up(settings, name, _starters(settings, chosen)[name], say=say)
        except Refused:
            wanted = any(getattr(settings, f"{port}_port", 0) for port in chosen)
            if fresh or wanted or all(ports.are_free(port, _PORTS[of][1]) for of, port in chosen.items()):
                raise
    raise AssertionError("the second try returns or raises")


def _compare_outside(settings: Settings, *, local: bool) -> None:
    before = set(_runtime_file(settings.data).get("outside", {}).get("names", []))
    now = {name for name in OUTSIDE if settings.is_given(name)}
    lost = sorted(before - now)
    if lost and not local:
        named = ", ".join(VARIABLES[name] for name in lost)
        raise Refused(
            f"{named} was set the last time and is not set now. Set it (in matins.toml it holds for every shell), "
            "or say  matins up --local  to use the local part again"
        )
    _remember(settings.data, {"outside": {"names": sorted(now)}})


def _bring_up(settings: Settings, name: str, starter: Callable[[], _Shown], *, say: Say) -> Settings:
    """Start one part, keep its addresses in runtime.json, say so, and return the settings with them."""
    began = time.monotonic()
    shown = starter()
    _remember(settings.data, {"addresses": shown.addresses})
    say(line(name, shown.text, time.monotonic() - began))
    return settings.model_copy(update=_typed(shown.addresses))


def _typed(addresses: Mapping[str, Any]) -> dict[str, Any]:
    """The addresses as the settings hold them: the secret ones wrapped."""
    secret = {name for name, field in Settings.model_fields.items() if field.annotation is SecretStr}
    return {name: SecretStr(value) if name in secret else value for name, value in addresses.items()}


def _starters(settings: Settings, chosen: Mapping[str, int]) -> dict[str, Callable[[], _Shown]]:
    """What starts each part; `chosen` holds the ports of the one that is started."""
    return {
        postgres.NAME: lambda: _postgres(settings, chosen["postgres"]),
        temporal.NAME: lambda: _temporal(settings, chosen["temporal"], chosen["temporal_ui"]),
        objects.NAME: lambda: _objects(settings, chosen["objects"]),
        mail.NAME: lambda: _mailbox(settings, chosen["smtp"], chosen["imap"]),
        feeds.NAME: lambda: _feeds(settings, chosen["feeds"]),
    }


def _postgres(settings: Settings, port: int) -> _Shown:
    if settings.is_given("postgres_dsn"):
        if not postgres.answers(settings.postgres_dsn):
            raise Refused("postgres: no answer from MATINS_POSTGRES_DSN. Start it, or correct the setting")
        return _Shown({}, "ready  outside, as set")
    started = postgres.start(settings.data, port=port)
    return _Shown({"postgres_dsn": started.dsn}, f"ready  127.0.0.1:{port}")


def _temporal(settings: Settings, port: int, ui_port: int) -> _Shown:
    if settings.is_given("temporal_address"):
        address, namespace = settings.temporal_address, settings.temporal_namespace
        if not temporal.answers(address, namespace=namespace, or_none=True):
            raise Refused(f"temporal: no answer at {address}. Start it, or correct TEMPORAL_ADDRESS")
        return _Shown({}, f"ready  outside, {address}")
    started = temporal.start(settings.data, port=port, ui_port=ui_port)
    return _Shown({"temporal_address": started.address, "temporal_ui": started.ui}, f"ready  {started.address}")


def _objects(settings: Settings, port: int) -> _Shown:
    if settings.is_given("s3_endpoint"):
        secret = settings.s3_secret_key.get_secret_value()
        store = objects.client(settings.s3_endpoint, access_key=settings.s3_access_key, secret_key=secret)
        if not objects.keeps_conditions(store, bucket=settings.bucket):
            raise Refused(
                f"objects: {settings.s3_endpoint} does not answer, or does not keep conditional writes to "
                f"bucket {settings.bucket}. Correct AWS_ENDPOINT_URL or its keys"
            )
        return _Shown({}, f"ready  outside, {urlsplit(settings.s3_endpoint).netloc}")
    started = objects.start(settings.data, port=port, bucket=settings.bucket)
    addresses = {
        "s3_endpoint": started.endpoint,
        "s3_access_key": started.access_key,
        "s3_secret_key": started.secret_key,
    }
    return _Shown(addresses, f"ready  127.0.0.1:{port}")


def _mailbox(settings: Settings, smtp_port: int, imap_port: int) -> _Shown:
    if settings.is_given("smtp_url"):
        host = urlsplit(settings.smtp_url.get_secret_value()).hostname
        return _Shown({}, f"outside, {host}: it is asked when a mail is sent")
    started = mail.start(settings.data, smtp_port=smtp_port, imap_port=imap_port, idle=settings.smtp_idle)
    addresses = {"smtp_url": started.smtp_url}
    if not settings.is_given("imap_url"):
        addresses["imap_url"] = started.imap_url
    return _Shown(addresses, "ready  a test mailbox, nothing leaves this machine")


def _feeds(settings: Settings, port: int) -> _Shown:
    feeds.start(settings.data, port=port)
    allowed = {*settings.allow_hosts, f"127.0.0.1:{port}", UNREACHABLE_HOST}
    return _Shown({"allow_hosts": tuple(sorted(allowed))}, f"ready  127.0.0.1:{port}, the demo's nine sources")


def _worker(settings: Settings) -> _Shown:
    from matins.ledger.migrate import migrate

    migrate(settings.postgres_dsn)
    reused = worker.start(settings)
    return _Shown({}, "ready  as before" if reused else "ready")


def _stop(settings: Settings, name: str) -> bool | None:
    if name == worker.NAME:
        return worker.stop(settings.data, grace=settings.grace + 5)
    stops: dict[str, Callable[[Path], bool | None]] = {
        part_.NAME: part_.stop for part_ in (postgres, temporal, objects, mail, feeds)
    }
    return stops[name](settings.data)


def _ports(settings: Settings, part_name: str, *, fresh: bool = False) -> dict[str, int]:
    """The ports of one part; `fresh`: not the remembered ones, which somebody else took meanwhile."""
    remembered = {} if fresh else _runtime_file(settings.data).get("ports", {})
    return {
        name: ports.choose(
            name,
            wanted=getattr(settings, f"{name}_port", 0),
            remembered=remembered.get(name, 0),
            ours=not fresh and _is_here(settings.data, part_name),
            data=settings.data,
            width=width,
        )
        for name, (listener, width) in _PORTS.items()
        if listener == part_name
    }


def _is_here(data: Path, name: str) -> bool:
    return process.running(part.pid_file(data, name)) is not None


def _is_known(data: Path, name: str) -> bool:
    return part.pid_file(data, name).exists()


def _runtime_file(data: Path) -> dict[str, Any]:
    """What runtime.json says; empty if it is not there or was cut short."""
    try:
        found = json.loads((data / RUNTIME_FILE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _remember(data: Path, more: Mapping[str, Mapping[str, Any]]) -> None:
    """Add to runtime.json, which only its owner reads, in one step for whoever reads it."""
    known = _runtime_file(data)
    for section, values in more.items():
        known[section] = {**known.get(section, {}), **values}
    private.write(data / RUNTIME_FILE, json.dumps(known, indent=1))


def _prepare(data: Path) -> None:
    try:
        data.mkdir(mode=0o700, parents=True, exist_ok=True)
        (data / ".writable").touch()
        (data / ".writable").unlink()
    except OSError as error:
        raise Refused(
            f"{data}: cannot be written to ({error.strerror}). Set MATINS_DATA to another directory"
        ) from error


@contextmanager
def _alone(data: Path, *, say: Say) -> Iterator[None]:
    """Hold the data directory; the kernel lets go of it when this process dies."""
    try:
        opened = (data / "lock").open("w")
    except OSError as error:
        raise Refused(f"{data}: cannot be written to ({error.strerror}). Set MATINS_DATA to another one") from error
    with opened as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say("  another matins is starting or stopping these parts: waiting for it")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield
