"""Whether one text says what others said: each of their values, what they deny, and little that none of them says."""

from __future__ import annotations

from collections.abc import Sequence

from memcli.claims.claim import claim_of_text
from memcli.claims.values import missing, values_of
from memcli.model.analysis import terms
from memcli.regex import regex

_NUMBER = regex(r"\d+(?:[.,:]\d+)*")
_LEAST_SHARE = 0.5
"""Of the words of each of the others, and of the words of the text itself."""


def lacking(text: str, said: Sequence[str]) -> str:
    """What is wrong with `text` as the one that says all of `said`; empty where nothing is. It counts words: what a reader
    would find is more than it finds."""
    there = frozenset(_NUMBER.findall(text))
    before = frozenset(number for one in said for number in _NUMBER.findall(one))
    if lost := sorted(before - there):
        return f"the new text lacks the number {lost[0]}"
    if new := sorted(there - before):
        return f"the new text has the number {new[0]}, which neither text has"
    denials = [_denials(one) for one in said]
    if _denials(text) < max(denials, default=0):
        return "the new text does not deny or forbid what a text denied or forbade"
    if _denials(text) and not any(denials):
        return "the new text denies what neither text denied"
    words, others = frozenset(terms(text)), [frozenset(terms(one)) for one in said]
    if any(len(one & words) < _LEAST_SHARE * len(one) for one in others):
        return "the new text lacks most words of a text"
    if len(words & frozenset().union(*others)) < _LEAST_SHARE * len(words):
        return "most words of the new text are in neither text"
    value = next(filter(None, (missing(values_of(text), values_of(one)) for one in said)), "")
    return f"the new text lacks {value}" if value else ""


def _denials(text: str) -> int:
    return sum(one.sign < 0 for one in claim_of_text(text).statements)
