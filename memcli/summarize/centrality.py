"""How much of a text each of its sentences stands for."""

from __future__ import annotations

import re
from collections.abc import Sequence
from math import sqrt

from memcli.model.analysis import terms

_ROUNDS = 3
_FIRST = 1.35
_EARLY = 1.5
"""How much more the first sentence of a long text counts, and the next ones by and by less."""
LONG = 8
"""A text of more sentences than this is a document rather than a note."""
_QUESTION, _LEAD_IN, _DANGLING, _FRAGMENT, _ADDRESS = 0.6, 0.5, 0.8, 0.6, 0.4
_SHORT_TERMS = 4
_SHORT = 40
_DANGLES = re.compile(
    r"(?:this|that|these|those|it|they|he|she|however|also|but|so|then|and|or|for example|otherwise|instead|moreover|"
    r"additionally|furthermore|similarly|see|for more|note|thanks|hi|hello)\b",
    re.IGNORECASE,
)


def scores(texts: Sequence[str], sets: Sequence[frozenset[str]], context: str = "") -> list[float]:
    """One score for each text, given the terms of each; rounded, so that machines agree on the order.

    Sentences and the terms they share lend each other weight for a few rounds. This is the eigenvector of sentence
    overlap, as TextRank has it, in time linear in the words. `context` is a title: its terms weigh double.
    """
    groups = [sorted(group) for group in sets]  # A total order: the sum of floats depends on it.
    weights: dict[str, float] = dict.fromkeys((term for group in groups for term in group), 1.0)
    sums: list[float] = []
    for turn in range(_ROUNDS):
        sums = [sum([weights[term] for term in group]) / sqrt(len(group) + _SHORT_TERMS) for group in groups]
        if turn < _ROUNDS - 1:
            weights = _spread(groups, sums, weights)
            if turn == 0:
                _double(weights, context)
    best = max(sums, default=0.0) or 1.0
    return [
        round(sqrt(value / best) * _manner(text, n, len(texts)), 6)
        for n, (text, value) in enumerate(zip(texts, sums, strict=True))
    ]


def _spread(sets: Sequence[Sequence[str]], sums: Sequence[float], weights: dict[str, float]) -> dict[str, float]:
    """The weight of each term after one round: what the sentences that use it weigh, the heaviest being 1."""
    spread = dict.fromkeys(weights, 0.0)
    for group, value in zip(sets, sums, strict=True):
        for term in group:
            spread[term] += value
    best = max(spread.values(), default=0.0) or 1.0
    return {term: value / best for term, value in spread.items()}


def _double(weights: dict[str, float], context: str) -> None:
    for term in terms(context):
        if term in weights:
            weights[term] *= 2


def _manner(text: str, position: int, count: int) -> float:
    """What the place and manner of a sentence do to its score."""
    factor = 1 + _EARLY / (1 + position / 2) if count > LONG else _FIRST if position == 0 else 1.0
    if text.endswith("?"):
        factor *= _QUESTION
    elif text.endswith(":"):
        factor *= _LEAD_IN
    elif position and count > LONG and (text[0].islower() or (text[-1].isalnum() and len(text) < _SHORT)):
        factor *= _FRAGMENT
    if "://" in text:
        factor *= _ADDRESS
    if position and _DANGLES.match(text):
        factor *= _DANGLING
    return factor
