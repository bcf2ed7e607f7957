"""Passages on values: names win where they are rare, and the floor asks for what a question can be answered by."""

from __future__ import annotations

from collections.abc import Mapping

import numpy
import pytest

from memcli.model.nearness import Nearness
from memcli.model.recall import FIELDS, PassageTerms, Query, TermStats
from memcli.ranking.answers import Answers, Near, answers, measure
from memcli.ranking.floor import judge_passages
from tests.conftest import NOW

Counts = Mapping[str, tuple[int, int]]


def passage(n: int, counts: Counts, form: str = "prose", *, is_versioned: bool = False) -> PassageTerms:
    return PassageTerms(n, form, True, is_versioned, counts, 50)


def stats(frequencies: Mapping[str, int], size: int = 200) -> TermStats:
    zeros = tuple(0.0 for _ in FIELDS)
    return TermStats(size, zeros, frequencies, {}, {})


def near(*cosines: float) -> Near:
    rows, values = numpy.arange(len(cosines)), numpy.array(cosines)
    found = Nearness(rows, values, {n: n for n in range(len(cosines))}, values)
    return [(0.3, found), (0.7, found)]


def scored(topic: str, known: TermStats, cut: Mapping[int, list[PassageTerms]], meaning: Near) -> Answers:
    return answers(Query(topic=topic, now=NOW), known, cut, measure(known, cut, 50.0, meaning))


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


def test_more_is_asked_for_in_a_large_space_and_of_words_that_nobody_knows() -> None:
    cut = {0: [passage(0, {"token": (0, 1)})]}
    words = {"token": 3, "lifetim": 3}

    def strength(frequencies: Mapping[str, int], passages: int) -> float:
        cosines = (0.5, *[0.0] * (passages - 1))
        judged = judge_passages(stats(frequencies), cut, near(*cosines), (0, 0))
        assert judged is not None
        return judged.words + (judged.cosine or 0.0)

    assert strength(words, 10) > strength(words, 5_000)
    assert strength(words, 10) > strength({**words, "zebra": 0}, 10)


def test_the_floor_parts_what_is_answered_from_what_is_not() -> None:
    known = stats({"token": 3, "lifetim": 3, "minut": 9})
    told = {0: [passage(0, {"token": (1, 1), "lifetim": (0, 1)})]}
    alike = {0: [passage(0, {"minut": (0, 1)})]}
    answered = judge_passages(known, told, near(0.55), (0, 0))
    unanswered = judge_passages(known, alike, near(0.2, *[0.0] * 2000), (0, 0))
    assert answered is not None
    assert answered.is_enough
    assert unanswered is not None
    assert not unanswered.is_enough


def test_without_a_vector_of_the_best_passage_there_is_no_such_evidence() -> None:
    assert judge_passages(stats({"token": 1}), {0: [passage(0, {})]}, near(float("nan")), (0, 0)) is None
