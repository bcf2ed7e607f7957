"""Long text in pieces that fit the window of an embedder."""

from __future__ import annotations

import re

CHUNK_CHARACTERS = 800
"""About what a window of 256 word pieces holds: a little more in prose, a little less in code."""

_BREAKS = (re.compile(r"\n\s*\n"), re.compile(r"\n"), re.compile(r"(?<=[.!?])\s"), re.compile(r"\s"))


def split(text: str, size: int = CHUNK_CHARACTERS) -> list[str]:
    """`text` in pieces of at most `size` characters, cut where a paragraph, line, sentence or word ends."""
    text = text.strip()
    pieces = []
    start = 0
    while start < len(text):
        end = len(text) if len(text) - start <= size else _cut(text, start, size)
        if piece := text[start:end].strip():
            pieces.append(piece)
        start = end
    return pieces


def _cut(text: str, start: int, size: int) -> int:
    """Where to cut: at the last break of the strongest kind that leaves at least half a piece."""
    for pattern in _BREAKS:
        ends = [m.end() for m in pattern.finditer(text, start + size // 2, start + size)]
        if ends:
            return ends[-1]
    return start + size
