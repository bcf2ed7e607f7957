"""Long text in pieces that fit the window of an embedder."""

from __future__ import annotations

import re

CHUNK_CHARACTERS = 800
"""About what a window of 256 word pieces holds: a little more in prose, a little less in code."""

_BREAKS = (re.compile(r"\n\s*\n"), re.compile(r"\n"), re.compile(r"(?<=[.!?])\s"), re.compile(r"\s"))


def split(text: str, size: int = CHUNK_CHARACTERS) -> list[str]:
    """`text` in pieces of at most `size` characters, cut where a paragraph, line, sentence or word ends."""
    pieces = []
    rest = text.strip()
    while len(rest) > size:
        cut = _cut(rest, size)
        pieces.append(rest[:cut].rstrip())
        rest = rest[cut:].lstrip()
    if rest:
        pieces.append(rest)
    return pieces


def _cut(text: str, size: int) -> int:
    """Where to cut: at the last break of the strongest kind that leaves at least half a piece."""
    for pattern in _BREAKS:
        ends = [m.end() for m in pattern.finditer(text, size // 2, size)]
        if ends:
            return ends[-1]
    return size
