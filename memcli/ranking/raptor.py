"""`raptor`: compares the topic with all nodes of a tree, memories and summaries of clusters, and adds recency.

This is the collapsed-tree retrieval of RAPTOR (see `clusters.py`): a cluster adds its score to that of its members, the
smallest cluster most. Every component of a score goes from 0 to 1 before it is weighed.
"""

from __future__ import annotations

from collections.abc import Mapping

from memcli.model.recall import TermStats
from memcli.ranking.clusters import ClusterNode, summary_tree, texts_of
from memcli.ranking.lexical import bm25f, idf, preferences, recency, style_of
from memcli.ranking.scorer import Parts, ScoreInput, ScoringScheme, nonzero

CANDIDATES = 400
OWN_WEIGHTS: Mapping[str, float] = {"keyword": 0.5, "semantic": 0.5, "recency": 0.05}
"""The default weights of words, meaning and recency (`--weights`)."""
CLUSTER_WEIGHT = 0.3
"""The weight of the clusters of a memory, in addition to its own words and meaning."""
CLUSTER_DECAY = 0.7
"""The weight of a cluster relative to the one within it."""
PINNED = 0.1
LEAST_COSINE = 0.4
"""The cosine from which on a memory matches by meaning alone."""
LEAST_CLUSTER = 0.5
"""A memory without a word of the topic matches if a summary of its clusters has this share of the topic's words, by weight."""


def _raptor(given: ScoreInput) -> Parts:
    weights = {name: given.weights[name] * own for name, own in OWN_WEIGHTS.items()}
    cosines = {row: given.cosines[row] for row in given.entries if row in given.cosines}
    known = bm25f(given.stats, {row: style_of(entry) for row, entry in given.entries.items()})
    best = max(known.values(), default=0.0) or 1.0
    low, high = min(cosines.values(), default=0.0), max(cosines.values(), default=0.0)
    all_meaning = {row: (cosine - low) / max(high - low, 1e-9) for row, cosine in cosines.items()}
    clusters = _of_clusters(given.structure, given.stats, all_meaning, weights)
    parts = {}
    for row, entry in given.entries.items():
        words, (cluster, overlap) = known.get(row, 0.0) / best, clusters.get(row, (0.0, 0.0))
        if not words and cosines.get(row, 0.0) < LEAST_COSINE and overlap < LEAST_CLUSTER:
            continue
        parts[row] = nonzero(
            {
                "words": weights["keyword"] * words,
                "meaning": weights["semantic"] * all_meaning.get(row, 0.0),
                "cluster": CLUSTER_WEIGHT * cluster,
                "recency": weights["recency"] * recency(entry.created_at, given.query.now),
                "pinned": PINNED * entry.pinned,
                **preferences(entry, given.query),
            }
        )
    return parts


def _of_clusters(
    tree: ClusterNode | None, stats: TermStats, meaning: Mapping[int, float], weights: Mapping[str, float]
) -> dict[int, tuple[float, float]]:
    """The score of each row by its clusters, and the largest share of the topic's words in one of their summaries.

    The root is left out, as its summary distinguishes no memory from others.
    """
    rarity = {term: idf(stats.size, n) for term, n in stats.frequencies.items()}
    total = sum(rarity.values()) or 1.0
    known = {term: weight for term, weight in rarity.items() if stats.frequencies[term]}
    found: dict[int, tuple[float, float]] = {}
    waiting = [(part, 0.0, 0.0) for part in tree.parts] if tree else []
    while waiting:
        node, above, most = waiting.pop()
        overlap = sum(weight * node.shares.get(term, 0.0) for term, weight in known.items()) / total
        # The cosine of the topic with the centre of a cluster is about the mean of those with its members.
        near = sum(meaning.get(row, 0.0) for row in node.members) / len(node.members)
        own = weights["keyword"] * overlap + weights["semantic"] * near
        score, most = (1 - CLUSTER_DECAY) * own + CLUSTER_DECAY * above, max(most, overlap)
        waiting += [(part, score, most) for part in node.parts]
        if not node.parts:
            found.update((row, (score, most)) for row in node.members)
    return found


RAPTOR = ScoringScheme(
    _raptor,
    OWN_WEIGHTS,
    candidates=CANDIDATES,
    uses_vectors=True,
    build=lambda view, entries: summary_tree(texts_of(view, entries)) if entries else None,
)
"""`--weights` sets `keyword` and `semantic` (of memories and of clusters) and `recency`."""
