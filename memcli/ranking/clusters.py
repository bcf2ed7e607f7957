"""Clusters of texts by their terms: bisected again and again, so that the result is a tree, with a summary of each.

Bisecting k-means after M. Steinbach, G. Karypis, V. Kumar: "A Comparison of Document Clustering Techniques", 2000,
on hashed term vectors (K. Weinberger et al.: "Feature Hashing for Large Scale Multitask Learning", 2009). The seeds
of a cut are the text farthest from the middle and the one farthest from that, so nothing is left to chance; vectors
are whole numbers small enough for float32 to add exactly in any order, so every machine cuts alike.

A summary is made of those of the parts (P. Sarthi et al.: "RAPTOR: Recursive Abstractive Processing for Tree-Organized
Retrieval", 2024), with the strongest terms of a cluster in place of a language model's abstract.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING
from zlib import crc32

from memcli.ranking.lexical import idf
from memcli.record import Record

if TYPE_CHECKING:
    from numpy import float32, float64
    from numpy.typing import NDArray

    from memcli.index.view import IndexedSpace
    from memcli.model.recall import Entry

    Vectors = NDArray[float32]

DIMENSIONS = 256
LENGTH = 2048
"""Of every vector: the sums of a dot product stay below 2^24."""
LEAST_SHARE = 0.2
"""A cut leaves at least this share on either side: it bounds the depth of the tree, whatever the texts."""
ROUNDS = 2
IDF_STEPS = 8
MAX_COUNT = 3
"""More of the same term in one text count no more."""
LEAF_SIZE = 8
"""The members of the smallest clusters, at most."""
SUMMARY_TERMS = 64
"""What a summary has room for: the higher in the tree, the more it leaves out."""
_MEMORY_TERMS = 48
"""The terms of the summary of a memory that count in clusters, beside those of its path, tags and source."""


def tight(texts: Sequence[Mapping[str, int]], largest: int, least: float) -> list[tuple[int, ...]]:
    """The smallest clusters, without members whose mean cosine with the others is below `least`: those are in none.

    So few texts that they would all be one cluster are none.
    """
    vectors = _vectors(texts)
    found = []
    tree = _cut(vectors, range(len(texts)), largest)
    waiting = [*reversed(tree.parts)]
    while waiting:
        leaf = waiting.pop()
        if leaf.parts:
            waiting.extend(reversed(leaf.parts))
            continue
        part = vectors[list(leaf.members)]
        others = len(part) - 1
        likeness = part @ part.T
        totals = (likeness.sum(axis=1, dtype="float64") - likeness.diagonal()).tolist()
        members = tuple(
            n for n, total in zip(leaf.members, totals, strict=True) if total >= least * LENGTH * LENGTH * others
        )
        if len(members) > 1:
            found.append(members)
    return found


class ClusterNode(Record):
    """Texts that are alike, by their places in what was clustered, or memories by their rows; `parts` are the two clusters that
    it falls into. `shares[term]` is the share of its members that its summary says have the term; texts have no summary."""

    members: tuple[int, ...]
    parts: tuple[ClusterNode, ...] = ()
    shares: Mapping[str, float] = {}


def summary_tree(texts: Mapping[int, Sequence[str]]) -> ClusterNode:
    """The tree over memories, given the terms of each. The order of `texts` must not depend on chance."""
    rows = list(texts)
    counted = [Counter(terms) for terms in texts.values()]
    frequencies = Counter(term for text in counted for term in text)
    # A term of one memory summarizes nothing but that one.
    rarity = {term: idf(len(rows), n) for term, n in frequencies.items() if n > 1}
    return _summarized(_cut(_vectors(counted), range(len(rows)), LEAF_SIZE), rows, counted, rarity)[0]


def texts_of(view: IndexedSpace, entries: Mapping[int, Entry]) -> dict[int, list[str]]:
    """The terms of each memory by which it is clustered, in order of id, so that row numbers decide nothing."""
    known = view.terms() if entries else {}
    texts = {}
    for row in sorted(entries, key=lambda row: entries[row].id):
        path, tags, source, summary = known[row]
        texts[row] = [*path, *tags, *source, *summary[:_MEMORY_TERMS]]
    return texts


def _summarized(
    cluster: ClusterNode, rows: Sequence[int], texts: Sequence[Mapping[str, int]], rarity: Mapping[str, float]
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
    return ClusterNode(tuple(rows[member] for member in cluster.members), tuple(parts), shares), counts


def _cut(vectors: Vectors, members: Sequence[int], largest: int) -> ClusterNode:
    """The cluster of these members, cut in two until none has more than `largest`. Their order decides between equals."""
    if len(members) <= largest:
        return ClusterNode(tuple(members))
    import numpy

    own = vectors[list(members)]
    first = own[int((own @ _middle(own)).argmin())]
    second = own[int((own @ first).argmin())]
    leaning = own @ (second - first)
    for _ in range(ROUNDS):
        is_second = leaning > 0
        if is_second.all() or not is_second.any():
            break
        leaning = own @ (_middle(own[is_second]) - _middle(own[~is_second]))
    is_second = leaning > 0
    least = max(1, int(LEAST_SHARE * len(own)))
    count = int(is_second.sum())
    if not least <= count <= len(own) - least:
        order = numpy.argsort(-leaning, kind="stable")
        is_second[:] = False
        is_second[order[: min(max(count, least), len(own) - least)]] = True
    sides: tuple[list[int], list[int]] = ([], [])
    for member, side in zip(members, is_second.tolist(), strict=True):
        sides[side].append(member)
    return ClusterNode(tuple(members), tuple(_cut(vectors, one, largest) for one in sides))


def _middle(vectors: Vectors) -> Vectors:
    import numpy

    sums = vectors.sum(axis=0, dtype=numpy.float64)
    middle: Vectors = _scaled(sums.reshape(1, -1))[0]
    return middle


def _scaled(sums: NDArray[float64]) -> Vectors:
    """Whole numbers, every vector LENGTH long, but for one of zeros."""
    import numpy

    norms = numpy.sqrt((sums * sums).sum(axis=1, keepdims=True))
    scaled: Vectors = numpy.rint(sums * (LENGTH / numpy.maximum(norms, 1.0))).astype(numpy.float32)
    return scaled


def _vectors(texts: Sequence[Mapping[str, int]]) -> Vectors:
    """Every term adds its rarity to one dimension, or takes it away."""
    import numpy

    frequencies = Counter(term for text in texts for term in text)
    known = {}
    for term, n in frequencies.items():
        if n > 1:
            digest = crc32(term.encode("utf-8", "surrogatepass"))
            sign = 1 if digest // DIMENSIONS % 2 else -1
            known[term] = digest % DIMENSIONS, sign * round(IDF_STEPS * math.log2(len(texts) / n))
    places: list[int] = []
    values: list[int] = []
    for n, text in enumerate(texts):
        for term, count in text.items():
            if term in known:
                dimension, weight = known[term]
                places.append(n * DIMENSIONS + dimension)
                values.append(weight * min(count, MAX_COUNT))
    sums = numpy.bincount(places, weights=values, minlength=len(texts) * DIMENSIONS).astype(numpy.float64)
    return _scaled(sums.reshape(len(texts), DIMENSIONS))
