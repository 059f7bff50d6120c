"""The pages that a stranger reads, and what they claim: code spans, fenced blocks, links and headings."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PATHS = (
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    ROOT / "CHANGELOG.md",
    ROOT / "schema" / "README.md",
    *sorted((ROOT / "docs").glob("*.md")),
)
_BLOCK = re.compile(r"^```(?P<language>\w*)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
_SPAN = re.compile(r"`([^`\n]+)`")
_LINK = re.compile(r"!?\[[^\]]*\]\((?P<to>[^)\s]+)\)|<img src=\"(?P<image>[^\"]+)\"")
_HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Block:
    """One fenced block; `language` is "" for what one types and sees."""

    language: str
    text: str


@dataclass(frozen=True, slots=True)
class Page:
    """One Markdown page."""

    path: Path
    text: str

    @property
    def prose(self) -> str:
        """The page without its fenced blocks."""
        return _BLOCK.sub("", self.text)

    def blocks(self, language: str) -> list[str]:
        """The texts of the fenced blocks in `language`."""
        return [found["text"] for found in _BLOCK.finditer(self.text) if found["language"] == language]

    def spans(self) -> list[str]:
        """What stands between backticks in the prose."""
        return _SPAN.findall(self.prose)

    def typed(self) -> list[str]:
        """Every code span, and every line of the blocks that show a terminal, without its prompt."""
        lines = [line for block in self.blocks("") for line in block.splitlines()]
        return [*self.spans(), *(line.removeprefix("$ ") for line in lines)]

    def links(self) -> list[str]:
        """Where its links and pictures lead."""
        return [found["to"] or found["image"] for found in _LINK.finditer(self.prose)]

    def anchors(self) -> set[str]:
        """The fragments that a link to this page may name, as GitHub makes them from its headings."""
        return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in _HEADING.findall(self.prose)}

    def rows(self, heading: str) -> list[list[str]]:
        """The cells of the first table whose first column is called `heading`, without its head."""
        lines = self.text.splitlines()
        at = next(number for number, line in enumerate(lines) if line.startswith(f"| {heading} |"))
        body = []
        for line in lines[at + 2 :]:
            if not line.startswith("|"):
                break
            body.append([cell.strip() for cell in line.strip("|").split("|")])
        return body


def page(name: str) -> Page:
    """The page at `name`, from the root of the checkout."""
    return Page(ROOT / name, (ROOT / name).read_text(encoding="utf-8"))


def pages() -> list[Page]:
    """All of them."""
    return [page(str(path.relative_to(ROOT))) for path in PATHS]


def quoted(cell: str) -> list[str]:
    """What stands between backticks in a cell of a table."""
    return _SPAN.findall(cell)
