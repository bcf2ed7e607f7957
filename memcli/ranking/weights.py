"""What a query changes in how scores are made: `--weights`, `--recency-bias`, preferences."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from functools import lru_cache

from memcli.clock import days_between
from memcli.errors import UsageError
from memcli.model.recall import Entry, Hit, Query, in_order

COMPONENTS = ("semantic", "keyword", "recency", "importance", "access")
"""The names that `--weights` knows. A backend without such a part has nothing to weigh by it."""

RECENCY_DAYS = 30.0
PREFERENCE = 0.1
"""What a preferred kind or tag adds, where scores go from 0 to about 1."""


def factors(query: Query, own: Mapping[str, float]) -> dict[str, float]:
    """For each component what to multiply its parts by, so that it weighs what the query asks instead of `own`.

    `own` is what each component of a backend weighs, above 0. Raises UsageError.
    """
    check(query)
    return {name: query.weights.get(name, weight) / weight for name, weight in own.items()}


def check(query: Query) -> None:
    """Raises UsageError when the query asks for weights that there are not."""
    unknown = sorted(query.weights.keys() - set(COMPONENTS))
    if unknown:
        raise UsageError(f"unknown weight {unknown[0]!r}", f"known: {', '.join(COMPONENTS)}")
    for name, weight in query.weights.items():
        if not 0 <= weight < math.inf:
            raise UsageError(f"the weight of {name} is {weight}", "use a number of 0 or more, such as .4")
    if query.recency_bias is not None and not 0 <= query.recency_bias <= 1:
        raise UsageError(f"the recency bias is {query.recency_bias}", "use a number from 0 to 1")


def ordered(hits: Iterable[Hit], query: Query) -> tuple[Hit, ...]:
    """The hits, best first; with a recency bias `b` each score is `(1 - b) * score + b * recency * the best score`.

    So it is weighed in SPEC 6.4, on whatever scale the backend has.
    """
    check(query)
    found = list(hits)
    bias = query.recency_bias
    if not bias or not found:
        return tuple(in_order(found))
    high = max(hit.score for hit in found)
    return tuple(in_order(_biased(hit, bias, high * recency(hit.entry, query)) for hit in found))


def recency(entry: Entry, query: Query) -> float:
    """`exp(-age / 30 days)`: 1 for what was recorded now, 0 for what is old. SPEC 6.3."""
    return _decayed(entry.created_at, query.now)


@lru_cache(maxsize=20_000)
def _decayed(moment: str, now: str) -> float:
    return math.exp(-days_between(moment, now) / RECENCY_DAYS)


def preferences(entry: Entry, query: Query) -> dict[str, float]:
    """The parts for a preferred kind and a preferred tag."""
    parts = {}
    if entry.kind in query.prefer_kinds:
        parts["prefer_kind"] = PREFERENCE
    if any(tag in entry.tags for tag in query.prefer_tags):
        parts["prefer_tag"] = PREFERENCE
    return parts


def _biased(hit: Hit, bias: float, added: float) -> Hit:
    why = {name: (1 - bias) * part for name, part in hit.why.items()} | {"recency_bias": bias * added}
    return Hit(hit.entry, sum(why.values()), why)
