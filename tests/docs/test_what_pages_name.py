"""What the pages name is there: commands and their options, targets, files, modules, settings, points, links."""

import functools
import re

import pytest
import typer.main

from matins.cli.main import app
from matins.rules.crash import POINTS
from matins.settings import OTHER_VARIABLES, VARIABLES
from tests.docs.pages import PATHS, ROOT, Page, page, pages
from workflows.options import QUEUES

COMMAND = re.compile(r"(?:^|(?<=[\s/]))(?<!\.)matins (?P<words>[a-z-].*)")
ROOMS = "matins|workflows|activities|schema|tests|docs|bin|bench"
FILE = re.compile(rf"(?<![\w./-])((?:{ROOMS}|\.ci)/[\w./-]*\w|[\w.-]+\.(?:py|md|toml|lock|in|sql))(?![\w/-])")
YOURS = {"matins.toml", "sam.toml"}
"""Files that a person writes."""
VARIABLE = re.compile(r"\b(?:MATINS|AWS|TEMPORAL)_[A-Z_]*[A-Z]\b")
EACH = pytest.mark.parametrize("name", [str(path.relative_to(ROOT)) for path in PATHS])


def commands(text: str) -> list[list[str]]:
    """The words after `matins` in what is typed; a remark stands two blanks or a `#` behind."""
    return [re.split(r"  |#|;", found["words"])[0].split() for found in COMMAND.finditer(text)]


@functools.cache
def _root():  # type: ignore[no-untyped-def]  # its type is that of typer's own copy of click
    return typer.main.get_command(app)


def refused(words: list[str]) -> str:
    """Why the command line would not know these words, or ""."""
    command = _root()
    while words and getattr(command, "commands", None):
        name, *words = words
        if name not in command.commands:
            return f"there is no command {name}"
        command = command.commands[name]
    known = {option for parameter in command.params for option in parameter.opts} | {"--help"}
    unknown = [word for word in words if word.startswith("-") and word not in known]
    return f"there is no option {unknown[0]}" if unknown else ""


@EACH
def test_every_command_and_option_exists(name: str) -> None:
    said = [words for text in page(name).typed() for words in commands(text)]
    assert {" ".join(words): why for words in said if (why := refused(words))} == {}


def test_every_command_is_named_somewhere() -> None:
    named = {words[0] for found in pages() for text in found.typed() for words in commands(text)}
    assert named >= set(_root().commands)


@EACH
def test_every_make_target_exists(name: str) -> None:
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    asked = {target for text in page(name).typed() for target in re.findall(r"^make ([a-z]+)", text)}
    assert asked <= targets


@EACH
def test_every_file_and_folder_exists(name: str) -> None:
    here = page(name)
    named = {found for text in here.typed() for found in FILE.findall(text)} - YOURS
    assert [path for path in sorted(named) if not ((ROOT / path).exists() or (here.path.parent / path).exists())] == []


@EACH
def test_every_module_exists(name: str) -> None:
    dotted = [
        span for span in page(name).spans() if re.fullmatch(r"(?:matins|workflows|activities)(?:\.[a-z_]+)+", span)
    ]
    paths = [ROOT / span.replace(".", "/") for span in dotted if span not in YOURS]
    assert [path.name for path in paths if not (path.is_dir() or path.with_suffix(".py").exists())] == []


@EACH
def test_every_variable_is_a_setting(name: str) -> None:
    known = {*VARIABLES.values(), *OTHER_VARIABLES}
    assert set(VARIABLE.findall(page(name).text)) - known == set()


@EACH
def test_every_queue_exists(name: str) -> None:
    assert set(re.findall(r"--queue ([a-z]+)", page(name).text)) - set(QUEUES) == set()


@EACH
def test_every_crash_point_exists(name: str) -> None:
    stages = "|".join(sorted({point.split(".")[0] for point in POINTS}))
    named = re.findall(rf"\b(?:{stages})\.(?:before|after)_?\w*", page(name).text)
    assert set(named) - set(POINTS) == set()


@EACH
def test_every_link_leads_somewhere(name: str) -> None:
    here = page(name)
    assert [link for link in here.links() if not _leads(here, link)] == []


def _leads(here: Page, link: str) -> bool:
    path, _, fragment = link.partition("#")
    there = (here.path.parent / path).resolve() if path else here.path
    if not there.exists():
        return False
    return not fragment or fragment in page(str(there.relative_to(ROOT))).anchors()
