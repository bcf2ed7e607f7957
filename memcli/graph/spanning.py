"""The minimum spanning tree of mutual reachability, in the order in which Prim's algorithm visits the points.

The mutual reachability of two points is the largest of their distance and their core distances; the core distance of a
point is that to its `min_samples`-th nearest, itself included (Campello et al. 2013). With the order of Prim, the
heights say all that a tree of single linkage needs: a cluster below a height is a run of the order.

R. C. Prim: "Shortest Connection Networks and Some Generalizations", 1957. The edges of a point are computed in two
parts: those to its nearest at once, the others only when nothing nearer is left to visit, together with those of the
points that wait likewise. Each pair is computed twice at most, in products of matrices.
"""

from __future__ import annotations

from heapq import heappop, heappush
from typing import TYPE_CHECKING, Any

from memcli.record import Record

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Numbers = NDArray[Any]

_NEAREST = 64
"""How many edges of a point are known from the beginning."""
_AT_ONCE = 256
"""Points whose edges are computed together: it bounds the memory."""
_GROUP = 16
"""Columns whose minimum is looked at before they are."""
_ALIVE = 0.8
"""Visited points are dropped from the columns when this share of them is left."""


class Path(Record):
    """All points in the order of Prim's visit; `heights[n]` is the mutual reachability by which point n + 1 was reached."""

    order: list[int]
    heights: list[float]


def spanning_path(vectors: Numbers, min_samples: int) -> Path:
    """The path through these vectors, which hold whole numbers; between equals the first vector comes first.

    Squares of distances between whole numbers are exact, so every machine finds the same path. Raises ValueError for
    other numbers, and for those so large that their squares are not exact.
    """
    import numpy

    if not len(vectors):
        return Path([], [])
    visit = _Visit(_exact(vectors), min(min_samples, len(vectors)))
    order, squares = [0], []
    for _ in range(len(vectors) - 1):
        point, square = visit.after(order[-1])
        order.append(point)
        squares.append(square)
    return Path(order, numpy.sqrt(numpy.asarray(squares, numpy.float64)).tolist())


def _exact(vectors: Numbers) -> Numbers:
    """The vectors in the smallest type in which sums of their squares are exact."""
    import numpy

    wide = numpy.asarray(vectors, numpy.float64)
    largest = 4 * float((wide * wide).sum(axis=1).max())  # the square of the distance of opposites
    if not largest <= 2.0**53 or (wide != numpy.rint(wide)).any():
        raise ValueError("vectors must be of whole numbers whose squares are exact")
    return numpy.ascontiguousarray(wide, numpy.float32 if largest <= 2.0**24 else numpy.float64)


class _Visit:
    """Prim's visit: what the tree has reached, and which points still have edges that were not computed."""

    def __init__(self, vectors: Numbers, min_samples: int) -> None:
        import numpy

        self._vectors = vectors
        self._norms = (vectors * vectors).sum(axis=1)
        self._others, self._other_norms = vectors, self._norms
        self._core, self._near, self._near_squares, self._beyond = self._neighbours(min_samples)
        self._waiting: list[tuple[float, int]] = []
        self._columns = numpy.arange(len(vectors))
        self._places = numpy.arange(len(vectors))
        self._alive = numpy.ones(len(vectors), bool)
        self._reach = numpy.full(len(vectors), numpy.inf, vectors.dtype)
        self._count = len(vectors)

    def after(self, point: int) -> tuple[int, float]:
        """Visits the point; returns the one to visit next, and the square of the reachability by which it is reached."""
        self._take(point)
        self._relax_nearest(point)
        heappush(self._waiting, (max(float(self._core[point]), float(self._beyond[point])), point))
        while True:
            place = int(self._reach.argmin())
            square = float(self._reach[place])
            if not self._waiting or self._waiting[0][0] > square:
                return int(self._columns[place]), square
            self._relax_all([heappop(self._waiting)[1] for _ in range(min(_AT_ONCE, len(self._waiting)))])

    def _neighbours(self, min_samples: int) -> tuple[Numbers, Numbers, Numbers, Numbers]:
        """Of each point: the square of its core distance, its nearest, the squares of their distances, and of that of the
        next one after them."""
        import numpy

        size = len(self._vectors)
        most = min(max(_NEAREST, min_samples), size)
        core, beyond = (numpy.full(size, numpy.inf, self._vectors.dtype) for _ in range(2))
        near = numpy.empty((size, most), numpy.int64)
        squares = numpy.empty((size, most), self._vectors.dtype)
        for start in range(0, size, _AT_ONCE):
            rows = numpy.arange(start, min(start + _AT_ONCE, size))
            columns, found = _least(self._squares(rows, self._vectors, self._norms), min(most + 1, size))
            near[rows], squares[rows] = columns[:, :most], found[:, :most]
            core[rows] = numpy.partition(squares[rows], min_samples - 1, axis=1)[:, min_samples - 1]
            if most < size:
                beyond[rows] = found[:, most]
        return core, near, squares, beyond

    def _squares(self, rows: Any, others: Numbers, norms: Numbers) -> Numbers:
        """The squares of the distances of these points and the others."""
        block: Numbers = self._vectors[rows] @ others.T
        block *= -2
        block += norms
        block += self._norms[rows][:, None]
        return block

    def _take(self, point: int) -> None:
        """Takes the point, which is visited now, out of those to reach."""
        place = self._places[point]
        self._alive[place] = False
        self._reach[place] = float("inf")
        self._count -= 1
        if self._count < _ALIVE * len(self._columns):
            self._compact()

    def _compact(self) -> None:
        alive = self._alive
        self._columns, self._reach = self._columns[alive], self._reach[alive]
        self._places[:] = -1
        self._places[self._columns] = range(len(self._columns))
        self._alive = alive[alive]
        self._others, self._other_norms = self._vectors[self._columns], self._norms[self._columns]

    def _relax_nearest(self, point: int) -> None:
        import numpy

        near = self._near[point]
        places = self._places[near]
        weights = numpy.maximum(numpy.maximum(self._near_squares[point], self._core[near]), self._core[point])
        is_open = (places >= 0) & self._alive[places]
        places = places[is_open]
        self._reach[places] = numpy.minimum(self._reach[places], weights[is_open])

    def _relax_all(self, points: list[int]) -> None:
        import numpy

        block = self._squares(points, self._others, self._other_norms)
        numpy.maximum(block, self._core[points][:, None], out=block)
        weights = numpy.maximum(block.min(axis=0), self._core[self._columns])
        numpy.minimum(self._reach, weights, out=self._reach, where=self._alive)


def _least(block: Numbers, count: int) -> tuple[Numbers, Numbers]:
    """The columns of the `count` least values of each row, and these values; the largest is the last.

    They are looked for in as many groups of columns, those with the least minima: what is least elsewhere is no less.
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
