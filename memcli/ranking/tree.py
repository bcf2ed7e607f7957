"""A tree of summaries: every cluster of memories has one, made of those of its parts.

P. Sarthi et al.: "RAPTOR: Recursive Abstractive Processing for Tree-Organized Retrieval", 2024, with the strongest
terms of a cluster in place of a language model's abstract.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from memcli.ranking.clusters import TextCluster, tree_of
from memcli.ranking.lexical import idf
from memcli.record import Record

LEAF_SIZE = 8
"""The members of the smallest clusters, at most."""
SUMMARY_TERMS = 64
"""What a summary has room for: the higher in the tree, the more it leaves out."""


class ClusterNode(Record):
    """A cluster. `shares[term]` is the share of its members that its summary says have the term."""

    members: tuple[int, ...]
    shares: Mapping[str, float]
    parts: tuple[ClusterNode, ...] = ()


def summary_tree(texts: Mapping[int, Sequence[str]]) -> ClusterNode:
    """The tree over memories, given the terms of each. The order of `texts` must not depend on chance."""
    rows = list(texts)
    counted = [Counter(terms) for terms in texts.values()]
    frequencies = Counter(term for text in counted for term in text)
    # A term of one memory summarizes nothing but that one.
    rarity = {term: idf(len(rows), n) for term, n in frequencies.items() if n > 1}
    return _summarized(tree_of(counted, LEAF_SIZE), rows, counted, rarity)[0]


def _summarized(
    cluster: TextCluster, rows: Sequence[int], texts: Sequence[Mapping[str, int]], rarity: Mapping[str, float]
) -> tuple[ClusterNode, Mapping[str, int]]:
    """The node of a cluster, and in how many of its members the terms of its summary stand."""
    counts: Counter[str] = Counter()
    parts: list[ClusterNode] = []
    for part in cluster.parts:
        node, found = _summarized(part, rows, texts, rarity)
        parts.append(node)
        counts.update(found)
    if not parts:
        for member in cluster.members:
            counts.update(term for term in texts[member] if term in rarity)
    if len(counts) > SUMMARY_TERMS:
        best = sorted((-n * rarity[term], term) for term, n in counts.items())[:SUMMARY_TERMS]
        counts = Counter({term: counts[term] for _, term in best})
    size = len(cluster.members)
    shares = {term: n / size for term, n in counts.items()}
    return ClusterNode(tuple(rows[member] for member in cluster.members), shares, tuple(parts)), counts
