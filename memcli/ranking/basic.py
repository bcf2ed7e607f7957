"""`basic`: relevance, pins, preferences, and the words of the topic in path, summaries and text. No model."""

from __future__ import annotations

from collections.abc import Mapping

from memcli.model.analysis import query_terms
from memcli.model.recall import FIELDS, Entry, Hit, Query, Ranking, in_order
from memcli.ports import SpaceView

RELEVANCE: Mapping[str, float] = {"high": 3.0, "medium": 2.0, "low": 1.0}
PINNED = 2.0
FIELD_POINTS: Mapping[str, float] = {"path": 3.0, "tags": 2.0, "summary": 2.0, "raw": 1.0, "content": 1.0}
PREFERRED_KIND = 1.5
PREFERRED_TAG = 1.0


class BasicRanker:
    """Points for each word of the topic and each field that it stands in; a memory with none does not match."""

    def rank(self, query: Query, view: SpaceView) -> Ranking:
        stats = view.lexical(query_terms(query.topic), max(1, view.size))
        visible = view.visible(query)
        entries = view.entries([row for row in stats.counts if row in visible])
        hits = [_score(entry, stats.counts[row], query) for row, entry in entries.items()]
        return Ranking(tuple(in_order(hits)))


def _score(entry: Entry, counts: Mapping[str, tuple[int, ...]], query: Query) -> Hit:
    why = {"relevance": RELEVANCE.get(entry.relevance, RELEVANCE["medium"])}
    for n, field in enumerate(FIELDS):
        points = FIELD_POINTS[field] * sum(1 for found in counts.values() if found[n])
        if points:
            why[field] = points
    if entry.pinned:
        why["pinned"] = PINNED
    if entry.kind in query.prefer_kinds:
        why["prefer_kind"] = PREFERRED_KIND
    shared = sum(1 for tag in query.prefer_tags if tag in entry.tags)
    if shared:
        why["prefer_tag"] = PREFERRED_TAG * shared
    return Hit(entry, sum(why.values()), why)
