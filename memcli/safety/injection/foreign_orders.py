"""Orders to an agent in other languages than English."""

from __future__ import annotations

from functools import cache

from memcli.safety.injection.foreign_rules import LANGUAGES, NEGATED_AFTER, NEGATED_BEFORE, NEGATIONS
from memcli.safety.injection.readings import fold, without_accents
from memcli.safety.injection.rule import Near

_BEFORE, _AFTER = 14, 12
_STOPS = (". ", "; ", "! ", "? ", "\n\n", "。", "！")


def is_foreign_order(low: str, row: int) -> bool:
    """Whether `low`, which has a word of each group of the row, gives an agent the order that the row describes."""
    return _is_near(rows()[row], low)


@cache
def rows() -> list[Near]:
    """Every row as a reading would have it."""
    return [Near(tuple(tuple(map(_folded, group)) for group in near.groups), near.within) for near in LANGUAGES]


def _folded(word: str) -> str:
    """`word` as a reading has it; a blank at its end stays, for it says that the word ends there."""
    return fold(without_accents(word)) + " " * word.endswith(" ")


def _is_near(near: Near, low: str) -> bool:
    first, *others = near.groups
    for word in first:
        at = low.find(word)
        while at >= 0:
            end = at + len(word)
            window = _sentence(low[max(0, at - near.within) : at], low[end : end + near.within], word)
            if all(any(other in window for other in group) for group in others) and not _is_negated(low, at, end):
                return True
            at = low.find(word, end)
    return False


def _sentence(before: str, after: str, word: str) -> str:
    """`word` with what stands before and after it in the same sentence."""
    start = max(before.rfind(stop) + len(stop) for stop in _STOPS if stop in before) if _has_stop(before) else 0
    ends = [at for stop in _STOPS if (at := after.find(stop)) >= 0]
    return before[start:] + word + after[: min(ends, default=len(after))]


def _has_stop(text: str) -> bool:
    return any(stop in text for stop in _STOPS)


def _is_negated(low: str, at: int, end: int) -> bool:
    """Whether a word for "not" stands beside the one at `at`."""
    before = low[max(0, at - _BEFORE) : at]
    if before.rstrip().endswith(NEGATED_BEFORE) or (before.split()[-1:] and before.split()[-1] in NEGATIONS):
        return True
    after = f"{low[end : end + _AFTER]} "
    return any(word in after for word in NEGATED_AFTER)
