"""What a list of answers is worth: recall, reciprocal rank, normalised discounted cumulative gain."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence

SHOWN = ("R@1", "R@5", "R@10", "R@50", "MRR", "nDCG@10")
DEPTH = 50


def score(ranked: Sequence[str], relevant: Collection[str]) -> dict[str, float]:
    """The metrics of one question; `ranked` are ids, best first, of which a second mention does not count."""
    hits = [name in relevant for name in dict.fromkeys(ranked)][:DEPTH]
    found: dict[str, float] = {f"R@{k}": sum(hits[:k]) / len(relevant) for k in (1, 5, 10, 50)}
    found["MRR"] = next((1 / place for place, hit in enumerate(hits, 1) if hit), 0.0)
    best = sum(_gain(place) for place in range(min(10, len(relevant))))
    found["nDCG@10"] = sum(_gain(place) for place, hit in enumerate(hits[:10]) if hit) / best
    return found


def mean(scores: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """The mean of each metric over all questions."""
    return {name: sum(one[name] for one in scores) / len(scores) for name in SHOWN}


def _gain(place: int) -> float:
    return 1 / math.log2(place + 2)
