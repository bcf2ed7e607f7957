"""The cosines of the rows of a space, as arrays: of ten thousand rows only the nearest are looked at one by one."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from memcli.model.nearness import Nearness
from memcli.model.recall import RowSet
from memcli.record import Record


class Cosines(Record):
    """The cosine of each of some rows: int64 [n], ascending, and float64 [n]. Without rows NumPy is not needed."""

    rows: Any = ()
    values: Any = ()

    def among(self, visible: RowSet) -> Cosines:
        """Those of the rows that are visible."""
        if not len(self.rows) or (visible.only is None and not visible.hidden):
            return self
        import numpy

        listed = visible.hidden if visible.only is None else visible.only
        is_listed = numpy.isin(self.rows, numpy.fromiter(listed, numpy.int64, len(listed)))
        chosen = ~is_listed if visible.only is None else is_listed
        return Cosines(self.rows[chosen], self.values[chosen])

    def of(self, rows: Collection[int]) -> dict[int, float]:
        """The cosines of these rows, without those that have none."""
        if not len(self.rows):
            return {}
        import numpy

        wanted = numpy.fromiter(rows, numpy.int64, len(rows))
        places = numpy.searchsorted(self.rows, wanted).clip(max=len(self.rows) - 1)
        is_known = self.rows[places] == wanted
        return dict(zip(wanted[is_known].tolist(), self.values[places[is_known]].tolist(), strict=True))

    def nearest(self, count: int) -> list[int]:
        """The `count` rows with the best cosines; those that tie with the last one too, so that row numbers decide nothing."""
        if len(self.rows) <= count:
            return [int(row) for row in self.rows]
        import numpy

        last = len(self.rows) - count
        least = round(float(numpy.partition(self.values, last)[last]), 6)
        near = numpy.flatnonzero(self.values >= least - 1e-6)  # spares most rows the rounding
        found = zip(self.rows[near].tolist(), self.values[near].tolist(), strict=True)
        return [row for row, cosine in found if round(cosine, 6) >= least]


NONE = Cosines()

APART, ANSWERS = -0.15, 0.6
"""The cosines of what has nothing in common, and of what answers well."""


def closeness(cosine: float) -> float:
    """A cosine on the scale of words: 0 where nothing is in common, 1 where it answers well."""
    return max(0.0, (cosine - APART) / (ANSWERS - APART))


def mixed(near: Sequence[tuple[float, Nearness]]) -> Cosines:
    """The cosine of each row by one text or several, each with its share."""
    (share, first), *others = near
    values = first.best if share == 1 else share * first.best
    for share, other in others:
        values = values + share * other.best
    return Cosines(first.rows, values)
