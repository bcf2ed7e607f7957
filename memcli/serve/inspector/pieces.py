"""Texts in pieces: those that match a question, and those that an edit removed or added."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher

from memcli.model.analysis import query_terms, terms
from memcli.record import Record

SAME, ADDED, REMOVED = "same", "added", "removed"
_WORDS = re.compile(r"\w+(?:[.'’_-]\w+)*")
_PIECES = re.compile(r"\s+|\w+|[^\w\s]")
_LINES = re.compile(r"[^\n]*\n|[^\n]+")
_MOST_PIECES = 1_500
"""More than this are not compared one by one: the time would grow with the square of them."""
_LONGEST = 20_000
"""Characters in which the words of a question are marked."""


class TextPiece(Record):
    """A part of a text, and what became of it."""

    text: str
    state: str = SAME


def marked(text: str, query: str) -> list[tuple[str, bool]]:
    """`text` in parts, each with whether it is a word that `query` has too, in any of its forms."""
    wanted = set(query_terms(query))
    if not wanted or not text:
        return [(text, False)]
    parts: list[tuple[str, bool]] = []
    end = 0
    for match in _WORDS.finditer(text, 0, _LONGEST):
        if wanted.isdisjoint(terms(match[0])):
            continue
        parts += [(text[end : match.start()], False), (match[0], True)]
        end = match.end()
    return [part for part in [*parts, (text[end:], False)] if part[0]]


def difference(before: str, after: str) -> list[TextPiece]:
    """What an edit from `before` to `after` removed and added: by words, in long texts by lines, in huge ones as wholes."""
    for pattern in (_PIECES, _LINES):
        old, new = pattern.findall(before), pattern.findall(after)
        start, end = _common(old, new)
        left, right = old[start : len(old) - end], new[start : len(new) - end]
        if max(len(left), len(right)) <= _MOST_PIECES:
            middle = list(_compared(left, right))
            ends = TextPiece("".join(old[:start])), TextPiece("".join(old[len(old) - end :]))
            return [piece for piece in (ends[0], *middle, ends[1]) if piece.text]
    return [TextPiece(before, REMOVED), TextPiece(after, ADDED)]


def _common(old: Sequence[str], new: Sequence[str]) -> tuple[int, int]:
    """The number of equal parts at the beginning and, beyond those, at the end."""
    most = min(len(old), len(new))
    start = next((n for n in range(most) if old[n] != new[n]), most)
    rest = most - start
    return start, next((n for n in range(rest) if old[-1 - n] != new[-1 - n]), rest)


def _compared(old: Sequence[str], new: Sequence[str]) -> Iterator[TextPiece]:
    for what, a, b, c, d in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if what == "equal":
            yield TextPiece("".join(old[a:b]))
        else:
            yield TextPiece("".join(old[a:b]), REMOVED)
            yield TextPiece("".join(new[c:d]), ADDED)
