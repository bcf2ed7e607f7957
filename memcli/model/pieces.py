"""Text in pieces: its sentences, and chunks that fit the window of an embedder."""

from __future__ import annotations

import re
from collections.abc import Iterator

from memcli.regex import regex

CHUNK_CHARACTERS = 800
"""About what a window of 256 word pieces holds: a little more in prose, a little less in code."""

_BREAKS = (regex(r"\n\s*\n"), regex(r"\n"), regex(r"(?<=[.!?])\s"), regex(r"\s"))


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


_END = regex(r"(?<![.!?…])[.!?…]+[\"'”’)\]*_`]*\s+|[。！？｡]+[」』”）]*\s*")
_ASCII_END = regex(r"[.!?](?<![.!?]{2})[.!?]*[\"')\]*_`]*\s+")
"""The same where all is ASCII, found in a third of the time."""
_LAST_WORD = regex(r"[\w.]*\Z")
_NEVER_LAST = frozenset([
    "e.g", "i.e", "eg", "ie", "cf", "vs", "viz", "dr", "mr", "mrs", "ms", "prof", "st", "resp", "incl", "excl", "esp",
    "aka", "approx", "ca",
])  # fmt: skip
_NOT_BEFORE_NUMBER = frozenset(
    ["no", "nos", "fig", "sec", "ch", "p", "pp", "ver", "v", "vol", "min", "max", "est", "rev"]
)
_NOT_BEFORE_LOWER = frozenset(["etc", "inc", "ltd", "corp", "co", "al", "a.m", "p.m", "u.s"])


def cut(prose: str) -> Iterator[str]:
    """The sentences of one paragraph whose white space is collapsed."""
    start = 0
    for match in (_ASCII_END if prose.isascii() else _END).finditer(prose):
        if prose[match.start()] == "." and _is_abbreviation(prose, match):
            continue
        if match.end() < len(prose):
            yield prose[start : match.end()].rstrip()
            start = match.end()
    if start < len(prose):
        yield prose[start:]


def _is_abbreviation(prose: str, dot: re.Match[str]) -> bool:
    """Whether the full stop belongs to the word before it, as in `e.g.` and `J. Smith`."""
    before = _LAST_WORD.search(prose, max(0, dot.start() - 12), dot.start())
    word = before[0] if before else ""
    following = prose[dot.end() : dot.end() + 1]
    if len(word) == 1 and word.isupper() and following.isupper():
        return word not in "IABCXYZ"  # An initial; but "plan B. Then" and "so do I. Then" are two sentences.
    low = word.lower()
    if low in _NEVER_LAST:
        return True
    if low in _NOT_BEFORE_NUMBER:
        return following.isdigit()
    return low in _NOT_BEFORE_LOWER and following.islower()
