"""Columns of text, fitted to the terminal."""

from __future__ import annotations

import shutil
import sys
import unicodedata
from collections.abc import Sequence

from memcli.render.clean import clean_line

_GAP = "  "
_LEAST_LAST = 24
_MOST_OTHER = 30


def grid(header: Sequence[str], rows: Sequence[Sequence[str]], width: int | None = None) -> str:
    """`rows` under `header`, aligned. On a terminal, or with `width`, long cells are truncated with `…`; otherwise they are complete."""
    cells = [[clean_line(cell) for cell in row] for row in [header, *rows]]
    widths = [max(map(columns, column)) for column in zip(*cells, strict=True)]
    if width is None and sys.stdout.isatty():
        width = shutil.get_terminal_size((100, 24)).columns
    if width is not None:
        widths = [min(max(_MOST_OTHER, width // 3), w) for w in widths]
        widths[-1] = max(_LEAST_LAST, width - sum(widths[:-1]) - len(_GAP) * (len(widths) - 1))
    lines = [_GAP.join(pad(cut(cell, w), w) for cell, w in zip(row, widths, strict=True)).rstrip() for row in cells]
    return "\n".join(lines)


def columns(text: str) -> int:
    """The display width of `text`: wide characters take two columns, combining ones none."""
    if text.isascii():
        return len(text)
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def cut(text: str, width: int) -> str:
    """`text` truncated to `width` columns with `…`."""
    if columns(text) <= width:
        return text
    kept = ""
    for c in text:
        if columns(kept + c) >= width:
            break
        kept += c
    return kept.rstrip() + "…"


def pad(text: str, width: int) -> str:
    """`text` padded with spaces to `width` columns."""
    return text + " " * (width - columns(text))
