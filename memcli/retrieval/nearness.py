"""The nearness of memories by the cosines of their passages and windows.

A memory is as near as its nearest passage. What was said in talk is also embedded together with what was said before
it, because an answer often repeats no word of its question; the two count alike.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from memcli.model.nearness import Nearness

WINDOW_SHARE = 0.5
"""What a memory together with the one before it counts, beside the memory alone."""


def first_of(rows: Any) -> dict[int, int]:
    """Where the passages of each row begin; `rows` has the row of each passage, ascending."""
    import numpy

    starts = numpy.flatnonzero(numpy.diff(rows, prepend=rows[0] - 1)) if len(rows) else rows
    return dict(zip(rows[starts].tolist(), starts.tolist(), strict=True))


def of_passages(
    first: Mapping[int, int], cosines: Any, window_rows: Any, window_cosines: Any, missing: int
) -> list[Nearness]:
    """The nearness to each of several questions, by the cosines of all passages, which of a row begin at `first`, and of
    the windows of some rows: float64 [questions, passages] and [questions, windows], NaN where there is no vector."""
    import numpy

    own = numpy.fromiter(first, numpy.int64, len(first))
    if not len(own):
        return [Nearness(own, numpy.empty(0), {}, numpy.empty(0)) for _ in cosines]
    starts = numpy.fromiter(first.values(), numpy.int64, len(first))
    best = numpy.fmax.reduceat(cosines, starts, axis=1)
    if len(window_rows):
        at = numpy.searchsorted(own, window_rows)
        both = (1 - WINDOW_SHARE) * best[:, at] + WINDOW_SHARE * window_cosines
        best[:, at] = numpy.where(numpy.isnan(both), best[:, at], both)
    known = ~numpy.isnan(best[0])
    return [Nearness(own[known], one[known], first, of, missing) for one, of in zip(best, cosines, strict=True)]
