"""HDBSCAN: clusters of any shape and density, and points in no cluster.

R. J. G. B. Campello, D. Moulavi, J. Sander: "Density-Based Clustering Based on Hierarchical Density Estimates", 2013;
L. McInnes, J. Healy: "Accelerated Hierarchical Density Based Clustering", 2017. Labels and strengths are those of
`sklearn.cluster.HDBSCAN` with its defaults.

The first step is the minimum spanning tree of mutual reachability, in the order in which Prim's algorithm visits the
points (R. C. Prim: "Shortest Connection Networks and Some Generalizations", 1957). The mutual reachability of two points
is the largest of their distance and their core distances; the core distance of a point is that to its `min_samples`-th
nearest, itself included. Given the order of Prim, the heights determine the tree of single linkage: a cluster below a
height is a run of the order. The edges of a point are computed in two parts: those to its nearest at once, the others
only when nothing nearer is left to visit, together with those of the points that wait likewise. Each pair is computed
twice at most, in products of matrices.

The second step condenses the tree and chooses among its clusters.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from heapq import heappop, heappush
from math import inf, isinf
from typing import TYPE_CHECKING, Any

from memcli.record import Record

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Numbers = NDArray[Any]


# Written with NumPy alone, as scikit-learn and SciPy take 200 MB.
_NEAREST = 64
"""The number of edges of each point that are computed at the beginning."""
_AT_ONCE = 256
"""The number of points whose edges are computed together, which bounds the memory."""
_GROUP = 16
"""The number of columns in a group; the minima of groups are compared before their columns."""
_ALIVE = 0.8
"""Visited points are dropped from the columns when this share of them is left."""


def spanning_path(vectors: Numbers, min_samples: int) -> tuple[list[int], list[float]]:
    """All points in the order of Prim's visit, and the mutual reachability by which each after the first was reached. The vectors
    hold whole numbers; of equally near points the first comes first.

    Squares of distances between whole numbers are exact, so every machine finds the same path. Raises ValueError for
    other numbers, and for those so large that their squares are not exact.
    """
    import numpy

    if not len(vectors):
        return [], []
    wide = numpy.asarray(vectors, numpy.float64)
    largest = 4 * float((wide * wide).sum(axis=1).max())  # the square of the distance of a vector from its opposite
    if not largest <= 2.0**53 or (wide != numpy.rint(wide)).any():
        raise ValueError("vectors must be of whole numbers whose squares are exact")
    # the smallest type in which sums of squares are exact
    exact = numpy.ascontiguousarray(wide, numpy.float32 if largest <= 2.0**24 else numpy.float64)
    visit = _Visit(exact, min(min_samples, len(vectors)))
    order, squares = [0], []
    for _ in range(len(vectors) - 1):
        point, square = visit.after(order[-1])
        order.append(point)
        squares.append(square)
    return order, numpy.sqrt(numpy.asarray(squares, numpy.float64)).tolist()


class _Visit:
    """The state of Prim's visit: the reachability of each point from the tree, and the points with edges not computed yet."""

    def __init__(self, vectors: Numbers, min_samples: int) -> None:
        import numpy

        self._vectors = vectors
        self._norms = (vectors * vectors).sum(axis=1)
        self._others, self._other_norms = vectors, self._norms
        # By point: `_core`, the square of its core distance; `_near`, its nearest points; `_near_squares`, the squares of their
        # distances; `_beyond`, the square of the distance of the nearest point that is not in `_near`.
        size = len(vectors)
        most = min(max(_NEAREST, min_samples), size)
        self._core, self._beyond = (numpy.full(size, numpy.inf, vectors.dtype) for _ in range(2))
        self._near = numpy.empty((size, most), numpy.int64)
        self._near_squares = numpy.empty((size, most), vectors.dtype)
        for start in range(0, size, _AT_ONCE):
            rows = numpy.arange(start, min(start + _AT_ONCE, size))
            columns, found = _least(self._squares(rows, vectors, self._norms), min(most + 1, size))
            self._near[rows], self._near_squares[rows] = columns[:, :most], found[:, :most]
            core = numpy.partition(self._near_squares[rows], min_samples - 1, axis=1)
            self._core[rows] = core[:, min_samples - 1]
            if most < size:
                self._beyond[rows] = found[:, most]
        self._waiting: list[tuple[float, int]] = []
        self._columns = numpy.arange(len(vectors))
        self._places = numpy.arange(len(vectors))
        self._alive = numpy.ones(len(vectors), bool)
        self._reach = numpy.full(len(vectors), numpy.inf, vectors.dtype)
        self._count = len(vectors)

    def after(self, point: int) -> tuple[int, float]:
        """Visits the point; returns the one to visit next, and the square of the reachability by which it is reached."""
        import numpy

        place = self._places[point]
        self._alive[place] = False
        self._reach[place] = numpy.inf
        self._count -= 1
        if self._count < _ALIVE * len(self._columns):
            alive = self._alive
            self._columns, self._reach = self._columns[alive], self._reach[alive]
            self._places[:] = -1
            self._places[self._columns] = range(len(self._columns))
            self._alive = alive[alive]
            self._others, self._other_norms = self._vectors[self._columns], self._norms[self._columns]
        near = self._near[point]
        places = self._places[near]
        weights = numpy.maximum(numpy.maximum(self._near_squares[point], self._core[near]), self._core[point])
        is_open = (places >= 0) & self._alive[places]
        places = places[is_open]
        self._reach[places] = numpy.minimum(self._reach[places], weights[is_open])
        heappush(self._waiting, (max(float(self._core[point]), float(self._beyond[point])), point))
        while True:
            place = int(self._reach.argmin())
            square = float(self._reach[place])
            if not self._waiting or self._waiting[0][0] > square:
                return int(self._columns[place]), square
            points = [heappop(self._waiting)[1] for _ in range(min(_AT_ONCE, len(self._waiting)))]
            block = self._squares(points, self._others, self._other_norms)
            numpy.maximum(block, self._core[points][:, None], out=block)
            weights = numpy.maximum(block.min(axis=0), self._core[self._columns])
            numpy.minimum(self._reach, weights, out=self._reach, where=self._alive)

    def _squares(self, rows: Any, others: Numbers, norms: Numbers) -> Numbers:
        """The squares of the distances of these points and the others."""
        block: Numbers = self._vectors[rows] @ others.T
        block *= -2
        block += norms
        block += self._norms[rows][:, None]
        return block


