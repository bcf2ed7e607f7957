"""Which of many claims are worth comparing: those that share their rarest terms."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import reduce
from itertools import chain
from operator import add

from memcli.claims.claim import Claim, ClaimTerms

_RAREST = 6
_MOST_SHARING = 300
"""A term that more claims share finds none of them."""
_NEAREST = 8
_SHARE = 0.3


def neighbours(
    claims: Sequence[Claim | ClaimTerms], wanted: Collection[int] | None = None
) -> Iterator[tuple[int, int]]:
    """The places of two claims that share enough, the later one first; of which one is `wanted`, when that is given."""
    counts = Counter(chain.from_iterable(claim.terms for claim in claims))
    weight = {term: math.log(1 + len(claims) / count) for term, count in counts.items()}
    totals = [sum(map(weight.__getitem__, claim.terms)) for claim in claims]
    searched = _searched(claims, counts, weight, totals)
    asked = frozenset(chain.from_iterable(searched.values()))
    holding: dict[str, list[int]] = {term: [] for term in asked}  # earlier claims alone
    for place, claim in enumerate(claims):
        shared: dict[int, float] = {}
        for term in searched.get(place, ()):
            for other in holding[term]:
                if wanted is None or place in wanted or other in wanted:
                    shared[other] = shared.get(other, 0.0) + weight[term]
        for term in asked.intersection(claim.terms):
            holding[term].append(place)
        if any(both >= _SHARE * min(totals[place], totals[other]) for other, both in shared.items()):
            best = sorted(shared, key=lambda other: (-shared[other] / (totals[other] or 1.0), other))[:_NEAREST]
            for other in best:
                if shared[other] >= _SHARE * min(totals[place], totals[other]):
                    yield place, other


def _searched(
    claims: Sequence[Claim | ClaimTerms],
    counts: Mapping[str, int],
    weight: Mapping[str, float],
    totals: Sequence[float],
) -> dict[int, list[str]]:
    """The rarest terms of each claim, by its place, but for those that cannot share enough with any other."""
    ranks = {term: n for n, term in enumerate(sorted(counts, key=lambda term: (counts[term], term)))}
    least: dict[str, float] = {}  # of each term the smallest total of a claim that has it
    for place in sorted(range(len(claims)), key=totals.__getitem__, reverse=True):
        least.update(dict.fromkeys(claims[place].terms, totals[place]))
    found: dict[int, list[str]] = {}
    for place, claim in enumerate(claims):
        rarest = sorted(claim.terms, key=ranks.__getitem__)[:_RAREST]
        terms = [term for term in rarest if counts[term] <= _MOST_SHARING]
        if terms and reduce(add, map(weight.__getitem__, terms)) >= _SHARE * min(least[term] for term in terms):
            found[place] = terms
    return found
