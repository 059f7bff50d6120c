import json
from pathlib import Path

import pytest

from matins import settings
from matins.rules.errors import Refused
from matins.rules.limits import Limits


@pytest.fixture
def load(tmp_path):
    """Loads settings from a directory of its own, whatever stands beside the program."""

    def load(toml="", running=None, **environment):
        (tmp_path / "matins.toml").write_text(toml)
        if running is not None:
            (tmp_path / "runtime.json").write_text(json.dumps({"addresses": running}))
        return settings.load({"MATINS_DATA": str(tmp_path), **environment}, directory=tmp_path)

    return load


def test_the_environment_goes_before_the_file_and_the_file_before_what_is_running(load) -> None:
    running = {"temporal_address": "127.0.0.1:1", "postgres_dsn": "dsn-of-runtime", "s3_endpoint": "http://127.0.0.1:3"}
    toml = 'temporal_address = "127.0.0.1:2"\npostgres_dsn = "dsn-of-file"'
    found = load(toml, running, TEMPORAL_ADDRESS="127.0.0.1:9")
    assert found.temporal_address == "127.0.0.1:9"
    assert found.postgres_dsn == "dsn-of-file"
    assert found.s3_endpoint == "http://127.0.0.1:3"
    assert [found.is_given(name) for name in ("temporal_address", "postgres_dsn", "s3_endpoint", "lease")] == [
        True,
        True,
        False,
        False,
    ]


def test_a_persons_mail_server_is_not_paired_with_the_local_test_mailbox(load) -> None:
    running = {"smtp_url": "smtp://127.0.0.1:1", "imap_url": "imap://matins:x@127.0.0.1:2"}
    found = load("", running, MATINS_SMTP_URL="smtps://mail.example:465")
    assert found.imap_url.get_secret_value() == ""


def test_a_persons_aws_keys_are_not_used_for_the_local_store(load) -> None:
    running = {"s3_endpoint": "http://127.0.0.1:3", "s3_access_key": "local"}
    assert load("", running, AWS_ACCESS_KEY_ID="theirs").s3_access_key == "local"


def test_the_local_stores_keys_are_not_sent_to_a_persons_store(load) -> None:
    running = {"s3_endpoint": "http://127.0.0.1:3", "s3_access_key": "local"}
    assert load("", running, AWS_ENDPOINT_URL="https://s3.example").s3_access_key == ""


@pytest.mark.parametrize("content", ["", "{", "[]", '{"addresses": 3}', '{"addresses": {"lease": {}}}'])
def test_a_runtime_file_that_cannot_be_read_is_ignored(load, tmp_path: Path, content: str) -> None:
    (tmp_path / "runtime.json").write_text(content)
    assert load().temporal_address == ""


@pytest.mark.parametrize(
    ("environment", "named"),
    [
        ({"MATINS_LEASE": "ten"}, "MATINS_LEASE"),
        ({"MATINS_LEASE": "nan"}, "MATINS_LEASE"),
        ({"MATINS_BEAT": "0"}, "MATINS_BEAT"),
        ({"MATINS_POSTGRES_PORT": "65536"}, "MATINS_POSTGRES_PORT"),
        ({"MATINS_SMTP_URL": "http://user:hunter2@mail.example"}, "MATINS_SMTP_URL"),
        ({"MATINS_IMAP_URL": "imap://user:hunter2@mail.example:x"}, "MATINS_IMAP_URL"),
        ({"MATINS_MAIL_FROM": "nobody"}, "MATINS_MAIL_FROM"),
        ({"MATINS_MAIL_FROM": "a@b.example\nBcc: c@d.example"}, "MATINS_MAIL_FROM"),
        ({"MATINS_ALLOW_HOSTS": "feeds.example:http"}, "MATINS_ALLOW_HOSTS"),
        ({"MATINS_LEASES": "3"}, "MATINS_LEASES"),
    ],
)
def test_a_bad_variable_is_refused_by_name_without_its_value(load, environment, named: str) -> None:
    with pytest.raises(Refused) as refusal:
        load(**environment)
    assert str(refusal.value).startswith(f"{named}, from the environment: ")
    assert "hunter2" not in str(refusal.value)
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize(
    ("toml", "named"),
    [
        ("leese = 3", "leese, from "),
        ('lease = "x"', "lease, from "),
        ("[lease]\na = 1", "lease, from "),
        ("=", "matins.toml"),
    ],
)
def test_a_bad_file_is_refused_naming_the_file(load, toml: str, named: str) -> None:
    with pytest.raises(Refused, match=r"matins\.toml") as refusal:
        load(toml)
    assert named in str(refusal.value)


def test_a_named_file_that_is_not_there_is_refused(load) -> None:
    with pytest.raises(Refused, match="MATINS_CONFIG"):
        load(MATINS_CONFIG="not-there.toml")


def test_durations_that_do_not_agree_are_refused(load) -> None:
    assert load().limits() == Limits()
    with pytest.raises(Refused, match="beat <= lease / 3"):
        load(MATINS_LEASE="6").limits()


def test_what_another_process_is_handed_reads_back_the_same(load) -> None:
    found = load('allow_hosts = ["a.example", "b.example:81"]', None, MATINS_SMTP_URL="smtp://u:p@mail.example:25")
    again = settings.load(found.environment(), directory=Path("/"))
    assert again.model_dump(exclude={"origins"}) == found.model_dump(exclude={"origins"})


def test_secrets_are_not_printed(load) -> None:
    found = load(
        MATINS_SMTP_URL="smtp://u:hunter2@mail.example",
        MATINS_POSTGRES_DSN="postgresql://u:hunter2@db.example/x",
        AWS_ENDPOINT_URL="https://s3.example",
        AWS_SECRET_ACCESS_KEY="hunter2",
    )
    assert "hunter2" not in repr(found)


def test_relative_directories_start_where_they_were_written(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "matins.toml").write_text('data = "kept"')
    assert settings.load({"MATINS_DATA": "x"}, directory=tmp_path).data == tmp_path / "x"
    named = {"MATINS_CONFIG": "a/matins.toml"}
    assert settings.load(named, directory=tmp_path).data == tmp_path / "a" / "kept"
