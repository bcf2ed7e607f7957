"""How near a text is to the passages of a space."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping
from typing import Any

from memcli.record import Record


class Nearness(Record):
    """How near a text is to what a space holds, as cosines in arrays of NumPy. `rows`, ascending, are those that have a
    vector, and `best` holds the cosine of each: int64 [n], float64 [n]. `cosines` has that of every passage, NaN for the
    `missing` ones that have no vector yet; those of a row begin at `first[row]`.

    Of a very large space it has only the nearest rows, of `passages` in all: `more` measures others."""

    rows: Any
    best: Any
    first: Mapping[int, int]
    cosines: Any
    missing: int = 0
    passages: int = 0
    more: Callable[[Collection[int]], Nearness] | None = None

    @property
    def size(self) -> int:
        """How many passages the space has."""
        return self.passages or len(self.cosines)

    def including(self, rows: Collection[int]) -> Nearness:
        """The same with these rows among those that are known."""
        return self if self.more is None else self.more(rows)

    def of(self, row: int, count: int) -> list[float]:
        """The cosines of the `count` passages of a row, in order; NaN where they are not known."""
        start = self.first.get(row)
        return [math.nan] * count if start is None else self.cosines[start : start + count].tolist()

    def by_row(self) -> dict[int, float]:
        """The cosine of every row that has one."""
        return dict(zip(self.rows.tolist(), self.best.tolist(), strict=True))
