"""Dockerfile and .dockerignore: what the image holds is there, is enough, and is nothing else."""

from __future__ import annotations

import fnmatch
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.containers import DOCKERFILE, OURS, SERVICES
from tests.docs.pages import ROOT


@pytest.mark.parametrize("name", sorted(OURS))
def test_our_own_containers_may_do_nothing_that_they_need_not(name: str) -> None:
    one = SERVICES[name]
    assert (one["read_only"], one["cap_drop"], one["init"]) == (True, ["ALL"], True)
    user = next(line.split()[1] for line in DOCKERFILE if line.startswith("USER "))
    for mount in one["tmpfs"]:
        assert mount == "/tmp" or "uid={},gid={}".format(*user.split(":")) in mount


def admitted(path: str) -> bool:
    """Whether .dockerignore lets `path` into the build."""
    verdict = True
    for line in (ROOT / ".dockerignore").read_text().splitlines():
        if line and not line.startswith("#"):
            pattern = line.removeprefix("!").removeprefix("**/")
            if any(fnmatch.fnmatch(one, pattern) for one in (path, path.split("/")[0], path.rpartition("/")[2])):
                verdict = line.startswith("!")
    return verdict


def copied() -> list[tuple[str, str]]:
    """What the image takes from this checkout: (from, to)."""
    lines = [line.split()[1:] for line in DOCKERFILE if line.startswith("COPY ") and "--from" not in line]
    return [(source, to) for *sources, to in lines for source in sources]


def test_the_image_takes_files_that_are_there_and_no_other_can_slip_in() -> None:
    assert [source for source, _ in copied() if not ((ROOT / source).exists() and admitted(source))] == []
    for path in (
        "matins.toml",
        "deploy/secrets/matins.toml",
        "profiles/sam.toml",
        ".matins/runtime.json",
        ".git/config",
    ):
        assert not admitted(path)


def test_what_is_in_the_image_is_enough_for_the_worker_and_the_commands(tmp_path: Path) -> None:
    for source, to in copied():
        target = tmp_path / (source if to == "./" else to)
        target.parent.mkdir(parents=True, exist_ok=True)
        if (ROOT / source).is_dir():
            shutil.copytree(ROOT / source, target)  # with the byte code: it need not be made again
        else:
            shutil.copy(ROOT / source, target)
    python = tmp_path / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    (start,) = [json.loads(line.removeprefix("CMD ")) for line in DOCKERFILE if line.startswith("CMD ")]
    assert start == SERVICES["worker"]["command"][:2]
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(tmp_path), "PYTHONDONTWRITEBYTECODE": "1"}
    for runs, command, told in (
        (sys.executable, [*start, "--help"], "usage: worker.py"),
        ("echo", ["bin/matins", "owed"], "-m matins.cli owed"),
    ):
        python.write_text(f'#!/bin/sh\nexec {runs} "$@"\n', encoding="ascii")
        python.chmod(0o755)
        ran = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
        assert (ran.returncode, ran.stderr, ran.stdout[: len(told)]) == (0, "", told)


def test_the_image_is_built_from_the_lock_and_does_not_run_as_root() -> None:
    text = "\n".join(DOCKERFILE)
    assert "--require-hashes" in text
    assert "-r requirements.lock" in text
    assert DOCKERFILE[-4].startswith("ENV ")
    bases = {line.split()[1] for line in DOCKERFILE if line.startswith("FROM ")}
    assert len(bases) == 1
    locked = re.search(r"--python-version (\d+\.\d+)", (ROOT / "Makefile").read_text())
    assert locked
    assert re.fullmatch(rf"python:{re.escape(locked[1])}\.\d+-slim-\w+", bases.pop())
    user = next(line for line in DOCKERFILE if line.startswith("USER "))
    assert re.fullmatch(r"USER [1-9]\d+:[1-9]\d+", user)
    assert DOCKERFILE.index(user) > max(at for at, line in enumerate(DOCKERFILE) if line.startswith(("COPY", "RUN")))


@pytest.mark.parametrize("name", ["docker-compose.yml", "Dockerfile", ".dockerignore", "deploy/make-secrets"])
def test_no_registry_is_named(name: str) -> None:
    text = (ROOT / name).read_text(encoding="utf-8")
    assert re.search(r"index-url|docker\.io|ghcr|quay|://(?!127\.0\.0\.1|objects|mailbox|matins:)", text) is None
