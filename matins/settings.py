"""Every setting, read once at start: from the environment, else `matins.toml`, else the addresses of the
local parts (`runtime.json` in the data directory), else the defaults here. `.env.example` lists them all.
"""

from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, fields
from email.errors import MessageError
from email.headerregistry import Address
from email.utils import parseaddr
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError, field_validator

from matins.rules import limits
from matins.rules.errors import Refused
from matins.rules.limits import Limits

CHECKOUT = Path(__file__).resolve().parent.parent
"""Where this copy of Matins is: the default data directory and `matins.toml` are looked for here."""

CONFIG = "MATINS_CONFIG"
OTHER_VARIABLES = frozenset({CONFIG, "MATINS_CRASH"})
"""Variables of ours that are not settings."""

_OTHER_NAMES = {
    "temporal_address": "TEMPORAL_ADDRESS",
    "temporal_namespace": "TEMPORAL_NAMESPACE",
    "s3_endpoint": "AWS_ENDPOINT_URL",
    "s3_access_key": "AWS_ACCESS_KEY_ID",
    "s3_secret_key": "AWS_SECRET_ACCESS_KEY",
}
_FOLLOWERS = {
    "temporal_address": ("temporal_ui",),
    "s3_endpoint": ("s3_access_key", "s3_secret_key"),
    "smtp_url": ("imap_url",),
}
"""Settings that belong to the part another one names, and come from where that one came from."""

_SECONDS = tuple(field.name for field in fields(Limits))
_DEFAULTS = Limits()


def _seconds(name: str, meaning: str) -> Any:
    return Field(getattr(_DEFAULTS, name), gt=0, allow_inf_nan=False, description=meaning)


def _port(meaning: str) -> Any:
    return Field(0, ge=0, le=65535, description=f"port of {meaning}; 0 takes a free one and keeps it")


