"""Clusters of texts by their terms: a tree made by repeated bisection, with a summary of each cluster.

Bisecting k-means after M. Steinbach, G. Karypis, V. Kumar: "A Comparison of Document Clustering Techniques", 2000,
on hashed term vectors (K. Weinberger et al.: "Feature Hashing for Large Scale Multitask Learning", 2009). The seeds
of a cut are the text farthest from the centre and the one farthest from that, so the result is deterministic; vectors are
whole numbers small enough for exact sums in float32 in any order, so it is the same on every machine.

A summary combines those of the parts (P. Sarthi et al.: "RAPTOR: Recursive Abstractive Processing for Tree-Organized
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
"""The length of every vector: the sums of a dot product stay below 2^24."""
LEAST_SHARE = 0.2
"""The least share of members on either side of a cut, which bounds the depth of the tree for any texts."""
ROUNDS = 2
IDF_STEPS = 8
MAX_COUNT = 3
"""The most occurrences of a term in one text that count."""
LEAF_SIZE = 8
"""The most members of a cluster that is not cut."""
SUMMARY_TERMS = 64
"""The most terms of a summary: the higher in the tree, the more it leaves out."""
_MEMORY_TERMS = 48
"""The number of terms of a memory's summary by which it is clustered, in addition to those of its path, tags and source."""


def tight(texts: Sequence[Mapping[str, int]], largest: int, least: float) -> list[tuple[int, ...]]:
    """The smallest clusters, as positions in `texts`, without members whose mean cosine with the others is below `least`.

    At most `largest` texts have no clusters, as they would all be in one.
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
    """A cluster of texts, by their positions, or of memories, by their rows; `parts` are the two clusters into which it is cut.
    `shares` is the summary of a cluster of memories: the share of members that have each term."""

    members: tuple[int, ...]
    parts: tuple[ClusterNode, ...] = ()
    shares: Mapping[str, float] = {}


def summary_tree(texts: Mapping[int, Sequence[str]]) -> ClusterNode:
    """The tree over memories, given the terms of each row, in a deterministic order."""
    rows = list(texts)
    counted = [Counter(terms) for terms in texts.values()]
    frequencies = Counter(term for text in counted for term in text)
    # A term of only one memory is no common subject.
    rarity = {term: idf(len(rows), n) for term, n in frequencies.items() if n > 1}
    return _summarized(_cut(_vectors(counted), range(len(rows)), LEAF_SIZE), rows, counted, rarity)[0]


def texts_of(view: IndexedSpace, entries: Mapping[int, Entry]) -> dict[int, list[str]]:
    """The terms by which each memory is clustered, in order of id, as row numbers must not influence the result."""
    known = view.terms() if entries else {}
    texts = {}
    for row in sorted(entries, key=lambda row: entries[row].id):
        path, tags, source, summary = known[row]
        texts[row] = [*path, *tags, *source, *summary[:_MEMORY_TERMS]]
    return texts


def _summarized(
    cluster: ClusterNode, rows: Sequence[int], texts: Sequence[Mapping[str, int]], rarity: Mapping[str, float]
) -> tuple[ClusterNode, Mapping[str, int]]:
    """The node of a cluster, and the number of its members with each term of its summary."""
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
    """The cluster of these members, cut in two until none has more than `largest`. Ties are broken by their order."""
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
    """The vectors scaled to LENGTH and rounded to whole numbers; zeros stay zeros."""
    import numpy

    norms = numpy.sqrt((sums * sums).sum(axis=1, keepdims=True))
    scaled: Vectors = numpy.rint(sums * (LENGTH / numpy.maximum(norms, 1.0))).astype(numpy.float32)
    return scaled


def _vectors(texts: Sequence[Mapping[str, int]]) -> Vectors:
    """The vector of each text: each term adds its rarity to the dimension of its hash, or subtracts it."""
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
