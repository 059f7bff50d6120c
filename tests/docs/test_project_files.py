"""The files that every project has: LICENSE, CHANGELOG, CONTRIBUTING."""

import re
import tomllib
from importlib import metadata

from tests.docs.pages import ROOT, page


def test_the_licence_is_apache_2_in_full() -> None:
    text = (ROOT / "LICENSE").read_text(encoding="ascii")
    assert "Apache License\n                           Version 2.0, January 2004" in text
    assert "END OF TERMS AND CONDITIONS" in text
    assert "9. Accepting Warranty or Additional Liability." in text
    assert tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["license"] == "Apache-2.0"


def test_the_changes_open_with_what_is_unreleased() -> None:
    assert re.search(r"^## .*$", page("CHANGELOG.md").text, re.MULTILINE)[0] == "## [Unreleased]"


def test_every_requirement_is_named_with_its_licence() -> None:
    rows = [" | ".join(row) for row in page("CONTRIBUTING.md").rows("package")]
    wanted = re.findall(r"^([a-z][\w-]*)", (ROOT / "requirements.in").read_text(), re.MULTILINE)
    for name in wanted:
        row = next((row for row in rows if re.search(rf"\b{name}\b(?!-)", row)), "")
        assert licence_of(name) in row, f"{name} is not named under its licence"


def licence_of(name: str) -> str:
    """The word by which the package's own metadata and our table both know its licence."""
    about = metadata.metadata(name)
    said = " ".join(
        [about.get("License-Expression") or about.get("License") or "", *(about.get_all("Classifier") or [])]
    )
    words = {"Apache": "Apache-2.0", "BSD-2": "BSD-2-Clause", "BSD-3": "BSD-3-Clause", "LGPL": "LGPL-3.0", "MIT": "MIT"}
    return next(ours for theirs, ours in words.items() if theirs in said)


def test_the_commands_of_every_day_are_there() -> None:
    assert (ROOT / ".ci" / "run").is_file()
    assert (ROOT / "bin" / "setup").is_file()


def test_no_page_says_what_is_never_said() -> None:
    never = re.compile(r"successfully|something went wrong|(?<!\")\bdelivered\b", re.IGNORECASE)
    for path in (ROOT / "README.md", *(ROOT / "docs").glob("*.md"), ROOT / "schema" / "README.md"):
        assert not never.search(path.read_text(encoding="utf-8").replace('"Delivered"\n', "")), path.name
