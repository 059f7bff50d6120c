"""The content type of each kind of file that Matins writes, by its ending."""

from __future__ import annotations

CONTENT_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".json": "application/json",
    ".jsonl": "application/jsonl",
    ".md": "text/markdown; charset=utf-8",
    ".txt": "text/plain; charset=utf-8",
}


def content_type(name: str) -> str:
    """The content type of the file `name`. Raises KeyError for an ending that nothing of ours has."""
    return CONTENT_TYPES["." + name.rpartition(".")[2]]