class Settings(BaseModel):
    """What was set, and `origins`: where each value that is not a default came from."""

    model_config = ConfigDict(frozen=True, extra="forbid", validate_default=False)

    data: Path = Field(Path(".matins"), description="directory of everything that is kept on this machine")
    postgres_dsn: str = Field("", repr=False, description="Postgres to use; empty starts a local one")
    temporal_address: str = Field("", description="host:port of Temporal; empty starts a local one")
    temporal_namespace: str = Field("default", min_length=1, description="Temporal namespace")
    temporal_ui: str = Field("", description="address of the local Temporal's own web pages")
    s3_endpoint: str = Field("", description="URL of an S3 store, also of AWS's; empty starts a local one")
    s3_access_key: str = Field("", description="access key of that S3 store")
    s3_secret_key: SecretStr = Field(SecretStr(""), description="secret key of that S3 store")
    bucket: str = Field("matins", min_length=3, max_length=63, description="bucket of all objects")
    smtp_url: SecretStr = Field(
        SecretStr(""),
        description="mail server: smtp://[user:pass@]host:port, smtps:// or smtp+starttls://; empty: a test mailbox",
    )
    imap_url: SecretStr = Field(
        SecretStr(""), description="mailbox to watch: imap://user:pass@host:port or imaps://; empty watches none"
    )
    mail_from: str = Field("Matins <matins@localhost.localdomain>", description="sender of all mail")
    allow_hosts: tuple[str, ...] = Field(
        (), description="hosts, or host:port, that may be fetched from although private; comma separated"
    )
    postgres_port: int = _port("the local Postgres")
    temporal_port: int = _port("the local Temporal")
    temporal_ui_port: int = _port("the local Temporal's web pages")
    objects_port: int = _port("the local object store, first of ten")
    smtp_port: int = _port("the local test mailbox, for sending")
    imap_port: int = _port("the local test mailbox, for reading")
    lease: float = _seconds("lease", "seconds that a claim holds without a beat")
    beat: float = _seconds("beat", "seconds between two renewals of a lease")
    heartbeat_timeout: float = _seconds("heartbeat_timeout", "seconds after which Temporal gives up a silent activity")
    first_backoff: float = _seconds("first_backoff", "seconds before Temporal's first retry")
    deadline: float = _seconds("deadline", "seconds that one claim may take in all")
    provider_timeout: float = _seconds("provider_timeout", "seconds that one call to a provider may take in all")
    smtp_idle: float = _seconds("smtp_idle", "seconds that the mail server keeps a silent connection open")
    quarantine: float = _seconds("quarantine", "seconds for which 'not in the mailbox' proves nothing")
    grace: float = _seconds("grace", "seconds that a worker told to stop may finish what it began")
    pool: int = Field(
        12, ge=2, le=200, description="connections to Postgres that a worker keeps, beside the beat's own"
    )
    sweep_every: float = Field(limits.SWEEP_EVERY, gt=0, allow_inf_nan=False, description="seconds between two sweeps")
    poll_wait: float = Field(
        limits.POLL_WAIT,
        gt=0,
        allow_inf_nan=False,
        description="seconds that a morning waits for its sources",
    )
    config: Path | None = Field(None, description="the matins.toml that was read")
    origins: dict[str, str] = Field(default_factory=dict, repr=False, description="where each value came from")

    @field_validator("allow_hosts", mode="before")
    @classmethod
    def _split(cls, value: object) -> object:
        return tuple(part.strip() for part in value.split(",") if part.strip()) if isinstance(value, str) else value

    @field_validator("allow_hosts")
    @classmethod
    def _are_hosts(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        for entry in value:
            _address(f"//{entry}", schemes=("",))
        return value

    @field_validator("smtp_url")
    @classmethod
    def _is_smtp(cls, value: SecretStr) -> SecretStr:
        _address(value.get_secret_value(), schemes=("smtp", "smtps", "smtp+starttls"))
        return value

    @field_validator("imap_url")
    @classmethod
    def _is_imap(cls, value: SecretStr) -> SecretStr:
        _address(value.get_secret_value(), schemes=("imap", "imaps"))
        return value

    @field_validator("s3_endpoint")
    @classmethod
    def _is_http(cls, value: str) -> str:
        _address(value, schemes=("http", "https"))
        return value

    @field_validator("mail_from")
    @classmethod
    def _is_mailbox(cls, value: str) -> str:
        try:
            if Address(addr_spec=parseaddr(value)[1]).domain and value.isprintable():
                return value
        except (MessageError, ValueError, IndexError):
            pass
        raise ValueError("should be one mail address, as in Matins <matins@example.org>")

    def limits(self) -> Limits:
        """The durations that depend on each other. Raises Refused naming the first rule that fails."""
        return Limits(**{name: getattr(self, name) for name in _SECONDS}).check()

    def is_given(self, name: str) -> bool:
        """Whether `name` was set by a person, and not found in `runtime.json` or left alone."""
        return name in self.origins and self.origins[name] != RUNTIME_FILE

    def environment(self) -> dict[str, str]:
        """The variables that hand these settings to another process, secrets included."""
        values = {VARIABLES[name]: _text(getattr(self, name)) for name in VARIABLES}
        values[CONFIG] = str(self.config or "")
        return {name: value for name, value in values.items() if value}


RUNTIME_FILE = "runtime.json"
ADDRESSES = (
    "postgres_dsn", "temporal_address", "temporal_ui", "s3_endpoint", "s3_access_key", "s3_secret_key", "smtp_url",
    "imap_url",
)  # fmt: skip
"""What `runtime.json` may say."""
VARIABLES = {
    name: _OTHER_NAMES.get(name, f"MATINS_{name.upper()}")
    for name in Settings.model_fields
    if name not in ("temporal_ui", "config", "origins")
}
"""The environment variable of each setting that a person may set."""


@dataclass(frozen=True, slots=True)
class _Source:
    """Values by setting, from one place; `where` names that place, `names` what a setting is called there."""

    where: str
    values: Mapping[str, Any]
    names: Mapping[str, str]


def load(environment: Mapping[str, str] | None = None, *, directory: Path | None = None) -> Settings:
    """The settings of this process; `directory` is what relative paths start from (the current one).

    Raises Refused with one sentence that names the setting and where it came from.
    """
    environment = os.environ if environment is None else environment
    directory = (directory or Path.cwd()).resolve()
    config = _config_path(environment, directory)
    given = [_from_environment(environment, directory), _from_toml(config)]
    data = next((source.values["data"] for source in given if "data" in source.values), CHECKOUT / ".matins")
    running = _Source(RUNTIME_FILE, read_addresses(Path(str(data))), {})
    return _merge(_unmixed([*given, running]), config=config)


def read_addresses(data: Path) -> dict[str, Any]:
    """The addresses of the parts last started in `data`; empty when there are none or they cannot be read."""
    try:
        addresses = json.loads((data / RUNTIME_FILE).read_text(encoding="utf-8"))["addresses"]
        return {name: addresses[name] for name in ADDRESSES if isinstance(addresses.get(name), str)}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}


