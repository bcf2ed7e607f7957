"""Word diffs: removed words in [-brackets-], added words in {+braces+}."""

from __future__ import annotations

import re
from collections.abc import Sequence

_WORDS = re.compile(r"\s+|\w+|[^\w\s]")
_LINES = re.compile(r"[^\n]*\n|[^\n]+")
_MOST_PIECES = 1000
"""More pieces than this are not compared one by one: the time would grow with the square of them."""
_CONTEXT = 40  # characters
_MOST_CHANGED = 200


def word_diff(before: str, after: str) -> str:
    """The change from `before` to `after`, with some context around each change."""
    for pieces in (_WORDS, _LINES):
        old, new = pieces.findall(before), pieces.findall(after)
        start, end = _common(old, new)
        left, right = old[start : len(old) - end], new[start : len(new) - end]
        if max(len(left), len(right)) <= _MOST_PIECES:
            head, tail = "".join(old[:start]), "".join(old[len(old) - end :])
            return _shorten_before(head) + _changes(left, right) + _shorten_after(tail)
    return f"[-{len(before)} characters-]{{+{len(after)} characters+}}"


def _common(old: Sequence[str], new: Sequence[str]) -> tuple[int, int]:
    """The number of equal pieces at the beginning and, beyond those, at the end."""
    most = min(len(old), len(new))
    start = next((n for n in range(most) if old[n] != new[n]), most)
    rest = most - start
    return start, next((n for n in range(rest) if old[-1 - n] != new[-1 - n]), rest)


def _changes(old: Sequence[str], new: Sequence[str]) -> str:
    from difflib import SequenceMatcher

    told = []
    for what, a, b, c, d in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if what == "equal":
            told.append(_shorten_middle("".join(old[a:b])))
            continue
        gone, come = (_shorten_middle("".join(part), _MOST_CHANGED) for part in (old[a:b], new[c:d]))
        told.append((f"[-{gone}-]" if gone else "") + (f"{{+{come}+}}" if come else ""))
    return "".join(told)


def _shorten_before(text: str) -> str:
    return text if len(text) <= _CONTEXT else f"…{text[-_CONTEXT:]}"


def _shorten_after(text: str) -> str:
    return text if len(text) <= _CONTEXT else f"{text[:_CONTEXT]}…"


def _shorten_middle(text: str, most: int = _CONTEXT) -> str:
    return text if len(text) <= 2 * most else f"{text[:most]}…{text[-most:]}"
