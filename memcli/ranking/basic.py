"""`basic`: relevance, pins, preferences, and the words of the topic in path, summaries and text. No model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memcli.model.analysis import query_terms
from memcli.model.recall import Hit, Query, Ranking
from memcli.ranking.points import points
from memcli.ranking.weights import ordered

if TYPE_CHECKING:
    from memcli.ports.views import Rankable


class BasicRanker:
    """Points for each word of the topic and each field that it stands in; a memory with none does not match.

    `--weights keyword=` multiplies the points of words, `importance=` those of relevance.
    """

    def rank(self, query: Query, view: Rankable) -> Ranking:
        stats = view.lexical(query_terms(query.topic), max(1, view.size))
        visible = view.visible(query)
        entries = view.entries([row for row in stats.counts if row in visible])
        parts = {row: points(entry, stats.counts[row], query) for row, entry in entries.items()}
        return Ranking(ordered((Hit(entries[row], sum(why.values()), why) for row, why in parts.items()), query))
