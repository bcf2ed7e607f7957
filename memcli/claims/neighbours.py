"""Which of many claims are worth comparing: those that share their rarest terms."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence

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
    holding: dict[str, list[int]] = {}
    for place, claim in enumerate(claims):
        for term in claim.terms:
            holding.setdefault(term, []).append(place)
    weight = {term: math.log(1 + len(claims) / len(places)) for term, places in holding.items()}
    totals = [sum(weight[term] for term in claim.terms) for claim in claims]
    for place, claim in enumerate(claims):
        shared: dict[int, float] = {}
        rarest = sorted(claim.terms, key=lambda term: (len(holding[term]), term))[:_RAREST]
        for term in rarest:
            if len(holding[term]) <= _MOST_SHARING:
                for other in holding[term]:
                    if other < place and (wanted is None or place in wanted or other in wanted):
                        shared[other] = shared.get(other, 0.0) + weight[term]
        best = sorted(shared, key=lambda other: (-shared[other] / (totals[other] or 1.0), other))[:_NEAREST]
        for other in best:
            if shared[other] >= _SHARE * min(totals[place], totals[other]):
                yield place, other