def _least(block: Numbers, count: int) -> tuple[Numbers, Numbers]:
    """The columns of the `count` least values of each row, and these values; the largest is the last.

    Only the `count` groups of columns with the least minima are searched: any other group has no smaller value.
    """
    import numpy

    rows, size = block.shape
    width = -(-size // _GROUP)
    if width > count:
        grouped = numpy.full((rows, _GROUP * width), numpy.inf, block.dtype)
        grouped[:, :size] = block
        minima = grouped.reshape(rows, _GROUP, width).min(axis=1)
        groups = numpy.argpartition(minima, count - 1, axis=1)[:, :count]
        columns = (groups[:, :, None] + width * numpy.arange(_GROUP)).reshape(rows, -1)
        block = numpy.take_along_axis(grouped, columns, axis=1)
    else:
        columns = numpy.broadcast_to(numpy.arange(size), block.shape)
    order = numpy.argpartition(block, count - 1, axis=1)[:, :count]
    return numpy.take_along_axis(columns, order, axis=1), numpy.take_along_axis(block, order, axis=1)


_Merge = tuple[int, int, float, int]
"""A node of the tree: its two parts, their distance, and its number of points. Numbers of points precede those of nodes."""


class Condensed(Record, frozen=False):
    """The condensed tree: clusters by number, each after its parent, the first with all points and parent -1.

    `births[c]` is the lambda (1 / distance) at which cluster c appears, `left[c]` are the points that leave it before it ends or
    splits, each with its lambda; `deaths[c]` is the largest lambda at which a point or cluster leaves it.
    """

    parents: list[int]
    births: list[float]
    sizes: list[int]
    left: list[list[tuple[float, int]]]
    deaths: list[float]

    def add(self, parent: int, birth: float, size: int) -> int:
        """A new cluster; returns its number."""
        self.parents.append(parent)
        self.births.append(birth)
        self.sizes.append(size)
        self.left.append([])
        self.deaths.append(0.0)
        return len(self.parents) - 1


def condense(order: Sequence[int], heights: Sequence[float], min_cluster_size: int) -> Condensed:
    """The condensed tree of a path as `spanning_path` returns it. Equal heights are merged in the order of the path."""
    tree = Condensed([], [], [], [], [])
    size = len(order)
    merges = _single_linkage(order, heights)
    waiting = deque([(2 * size - 2, tree.add(-1, 0.0, size))])
    while waiting:
        node, cluster = waiting.popleft()
        if node < size:
            continue  # a space of one point
        first, second, distance, _ = merges[node - size]
        density = 1.0 / distance if distance > 0 else inf
        tree.deaths[cluster] = density
        sizes = [1 if part < size else merges[part - size][3] for part in (first, second)]
        is_split = min(sizes) >= min_cluster_size
        for part, count in zip((first, second), sizes, strict=True):
            if count < min_cluster_size:
                parts = [part]
                while parts:
                    below = parts.pop()
                    if below < size:
                        tree.left[cluster].append((density, below))
                    else:
                        parts.extend(merges[below - size][:2])
            else:
                waiting.append((part, tree.add(cluster, density, count) if is_split else cluster))
    return tree


def chosen(tree: Condensed, max_cluster_size: int | None = None) -> list[int]:
    """For each cluster the chosen cluster that contains it, itself or an ancestor; -1 if there is none.

    By excess of mass (Campello et al. 2013): a cluster is chosen instead of those within it unless it is too large,
    or the sum of their stabilities is larger; the root is never chosen.
    """
    # The stability of a cluster is the sum over its points of the lambda at which they leave, minus that of its birth.
    stabilities = [0.0] * len(tree.parents)
    for cluster, birth in enumerate(tree.births):
        for density, _ in tree.left[cluster]:
            stabilities[cluster] += density - birth
        if cluster:
            parent = tree.parents[cluster]
            stabilities[parent] += (birth - tree.births[parent]) * tree.sizes[cluster]
    is_chosen = [True] * len(stabilities)
    within = [0.0] * len(stabilities)
    for cluster in range(len(stabilities) - 1, 0, -1):
        # By stability alone, one cluster had most of the memories of a conversation.
        is_too_large = max_cluster_size is not None and tree.sizes[cluster] > max_cluster_size
        if within[cluster] > stabilities[cluster] or is_too_large:
            is_chosen[cluster] = False
            stabilities[cluster] = within[cluster]
        within[tree.parents[cluster]] += stabilities[cluster]
    top = [-1]
    for cluster in range(1, len(stabilities)):
        above = top[tree.parents[cluster]]
        top.append(above if above >= 0 else cluster if is_chosen[cluster] else -1)
    return top


def _single_linkage(order: Sequence[int], heights: Sequence[float]) -> list[_Merge]:
    size = len(order)
    above = list(range(2 * size - 1))
    counts = [1] * size
    merges: list[_Merge] = []

    def top(node: int) -> int:
        while above[node] != node:
            above[node] = node = above[above[node]]
        return node

    # Equal heights stay in the order of Prim's visit, where scikit-learn leaves their order to an unstable sort.
    for n in sorted(range(len(heights)), key=heights.__getitem__):
        first, second = top(order[n]), top(order[n + 1])
        new = size + len(merges)
        above[first] = above[second] = new
        counts.append(counts[first] + counts[second])
        merges.append((first, second, heights[n], counts[new]))
    return merges


# Not by scikit-learn, whose labels these are: with SciPy it installs 200 MB.
def hdbscan(
    vectors: NDArray[Any],
    min_cluster_size: int = 5,
    min_samples: int | None = None,
    max_cluster_size: int | None = None,
) -> tuple[list[int], list[float]]:
    """Clusters vectors of whole numbers by Euclidean distance: the number of the cluster of each, from 0, or -1 for none, and the
    strength of its membership, 0 to 1.

    `min_cluster_size`: the least points of a cluster, at least 2 (Campello et al. 2013, section 3). `min_samples`: the rank of
    the neighbour, a point itself being the first, whose distance measures the density (m_pts in definition 1); the more, the more points
    are in no cluster; by default `min_cluster_size`. `max_cluster_size`: the most points of a cluster; those within a larger one
    may be clusters (not in the papers, but in scikit-learn). Raises ValueError as `spanning_path`.
    """
    size = len(vectors)
    clusters, strengths = [-1] * size, [0.0] * size
    if size < max(2, min_cluster_size):
        return clusters, strengths
    tree = condense(*spanning_path(vectors, min_samples or min_cluster_size), min_cluster_size)
    tops = chosen(tree, max_cluster_size)
    numbers = {cluster: n for n, cluster in enumerate(sorted(set(tops) - {-1}))}
    for left, top in zip(tree.left, tops, strict=True):
        for density, point in left:
            if top >= 0:
                clusters[point] = numbers[top]
                death = tree.deaths[top]
                strengths[point] = 1.0 if isinf(density) else min(density, death) / death
    return clusters, strengths
