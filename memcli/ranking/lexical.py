"""BM25F: how well the words of a memory answer those of a question, with a weight for each field.

S. Robertson, H. Zaragoza: "The Probabilistic Relevance Framework: BM25 and Beyond", 2009, section 3.6;
the inverse document frequency is that of Lucene, which is never negative.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from memcli.model.recall import TermStats

FIELD_WEIGHTS = (2.0, 2.0, 0.5, 1.0, 1.0)
"""What one occurrence in each of FIELDS counts: path, tags, summary, raw, content."""


@dataclass(frozen=True, slots=True)
class Saturation:
    """`k1`: how soon more of the same word stops counting. `b`: how much long fields are discounted, 0..1."""

    k1: float
    b: float


TALK = Saturation(0.6, 0.3)
PROSE = Saturation(1.2, 0.75)
CODE = Saturation(1.5, 0.75)
_BY_KIND: Mapping[str, Saturation] = {"log": TALK, "episode": TALK, "diff": CODE, "code": CODE, "config": CODE}


def saturation(kind: str) -> Saturation:
    """The parameters for text of this kind."""
    return _BY_KIND.get(kind, PROSE)


def bm25f(stats: TermStats, kinds: Mapping[int, str]) -> dict[int, float]:
    """The score of each row of `stats`; `kinds` gives the kind of each. Rows without any of the words are left out."""
    weights = {term: _idf(stats.size, n) for term, n in stats.frequencies.items() if n}
    scores: dict[int, float] = {}
    for row, counts in stats.counts.items():
        if not counts:
            continue
        tuned = saturation(kinds[row])
        norms = [
            weight / (1 - tuned.b + tuned.b * length / average) if average else 0.0
            for weight, length, average in zip(FIELD_WEIGHTS, stats.lengths[row], stats.averages, strict=True)
        ]
        score = 0.0
        for term in stats.frequencies:
            if term in counts:
                found = sum(n * norm for n, norm in zip(counts[term], norms, strict=True))
                score += weights[term] * found * (tuned.k1 + 1) / (found + tuned.k1)
        scores[row] = score
    return scores


def coverage(stats: TermStats) -> dict[int, float]:
    """The share of the question's weight (inverse document frequency) that stands in each row; 0..1."""
    weights = {term: _idf(stats.size, n) for term, n in stats.frequencies.items()}
    total = sum(weights.values())
    if not total:
        return dict.fromkeys(stats.counts, 0.0)
    return {row: sum(weights[t] for t in weights if t in counts) / total for row, counts in stats.counts.items()}


def _idf(size: int, frequency: int) -> float:
    return math.log(1 + (size - frequency + 0.5) / (frequency + 0.5))
