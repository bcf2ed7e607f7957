"""The vectors of memories: the mean direction of the vectors of their passages."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

LENGTH = 2000
"""Of the vector of a memory, in whole numbers: the square of the distance of two is below 2^24, so exact in float32."""
_AT_ONCE = 8192
"""Passages, unless one memory has more: it bounds the memory that is taken."""


def mean_directions(starts: Any, count: int, read: Callable[[slice], Any]) -> Any:
    """The mean direction of the vectors from each start to the next, LENGTH long, rounded to whole numbers.

    There are `count` vectors; `read` gives those of a part of them.
    """
    import numpy

    ends = numpy.append(starts[1:], count)
    means: list[Any] = []
    first = 0
    while first < len(starts):
        begin = starts[first]
        last = max(first + 1, int(numpy.searchsorted(ends, begin + _AT_ONCE, side="right")))
        vectors = read(slice(begin, ends[last - 1])).astype(numpy.float64)
        sums = numpy.add.reduceat(_scaled(vectors), starts[first:last] - begin, axis=0)
        means.append(numpy.rint(LENGTH * _scaled(sums)).astype(numpy.float32))
        first = last
    return numpy.concatenate(means) if means else numpy.empty((0, 0), numpy.float32)


def _scaled(vectors: Any) -> Any:
    """The vectors at length 1, but for those of zeros."""
    import numpy

    norms = numpy.sqrt((vectors * vectors).sum(axis=1, keepdims=True))
    return vectors / numpy.where(norms > 0, norms, 1.0)
