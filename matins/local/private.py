"""Files that only their owner reads, written whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path


def write(file: Path, text: str) -> None:
    """Put `text` into `file`, mode 0600; whoever reads meanwhile sees what was there before."""
    half = file.with_name(f".{file.name}.{os.getpid()}")
    half.unlink(missing_ok=True)
    with os.fdopen(os.open(half, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as out:
        out.write(text)
    half.replace(file)


def keep(file: Path, make: Callable[[], str]) -> str:
    """What `file` says; at the first call, what `make` returns, which is kept there."""
    if not file.exists():
        write(file, make())
    return file.read_text(encoding="utf-8")
