"""`hybrid`: the points of `basic`, and a graph of what memories name: rare names shared with the topic, with pinned
memories, and with the memories that answer best.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from memcli.model.analysis import query_terms
from memcli.model.recall import Entry, Hit, Query, Ranking, RowSet
from memcli.ranking.entities import Entities, entities_of
from memcli.ranking.memo import Memo
from memcli.ranking.points import FIELD_POINTS, points
from memcli.ranking.weights import ordered

if TYPE_CHECKING:
    from memcli.ports.views import Rankable

ENTITY_POINTS = 1.0
"""For an entity of the topic that only one memory of very many names."""
PINNED_POINTS = 0.5
"""The same for an entity of pinned memories, at most; it makes nothing match."""
SPREAD_SHARE = 0.4
"""What the rarest tie hands on of the points that the topic has given the other memory."""
SOURCES = 20
"""So many of the best answers hand on to others."""

_TOPICAL = (*FIELD_POINTS, "entities")


class HybridRanker:
    """Points of words and entities, and one step from the best answers over the rare entities that they share.

    `--weights` work as in `basic`.
    """

    def __init__(self) -> None:
        self._kept: Memo[tuple[Mapping[int, Entry], Entities]] = Memo()

    def rank(self, query: Query, view: Rankable) -> Ranking:
        visible = view.visible(query)
        entries, graph = self._kept.get(view, visible, lambda: _build(view, visible))
        words = query_terms(query.topic)
        stats = view.lexical(words, max(1, view.size))
        topic = dict.fromkeys(words, 1.0)
        named = {row for word in words for row in graph.rows(word) if graph.rarity(word) > 0}
        parts = {}
        for row in (row for row in {*stats.counts, *named} if row in visible):
            parts[row] = points(entries[row], stats.counts.get(row, {}), query)
            parts[row]["entities"] = ENTITY_POINTS * graph.overlap(row, topic)
        _add_pinned(parts, graph, {row for row in view.pinned() if row in visible})
        _add_spread(parts, graph, entries, query)
        hits = (
            Hit(entries[row], sum(why.values()), {name: part for name, part in why.items() if part})
            for row, why in parts.items()
        )
        return Ranking(ordered(hits, query))


def _build(view: Rankable, visible: RowSet) -> tuple[Mapping[int, Entry], Entities]:
    entries = {row: entry for row, entry in view.entries().items() if row in visible}
    known = view.terms()
    return entries, Entities({row: entities_of(entry, known[row]) for row, entry in entries.items()})


def _add_pinned(parts: Mapping[int, dict[str, float]], graph: Entities, pinned: set[int]) -> None:
    """The best-shared entity counts, not their number: many pins must not drown the topic."""
    wanted = {name for row in pinned for name in graph.of(row)}
    for row, why in parts.items():
        if row not in pinned:
            shared = max((graph.rarity(name) for name in graph.of(row) if name in wanted), default=0.0)
            why["pinned_entities"] = PINNED_POINTS * shared


def _add_spread(
    parts: dict[int, dict[str, float]], graph: Entities, entries: Mapping[int, Entry], query: Query
) -> None:
    scores = {row: sum(why.get(part, 0.0) for part in _TOPICAL) for row, why in parts.items()}
    best = sorted(scores, key=lambda row: (-round(scores[row], 6), entries[row].id))[:SOURCES]
    for row, gain in graph.spread({row: scores[row] for row in best}).items():
        if row not in parts:
            parts[row] = points(entries[row], {}, query)
        parts[row]["spread"] = SPREAD_SHARE * gain
