"""Points for a memory: relevance, pin, preferences, and each word of the topic in each field that it stands in."""

from __future__ import annotations

from collections.abc import Mapping

from memcli.model.recall import FIELDS, Entry, Query
from memcli.ranking.weights import factors

RELEVANCE: Mapping[str, float] = {"high": 3.0, "medium": 2.0, "low": 1.0}
PINNED = 2.0
FIELD_POINTS: Mapping[str, float] = {"path": 3.0, "tags": 2.0, "summary": 2.0, "raw": 1.0, "content": 1.0}
PREFERRED_KIND = 1.5
PREFERRED_TAG = 1.0
OWN_WEIGHTS: Mapping[str, float] = {"keyword": 1.0, "importance": 1.0}
"""What words and relevance count unless the query says otherwise (`--weights`)."""


def points(entry: Entry, counts: Mapping[str, tuple[int, ...]], query: Query) -> dict[str, float]:
    """The parts of the score; `counts[term]` is how often each word of the topic stands in each of FIELDS."""
    weights = factors(query, OWN_WEIGHTS)
    why = {"relevance": weights["importance"] * RELEVANCE.get(entry.relevance, RELEVANCE["medium"])}
    for n, field in enumerate(FIELDS):
        found = FIELD_POINTS[field] * sum(1 for numbers in counts.values() if numbers[n])
        if found:
            why[field] = weights["keyword"] * found
    if entry.pinned:
        why["pinned"] = PINNED
    if entry.kind in query.prefer_kinds:
        why["prefer_kind"] = PREFERRED_KIND
    shared = sum(1 for tag in query.prefer_tags if tag in entry.tags)
    if shared:
        why["prefer_tag"] = PREFERRED_TAG * shared
    return why
