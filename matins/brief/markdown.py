"""Text from sources in Markdown, where it shows as it is and makes no structure (CommonMark 0.31, GitHub's too)."""

from __future__ import annotations

import re

_MARKS = re.compile(r"([\\`*_{}\[\]#|~!$])")
_LINKED = re.compile(r"(?i)\b(https?|ftp)://|\bwww\.")
_LINE_START = re.compile(r"^([-+=]|\d+(?=[.)]))")
_REFERENCE = re.compile(r"&(?=#?\w+;)")


def shown(text: str) -> str:
    """`text`, which is on one line, as Markdown that shows exactly that text wherever on a line it stands."""
    plain = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    plain = _LINKED.sub(_unlinked, _MARKS.sub(r"\\\1", plain))
    return _LINE_START.sub(_unlisted, plain)


def _unlinked(found: re.Match[str]) -> str:
    return f"{found[1]}&#58;//" if found[1] else f"{found[0][:-1]}&#46;"


def _unlisted(found: re.Match[str]) -> str:
    return f"{found[1]}\\" if found[1][0].isdigit() else f"\\{found[1]}"


def link(text: str, address: str) -> str:
    """`text` leading to `address`, which has no spaces or angle brackets in it; only the text if there is none."""
    target = _REFERENCE.sub("&amp;", address)
    return f"[{shown(text)}](<{target}>)" if address else shown(text)
