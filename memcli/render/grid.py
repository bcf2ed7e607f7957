"""Columns of text, as wide as the terminal."""

from __future__ import annotations

import shutil
import unicodedata
from collections.abc import Sequence

from memcli.render.clean import clean_line

_GAP = "  "
_LEAST_LAST = 24
_MOST_OTHER = 40


def grid(header: Sequence[str], rows: Sequence[Sequence[str]], width: int | None = None) -> str:
    """`rows` under `header`, aligned. The last column takes what width is left; long cells end in `…`."""
    width = width or shutil.get_terminal_size((100, 24)).columns
    cells = [[clean_line(cell) for cell in row] for row in [header, *rows]]
    widths = [min(_MOST_OTHER, max(map(columns, column))) for column in zip(*cells, strict=True)]
    widths[-1] = max(_LEAST_LAST, width - sum(widths[:-1]) - len(_GAP) * (len(widths) - 1))
    lines = [_GAP.join(pad(cut(cell, w), w) for cell, w in zip(row, widths, strict=True)).rstrip() for row in cells]
    return "\n".join(lines)


def columns(text: str) -> int:
    """How many columns of a terminal `text` takes: wide characters take two, combining ones none."""
    if text.isascii():
        return len(text)
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def cut(text: str, width: int) -> str:
    """`text` in at most `width` columns, with `…` for what was cut off."""
    if columns(text) <= width:
        return text
    kept = ""
    for c in text:
        if columns(kept + c) >= width:
            break
        kept += c
    return kept.rstrip() + "…"


def pad(text: str, width: int) -> str:
    """`text` filled up with spaces to `width` columns."""
    return text + " " * (width - columns(text))
