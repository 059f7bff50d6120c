"""The files of an edition, and the manifest over them. Same draft and evidence, same bytes."""

from __future__ import annotations

from typing import Any

from matins.brief.render import rendered
from matins.rules.canonical import canonical, sha256
from matins.rules.media import content_type


def bundle(draft: dict[str, Any], evidence_set: dict[str, Any]) -> dict[str, bytes]:
    """The edition's files by name; the manifest over them is made by `manifest`."""
    told = [item for item in evidence_set["items"] if item["chosen"]]
    return {
        "brief.json": canonical(draft),
        "evidence.jsonl": b"".join(canonical(item) + b"\n" for item in told),
        **rendered(draft),
    }


def manifest(files: dict[str, bytes]) -> bytes:
    """manifest.json: name, number of bytes and SHA-256 of each file, by name."""
    listed = [
        {"name": name, "bytes": len(data), "sha256": sha256(data), "content_type": content_type(name)}
        for name, data in sorted(files.items())
    ]
    return canonical({"files": listed})
