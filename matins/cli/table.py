"""Tables and paragraphs of eighty columns."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

WIDTH = 80
_LEAST = 16


def rows(table: Sequence[tuple[str, ...]]) -> str:
    """The rows under each other, two blanks between columns; the last column is wrapped under itself."""
    widths = [max(len(row[at]) for row in table) for at in range(len(table[0]) - 1)]
    lead = sum(widths) + 2 * len(widths)
    told = []
    for row in table:
        head = "".join(f"{text:<{width}}  " for text, width in zip(row, widths, strict=False))
        first, *rest = textwrap.wrap(row[-1], max(WIDTH - lead, _LEAST)) or [""]
        told.append(f"{head}{first}".rstrip())
        told += [" " * lead + line for line in rest]
    return "\n".join(told)


def hung(lead: str, text: str) -> str:
    """`text` behind `lead`, wrapped under its own first line. A word that is longer than a line stays whole."""
    first, *rest = textwrap.wrap(text, WIDTH - len(lead), break_long_words=False, break_on_hyphens=False) or [""]
    return "\n".join([(lead + first).rstrip(), *(" " * len(lead) + more for more in rest)])


def cut(text: str, width: int) -> str:
    """`text` in one line of at most `width` columns."""
    return text if len(text) <= width else f"{text[: width - 3]}..."
