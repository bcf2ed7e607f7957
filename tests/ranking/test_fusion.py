"""What makes `fusion`: words and meaning together, groups, and what was stated."""

from __future__ import annotations

from pathlib import Path

import pytest

from memcli.model.recall import LEAST, Ranking
from memcli.ranking.lexical import PROSE
from tests.conftest import memory
from tests.ranking.asking import ranked, ranking

TOPIC = "which database engine"
ENGINE = memory("engine", raw="The database engine is PostgreSQL.")
STORE = memory("store", raw="We picked PostgreSQL as our SQL server.")
LUNCH = memory("lunch", raw="Lunch is at noon.")


def ids(found: Ranking) -> list[str]:
    return [hit.entry.id.removeprefix("mem_") for hit in found.hits]


def test_without_an_embedder_words_alone_decide(tmp_path: Path) -> None:
    found = ranking(tmp_path, "fusion", TOPIC, [LUNCH, STORE, ENGINE])
    assert (ids(found), found.is_degraded) == (["engine"], True)
    assert "meaning" not in found.hits[0].why


def test_meaning_finds_what_shares_no_word_and_the_tail_far_below_the_best_is_left_out(tmp_path: Path) -> None:
    found = ranking(tmp_path, "fusion", TOPIC, [LUNCH, STORE], "onnx")
    assert (ids(found), found.is_degraded) == (["store"], False)
    assert found.hits[0].score >= PROSE.tail
    found = ranking(tmp_path, "fusion", TOPIC, [ENGINE], "onnx")
    assert ids(found) == ["engine"]
    assert all(found.hits[0].why.values())


def test_too_little_evidence_is_no_answer(tmp_path: Path) -> None:
    found = ranking(tmp_path, "fusion", TOPIC, [LUNCH, memory("walk", raw="We walk at one.")], "onnx")
    assert ids(found) == []
    assert found.confidence is not None
    assert found.confidence < LEAST


def test_what_a_filter_hides_sets_no_scale(tmp_path: Path) -> None:
    other = memory("other", kind="guide", raw="The database engine, the database engine: MySQL.")
    whole = ranked(tmp_path / "1", "fusion", TOPIC, [ENGINE, other], kinds=(ENGINE.kind,))
    assert whole.keys() == {"engine"}
    alone = ranked(tmp_path / "2", "fusion", TOPIC, [ENGINE])
    assert whole["engine"].why["words"] == pytest.approx(alone["engine"].why["words"])


def test_a_group_that_answers_brings_in_its_members(tmp_path: Path) -> None:
    commit = [
        memory("change", raw="Choose the database engine.", kind="code", metadata={"group": "commit"}),
        memory("file", raw="pool = connect()", kind="code", metadata={"group": "commit"}),
        memory("apart", raw="pool = connect()", kind="code"),
    ]
    assert list(ranked(tmp_path, "fusion", TOPIC, commit)) == ["change", "file"]


def test_what_was_stated_counts_more_than_code_that_says_the_same(tmp_path: Path) -> None:
    both = [memory(name, raw=ENGINE.raw, kind=kind) for name, kind in (("a", "code"), ("b", "decision"))]
    name, hit = next(iter(ranked(tmp_path, "fusion", TOPIC, both).items()))
    assert (name, hit.why["stated"] > 0) == ("b", True)
