"""What a draft looks like, as the files that a reader gets. Text from sources is text in every one of them."""

from __future__ import annotations

from typing import Any

from matins.brief.letter import letter
from matins.brief.page import page
from matins.brief.plain import markdown, text


def rendered(draft: dict[str, Any]) -> dict[str, bytes]:
    """index.html, brief.md, mail.html and mail.txt of the draft, in UTF-8."""
    return {
        "index.html": page(draft).encode(),
        "brief.md": markdown(draft).encode(),
        "mail.html": letter(draft).encode(),
        "mail.txt": text(draft).encode(),
    }
