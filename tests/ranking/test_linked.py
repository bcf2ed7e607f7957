"""What is linked to a memory that answers comes with it, by evidence alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from memcli.model.memory import Memory
from memcli.ranking.fusion import ALONG, MOST_LINKS
from tests.conftest import memory
from tests.ranking.asking import link, noise, ranked, ranking


def store(*links: dict[str, object], **fields: object) -> list[Memory]:
    """One memory that answers, one that it may be linked to, and others that do not matter."""
    return [
        memory("a", path="w/alpha", raw="The quokka sleeps at noon.", links=links),
        memory("b", path="x/beta", **{"raw": "Rust needs a linker.", **fields}),
        *(memory(f"f{n}", path=f"y/f{n}", raw=f"Filler number {n} on yeast and wool.") for n in range(8)),
    ]


def test_what_the_answer_leads_to_comes_with_its_share_and_what_leads_to_it_too(tmp_path: Path) -> None:
    for relation in ("contradicts", "depends_on", "derived_from", "relates_to"):
        hits = ranked(tmp_path, "fusion", "quokka", store(link("b", relation)))
        assert list(hits)[:2] == ["a", "b"], relation
        assert hits["b"].score == pytest.approx(hits["a"].score * ALONG[relation])
        assert dict(hits["b"].why) == {f"via mem_a ({relation})": pytest.approx(hits["b"].score)}
        assert list(ranked(tmp_path, "fusion", "linker", []))[:2] == ["b", "a"], relation


def test_a_weak_link_is_no_evidence(tmp_path: Path) -> None:
    assert list(ranked(tmp_path, "fusion", "quokka", store(link("b", "relates_to", 0.3)))) == ["a"]


def test_a_contradiction_comes_however_weak_its_link(tmp_path: Path) -> None:
    assert list(ranked(tmp_path, "fusion", "quokka", store(link("b", "contradicts", 0.1)))) == ["a", "b"]


def test_what_is_filtered_out_does_not_come_back(tmp_path: Path) -> None:
    links = [link("b", relation) for relation in ALONG]
    gone: list[dict[str, object]] = [
        {"active": False}, {"valid_until": "2020-01-01T00:00:00Z"}, {"superseded_by": "mem_a"},
    ]  # fmt: skip
    assert [list(ranked(tmp_path, "fusion", "quokka", store(*links, **one))) for one in gone] == [["a"]] * 3


def test_a_link_raises_nothing_above_its_own_score(tmp_path: Path) -> None:
    both = store(link("b", "depends_on"), raw="The quokka sleeps at noon and at night.")
    hits = ranked(tmp_path, "fusion", "quokka noon night", both)
    assert next(iter(hits)) == "b"
    assert not any(name.startswith("via") for name in hits["b"].why)


def test_one_step_only(tmp_path: Path) -> None:
    chain = store(link("b", "contradicts"), links=(link("f0", "contradicts"),))
    assert list(ranked(tmp_path, "fusion", "quokka", chain)) == ["a", "b"]


def test_many_links_do_not_fill_the_answer(tmp_path: Path) -> None:
    links = [link(f"f{n}", "relates_to") for n in range(8)]
    assert len(ranked(tmp_path, "fusion", "quokka", store(*links))) == 1 + MOST_LINKS
    against = [link(f"f{n}", "contradicts") for n in range(8)]
    assert len(ranked(tmp_path, "fusion", "quokka", store(*against))) == 1 + 8


def test_links_to_other_spaces_and_to_nothing_change_nothing(tmp_path: Path) -> None:
    abroad = {**link("b", "contradicts"), "to": "notes:mem_b"}
    assert ranked(tmp_path / "1", "fusion", "quokka", store(abroad)) == ranked(
        tmp_path / "2", "fusion", "quokka", store()
    )


def test_what_does_not_bear_on_the_question_brings_nothing_along(tmp_path: Path) -> None:
    pair = [
        memory("a", path="ci/windows", raw="The Windows CI job takes 20 minutes.", links=[link("b", "contradicts")]),
        memory("b", path="ci/now", raw="The Windows CI job takes 35 minutes now.", links=[link("a", "contradicts")]),
    ]
    found = ranking(tmp_path, "fusion", "why did we remove HSTS support?", [*pair, *noise(3)], embedder="onnx")
    assert found.hits == ()
