"""Passages on values: names win where they are rare, and versions where the topic asks since when. The cosines of rows as
arrays say what a plain loop over them says."""

from __future__ import annotations

from collections.abc import Mapping

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memcli.model.recall import Nearness, PassageTerms, Query, RowSet, TermStats
from memcli.ranking.answers import NONE, Answers, Cosines, Near, answers, measure, mixed
from tests.conftest import NOW

Counts = Mapping[str, tuple[int, int]]


def passage(n: int, counts: Counts, form: str = "prose", *, is_versioned: bool = False) -> PassageTerms:
    return PassageTerms(n, form, is_versioned, counts, 50)


def stats(frequencies: Mapping[str, int], size: int = 200) -> TermStats:
    return TermStats(size, frequencies, {}, {})


def near(*cosines: float) -> Near:
    rows, values = numpy.arange(len(cosines)), numpy.array(cosines)
    found = Nearness(rows, values, {n: n for n in range(len(cosines))}, values)
    return [(0.3, found), (0.7, found)]


def scored(topic: str, known: TermStats, cut: Mapping[int, list[PassageTerms]], meaning: Near) -> Answers:
    return answers(Query(topic=topic, now=NOW), known, cut, cut, measure(known, cut, cut, meaning, meaning))


def order(topic: str, known: TermStats, cut: Mapping[int, list[PassageTerms]], meaning: Near) -> list[int]:
    found = scored(topic, known, cut, meaning)
    return sorted(found, key=lambda row: -found[row][0].score)


@pytest.mark.parametrize(
    ("topic", "name"),
    [
        ("why was exclude-newer raised?", "exclude-newer"),
        ("what came with 0.28.1?", "0.28.1"),
        ("who calls verify_token", "verify_token"),
        ("what is pyproject.toml for", "pyproject.toml"),
    ],
)
def test_a_rare_name_wins_over_meaning(topic: str, name: str) -> None:
    cut = {0: [passage(0, {})], 1: [passage(0, {name: (0, 1)}, "hunk")]}
    assert order(topic, stats({name: 1}), cut, near(0.6, 0.2)) == [1, 0]
    assert order(topic, stats({name: 60}), cut, near(0.6, 0.2)) == [0, 1], "a name that stands everywhere says little"


def test_of_several_names_all_count() -> None:
    names = ("min-score", "max-score")
    cut = {0: [passage(0, {names[0]: (0, 1)})], 1: [passage(0, dict.fromkeys(names, (0, 1)))]}
    found = scored("min-score or max-score", stats(dict.fromkeys(names, 2)), cut, near(0.3, 0.3))
    assert found[0][0].why["exact"] == pytest.approx(found[1][0].why["exact"] / 2)


def test_since_when_leads_to_the_heading_of_a_version() -> None:
    cut = {0: [passage(0, {"sock": (0, 1)})], 1: [passage(0, {"sock": (0, 1)}, is_versioned=True)]}
    assert order("since which version are there sockets", stats({"sock": 2}), cut, near(0.5, 0.5)) == [1, 0]


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
