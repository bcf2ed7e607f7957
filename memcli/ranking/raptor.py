"""`raptor`: the topic against all nodes of a tree, memories and summaries of clusters alike, and recency.

The collapsed-tree retrieval of RAPTOR (see `tree.py`): a cluster hands on to its members what speaks for it, the
nearest cluster most. Every component of a score goes from 0 to 1 before it is weighed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from memcli.model.analysis import query_terms
from memcli.model.recall import Entry, Hit, Query, Ranking, RowSet, TermStats
from memcli.ranking.lexical import bm25f, idf
from memcli.ranking.memo import Memo
from memcli.ranking.style import style_of
from memcli.ranking.tree import ClusterNode, summary_tree
from memcli.ranking.weights import factors, ordered, preferences, recency
from memcli.record import Record

if TYPE_CHECKING:
    from memcli.ports.views import Rankable

CANDIDATES = 400
OWN_WEIGHTS: Mapping[str, float] = {"keyword": 0.5, "semantic": 0.5, "recency": 0.05}
"""What words, meaning and recency count unless the query says otherwise (`--weights`)."""
CLUSTER_WEIGHT = 0.3
"""What the clusters of a memory count, beside its own words and meaning."""
CLUSTER_DECAY = 0.7
"""What a cluster counts, as a share of the one below it."""
PINNED = 0.1
LEAST_COSINE = 0.4
"""From here on meaning alone makes a memory match."""
LEAST_CLUSTER = 0.5
"""A memory matches without a word of its own when this share of the topic stands in its clusters' summaries."""
SUMMARY_TERMS = 48
"""The terms of a memory that the tree is built of, beside those of its path, tags and source."""


class _RaptorScores(Record):
    """What speaks for rows, each from 0 to 1."""

    words: Mapping[int, float]
    meaning: Mapping[int, float]
    cosines: Mapping[int, float]


class RaptorRanker:
    """Own words and meaning, a share of what the clusters above say, recency and pins.

    `--weights` sets `keyword` and `semantic` (of memories and of clusters) and `recency`.
    """

    def __init__(self) -> None:
        self._trees: Memo[tuple[Mapping[int, Entry], ClusterNode]] = Memo()

    def rank(self, query: Query, view: Rankable) -> Ranking:
        visible = view.visible(query)
        stats = view.lexical(query_terms(query.topic), CANDIDATES)
        dense = view.dense([query.topic], query.deadline)
        if not len(visible):
            return Ranking(is_degraded=dense is None)
        entries, tree = self._trees.get(view, visible, lambda: _build(view, visible))
        weights = factors(query, OWN_WEIGHTS)
        scores = _scores(stats, dense[0].by_row() if dense else {}, entries)
        clusters = _handed_down(tree, stats, scores, weights)
        hits = []
        for row, entry in entries.items():
            words, meaning = scores.words.get(row, 0.0), scores.meaning.get(row, 0.0)
            cluster, overlap = clusters.get(row, (0.0, 0.0))
            if not words and scores.cosines.get(row, 0.0) < LEAST_COSINE and overlap < LEAST_CLUSTER:
                continue
            why = {
                "words": weights["keyword"] * OWN_WEIGHTS["keyword"] * words,
                "meaning": weights["semantic"] * OWN_WEIGHTS["semantic"] * meaning,
                "cluster": CLUSTER_WEIGHT * cluster,
                "recency": weights["recency"] * OWN_WEIGHTS["recency"] * recency(entry, query),
                "pinned": PINNED * entry.pinned,
                **preferences(entry, query),
            }
            hits.append(Hit(entry, sum(why.values()), {name: part for name, part in why.items() if part}))
        return Ranking(ordered(hits, query), is_degraded=dense is None)


def _build(view: Rankable, visible: RowSet) -> tuple[Mapping[int, Entry], ClusterNode]:
    entries = {row: entry for row, entry in view.entries().items() if row in visible}
    known = view.terms()
    texts = {}
    for row in sorted(entries, key=lambda row: entries[row].id):
        path, tags, source, summary = known[row]
        texts[row] = (*path, *tags, *source, *summary[:SUMMARY_TERMS])
    return entries, summary_tree(texts)


def _scores(stats: TermStats, cosines: Mapping[int, float], entries: Mapping[int, Entry]) -> _RaptorScores:
    counts = {row: found for row, found in stats.counts.items() if row in entries}
    styles = {row: style_of(entries[row]) for row in counts}
    words = bm25f(TermStats(stats.size, stats.frequencies, counts, stats.lengths), styles)
    seen = {row: cosines[row] for row in entries if row in cosines}
    low, high = min(seen.values(), default=0.0), max(seen.values(), default=0.0)
    best = max(words.values(), default=0.0) or 1.0
    return _RaptorScores(
        {row: score / best for row, score in words.items()},
        {row: (cosine - low) / max(high - low, 1e-9) for row, cosine in seen.items()},
        seen,
    )


def _handed_down(
    tree: ClusterNode, stats: TermStats, scores: _RaptorScores, weights: Mapping[str, float]
) -> dict[int, tuple[float, float]]:
    """For each row what its clusters say for it, and the largest share of the topic in one of their summaries.

    The root is left out: what is said of all memories speaks for none.
    """
    rarity = {term: idf(stats.size, n) for term, n in stats.frequencies.items()}
    total = sum(rarity.values()) or 1.0
    known = {term: weight for term, weight in rarity.items() if stats.frequencies[term]}
    found: dict[int, tuple[float, float]] = {}
    waiting = [(part, 0.0, 0.0) for part in tree.parts]
    while waiting:
        node, above, most = waiting.pop()
        overlap = sum(weight * node.shares.get(term, 0.0) for term, weight in known.items()) / total
        # The middle of a cluster lies as near to the topic as its members do on average.
        meaning = sum(scores.meaning.get(row, 0.0) for row in node.members) / len(node.members)
        own = (
            weights["keyword"] * OWN_WEIGHTS["keyword"] * overlap
            + weights["semantic"] * OWN_WEIGHTS["semantic"] * meaning
        )
        said, most = (1 - CLUSTER_DECAY) * own + CLUSTER_DECAY * above, max(most, overlap)
        waiting += [(part, said, most) for part in node.parts]
        if not node.parts:
            found.update((row, (said, most)) for row in node.members)
    return found
