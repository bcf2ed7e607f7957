"""What a query may weigh otherwise."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest

from memcli.errors import UsageError
from memcli.ranking.lexical import COMPONENTS
from tests.conftest import memory
from tests.ranking.asking import ranked

BACKENDS = ("basic", "graph", "hybrid", "patricia", "raptor")
NOTES = [
    memory("old", path="a/quokka", raw="The quokka sleeps.", created_at="2020-01-01T00:00:00Z"),
    memory("new", path="a/else", raw="A marsupial; the quokka, says a long text of many other words.", relevance="low"),
]


WRONG: list[dict[str, object]] = [
    {"weights": {"keyword": -1.0}}, {"weights": {"keyword": float("nan")}}, {"recency_bias": 1.5}, {"recency_bias": -1},
]  # fmt: skip


def test_an_unknown_part_is_named(tmp_path: Path) -> None:
    for backend in BACKENDS:
        with pytest.raises(UsageError, match="'magic'") as caught:
            ranked(tmp_path, backend, "quokka", NOTES, weights={"magic": 1.0})
        assert all(name in (caught.value.hint or "") for name in COMPONENTS), backend


def test_numbers_out_of_range_are_refused(tmp_path: Path) -> None:
    for backend, wrong in product(BACKENDS, WRONG):
        with pytest.raises(UsageError):
            ranked(tmp_path, backend, "quokka", NOTES, **wrong)


def test_a_recency_bias_keeps_what_is_known_of_an_answer(tmp_path: Path) -> None:
    plain = ranked(tmp_path, "fusion", "quokka", [memory("one", raw="The quokka sleeps.")])["one"]
    biased = ranked(tmp_path, "fusion", "quokka", [], recency_bias=0.5)["one"]
    assert biased.confidence == plain.confidence
    assert plain.confidence
    assert (biased.passages, biased.signals) == (plain.passages, plain.signals)
    assert plain.passages


def test_a_recency_bias_raises_what_is_new(tmp_path: Path) -> None:
    ranked(tmp_path, "basic", "quokka", NOTES)
    for bias, first in ((None, "old"), (0.9, "new")):
        found = {name: next(iter(ranked(tmp_path, name, "quokka", [], recency_bias=bias))) for name in BACKENDS}
        assert found == dict.fromkeys(BACKENDS, first)


def test_words_may_count_for_less(tmp_path: Path) -> None:
    for backend in BACKENDS:
        before = ranked(tmp_path, backend, "quokka", NOTES)["old"].score
        assert ranked(tmp_path, backend, "quokka", [], weights={"keyword": 0.1})["old"].score < before, backend


def test_a_weight_takes_the_place_of_the_own_one(tmp_path: Path) -> None:
    plain = ranked(tmp_path, "basic", "quokka", NOTES)["old"].why
    less = ranked(tmp_path, "basic", "quokka", [], weights={"keyword": 0.5})["old"].why
    words = {"path": plain["path"] / 2, "raw": plain["raw"] / 2}
    assert less == {**plain, **words}
