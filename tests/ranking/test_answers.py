"""Passages on values: names win where they are rare, and versions where the topic asks since when."""

from __future__ import annotations

from collections.abc import Mapping

import numpy
import pytest

from memcli.model.recall import Nearness, PassageTerms, Query, TermStats
from memcli.ranking.answers import Answers, Near, answers, measure
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
