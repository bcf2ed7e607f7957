"""The cosines of rows as arrays say what a plain loop over them says."""

from __future__ import annotations

import numpy
from hypothesis import given
from hypothesis import strategies as st

from memcli.model.recall import Nearness, RowSet
from memcli.ranking.answers import NONE, Cosines, mixed

KNOWN = st.dictionaries(st.integers(0, 60), st.floats(-1, 1, width=32), max_size=40)
SOME = st.frozensets(st.integers(0, 70), max_size=30)


def cosines(known: dict[int, float]) -> Cosines:
    rows = sorted(known)
    return Cosines(numpy.array(rows, numpy.int64), numpy.array([known[row] for row in rows], numpy.float64))


@given(KNOWN, SOME)
def test_rows_are_looked_up(known: dict[int, float], rows: frozenset[int]) -> None:
    assert cosines(known).of(rows) == {row: known[row] for row in rows if row in known}


@given(KNOWN, SOME, st.booleans())
def test_hidden_rows_are_left_out(known: dict[int, float], rows: frozenset[int], hides: bool) -> None:
    visible = RowSet(0, hidden=rows) if hides else RowSet(0, only=rows)
    assert cosines(known).among(visible).of(known) == {row: one for row, one in known.items() if row in visible}


@given(KNOWN, st.integers(1, 10))
def test_the_nearest_come_with_all_that_tie(known: dict[int, float], count: int) -> None:
    least = sorted((round(one, 6) for one in known.values()), reverse=True)[:count]
    wanted = {row for row, one in known.items() if not least or round(one, 6) >= least[-1]}
    assert set(cosines(known).nearest(count)) == wanted


def test_without_rows_nothing_is_near() -> None:
    assert (NONE.of([1]), NONE.nearest(3), NONE.among(RowSet(1, hidden=frozenset([0])))) == ({}, [], NONE)


def test_texts_are_mixed_by_their_shares() -> None:
    rows = numpy.array([2, 5])
    one, other = (Nearness(rows, numpy.array(best), {}, numpy.empty(0)) for best in ([1.0, 0.5], [0.0, 1.0]))
    assert mixed([(0.25, one), (0.75, other)]).of([2, 5]) == {2: 0.25, 5: 0.875}
    assert one.by_row() == mixed([(1.0, one)]).of([2, 5]) == {2: 1.0, 5: 0.5}