def _config_path(environment: Mapping[str, str], directory: Path) -> Path | None:
    """The file that MATINS_CONFIG names, else `matins.toml` here or beside the program, else None."""
    if named := environment.get(CONFIG):
        return (directory / Path(named).expanduser()).resolve()
    here = (directory / "matins.toml", CHECKOUT / "matins.toml")
    return next((path for path in here if path.is_file()), None)


def _from_environment(environment: Mapping[str, str], directory: Path) -> _Source:
    known = {*VARIABLES.values(), *OTHER_VARIABLES}
    for name in sorted(environment):
        if name.startswith("MATINS_") and name not in known:
            raise Refused(f"{name}, from the environment: there is no such setting. See .env.example")
    values: dict[str, Any] = {field: environment[name] for field, name in VARIABLES.items() if environment.get(name)}
    return _Source("the environment", _with_absolute_data(values, directory), VARIABLES)


def _from_toml(path: Path | None) -> _Source:
    if path is None:
        return _Source("", {}, {})
    try:
        values = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise Refused(f"{path}: cannot be read ({error.strerror}). Correct {CONFIG}, or unset it") from error
    except ValueError as error:
        raise Refused(f"{path}: not valid TOML ({error})") from error
    for name in values:
        if name not in VARIABLES:
            raise Refused(f"{name}, from {path}: there is no such setting. See .env.example")
    return _Source(str(path), _with_absolute_data(values, path.parent), {})


def _with_absolute_data(values: dict[str, Any], base: Path) -> dict[str, Any]:
    if isinstance(values.get("data"), str):
        values["data"] = str((base / Path(values["data"]).expanduser()).resolve())
    return values


def _unmixed(sources: list[_Source]) -> list[_Source]:
    """`sources` without what belongs to a part that is named elsewhere.

    A person's S3 keys are not the local store's, and their mail does not come to the test mailbox.
    """
    *given, running = sources
    by_person = {name for source in given for name in source.values}
    foreign = {name for lead, names in _FOLLOWERS.items() if lead in by_person for name in names}
    stray = set() if "s3_endpoint" in by_person else set(_FOLLOWERS["s3_endpoint"])
    return [*(_without(source, stray) for source in given), _without(running, foreign)]


def _without(source: _Source, names: set[str]) -> _Source:
    kept = {name: value for name, value in source.values.items() if name not in names}
    return _Source(source.where, kept, source.names)


def _merge(sources: list[_Source], *, config: Path | None) -> Settings:
    """The first source that has a setting gives it."""
    values: dict[str, Any] = {"data": CHECKOUT / ".matins"}
    origins: dict[str, str] = {}
    for source in reversed(sources):
        values |= source.values
        origins |= dict.fromkeys(source.values, source.where)
    try:
        return Settings(**values, config=config, origins=origins)
    except ValidationError as error:
        raise Refused(_sentence(error, sources, origins)) from None


def _sentence(error: ValidationError, sources: list[_Source], origins: Mapping[str, str]) -> str:
    """What is wrong with which setting, and where it came from; never its value, which may be a secret."""
    first = error.errors(include_input=False, include_url=False)[0]
    field = str(first["loc"][0]) if first["loc"] else ""
    where = origins.get(field, "the defaults")
    names = next((source.names for source in sources if source.where == where), {})
    what = first["msg"].removeprefix("Value error, ")
    return f"{names.get(field, field)}, from {where}: {what[0].lower()}{what[1:]}"


def _address(url: str, *, schemes: tuple[str, ...]) -> None:
    """Raise ValueError unless `url` is empty or has one of `schemes`, a host and, if any, a valid port."""
    try:
        parts = urlsplit(url)
        wrong = bool(url) and (parts.scheme not in schemes or not parts.hostname or parts.port == 0)
    except ValueError:
        wrong = True
    if wrong:
        kinds = " or ".join(f"{scheme}://host:port" for scheme in schemes if scheme) or "host or host:port"
        raise ValueError(f"should be {kinds}")


def _text(value: object) -> str:
    """A setting as the text that `load` reads back."""
    if isinstance(value, SecretStr):
        return value.get_secret_value()
    return ",".join(value) if isinstance(value, tuple) else str(value)
