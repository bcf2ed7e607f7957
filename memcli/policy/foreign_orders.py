"""Orders to an agent in other languages than English."""

from __future__ import annotations

from functools import cache

from memcli.policy.foreign_rules import LANGUAGES, NEGATED_AFTER, NEGATED_BEFORE, NEGATIONS
from memcli.policy.injection_rule import Near
from memcli.policy.readings import fold, has_other_scripts, without_accents

_HEAD = 5
_BEFORE, _AFTER = 14, 12
_STOPS = (". ", "; ", "! ", "? ", "\n\n", "。", "！")


def is_foreign_order(low: str, heads: set[str]) -> bool:
    """Whether `low`, whose words begin with `heads`, gives an agent an order in one of the languages."""
    rows = {number for head in heads & _heads().keys() for number in _heads()[head]}
    if not low.isascii() and has_other_scripts(low):
        rows.update(number for number, (_, starts) in enumerate(_table()) if not starts)
    return any(_is_near(_table()[number][0], low) for number in rows)


@cache
def _table() -> list[tuple[Near, frozenset[str]]]:
    """Each row with what its first words begin with; nothing for scripts that are not Latin."""
    table = []
    for near in LANGUAGES:
        groups = tuple(tuple(_folded(word) for word in group) for group in near.groups)
        is_latin = groups[0][0] < "\u0370"
        heads = frozenset(word.split()[0].partition("'")[0][:_HEAD] for word in groups[0]) if is_latin else frozenset()
        table.append((Near(groups, near.within), heads))
    return table


def _folded(word: str) -> str:
    """`word` as a reading has it; a blank at its end stays, for it says that the word ends there."""
    return fold(without_accents(word)) + " " * word.endswith(" ")


@cache
def _heads() -> dict[str, list[int]]:
    """The rows in Latin script by what their first words begin with."""
    found: dict[str, list[int]] = {}
    for number, (_, starts) in enumerate(_table()):
        for head in starts:
            found.setdefault(head, []).append(number)
    return found


def _is_near(near: Near, low: str) -> bool:
    first, *others = near.groups
    if not all(any(word in low for word in group) for group in near.groups):
        return False
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
