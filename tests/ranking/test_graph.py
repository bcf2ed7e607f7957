"""What makes `graph`: a cascade over tags, clusters and links, weaker with every step."""

from __future__ import annotations

from pathlib import Path

import pytest

from memcli.model.memory import Memory
from memcli.ranking.graph import STARTS, cascade, graph_of
from memcli.ranking.graph import WalkPath as Way
from tests.conftest import memory
from tests.ranking.asking import link, ranked


def chain(first: dict[str, object], second: dict[str, object], third: dict[str, object]) -> list[Memory]:
    """Four memories of which only the first answers, each linked to the next."""
    return [
        memory("a", path="w/alpha", raw="The quokka sleeps.", links=(first,)),
        memory("b", path="x/beta", raw="Rust.", links=(second,)),
        memory("c", path="y/gamma", raw="Yeast.", links=(third,)),
        memory("d", path="z/delta", raw="Wool."),
    ]


def strengths(folder: Path, memories: list[Memory]) -> dict[str, tuple[str, float]]:
    """How each hit was reached and how strong the path was, as a share of that of the start."""
    found = {}
    start = 0.0
    for name, hit in ranked(folder, "graph", "quokka", memories).items():
        (tie, strength), *_ = hit.why.items()
        start = start or strength
        found[name] = (tie, strength / start)
    return found


@pytest.mark.parametrize(
    ("relation", "weight", "factor"),
    [
        ("relates_to", 0.5, 0.5), ("relates_to", None, 1.0), ("supersedes", 0.2, 0.9), ("contradicts", 1.0, 0.3),
        ("derived_from", 1.0, 0.3), ("depends_on", None, 0.3),
    ],
)  # fmt: skip
def test_two_steps_over_links(tmp_path: Path, relation: str, weight: float | None, factor: float) -> None:
    memories = chain(link("b", relation, weight), link("c", "relates_to", 0.8), link("d", "relates_to", 1.0))
    found = strengths(tmp_path, memories)
    assert list(found) == ["a", "b", "c"]  # `d` is three steps away
    assert found["b"] == (f"words>{relation}", pytest.approx(0.7 * factor))
    assert found["c"] == (f"words>{relation}>relates_to", pytest.approx(0.7 * factor * 0.7 * 0.8))


def test_links_tie_both_ways(tmp_path: Path) -> None:
    notes = [
        memory("a", path="w/alpha", raw="The quokka sleeps."),
        memory("b", path="x/beta", raw="Rust.", links=(link("a", "derived_from"), link("nobody", "relates_to"))),
    ]
    assert strengths(tmp_path, notes)["b"] == ("words>derived_from", pytest.approx(0.7 * 0.3))


def test_tags_tie(tmp_path: Path) -> None:
    notes = [
        memory("a", path="w/alpha", raw="The quokka sleeps.", tags=("one",)),
        memory("b", path="x/beta", raw="Rust.", tags=("one", "two")),
        memory("c", path="y/gamma", raw="Yeast.", tags=("two",)),
    ]
    found = strengths(tmp_path, notes)
    assert found["b"] == ("words>tag", pytest.approx(0.8 * 0.7))
    assert found["c"] == ("words>tag>tag", pytest.approx((0.8 * 0.7) ** 2))


def test_clusters_tie(tmp_path: Path) -> None:
    told = {"sea": "harbour tide anchor sailor", "loom": "thread weaving shuttle cotton"}
    notes = [
        memory(f"{theme}{n}", path=f"{theme}/{theme}{n}", raw=f"{words} {'quokka' if (theme, n) == ('sea', 0) else ''}")
        for theme, words in told.items()
        for n in range(9)
    ]
    found = strengths(tmp_path, notes)
    assert set(found) == {f"sea{n}" for n in range(9)}
    assert found["sea5"] == ("words>cluster", pytest.approx(0.6 * 0.7))


def test_hidden_memories_hand_nothing_on(tmp_path: Path) -> None:
    memories = chain(link("b", "relates_to"), link("c", "relates_to"), link("d", "relates_to"))
    hidden = [memory("b", path="x/beta", raw="Rust.", links=(link("c", "relates_to"),), active=False)]
    assert set(strengths(tmp_path, [*memories, *hidden])) == {"a"}


def test_a_changed_link_is_seen(tmp_path: Path) -> None:
    memories = chain(link("b", "relates_to"), link("c", "relates_to"), link("d", "relates_to"))
    strengths(tmp_path, memories)
    assert set(strengths(tmp_path, [memory("a", path="w/alpha", raw="The quokka sleeps.")])) == {"a"}


def test_few_memories_start(tmp_path: Path) -> None:
    notes = [memory(f"m{n:02}", path=f"p{n}/q{n}", raw=f"The quokka w{n}x.") for n in range(STARTS + 5)]
    found = strengths(tmp_path, notes)
    assert sum(tie == "words" for tie, _ in found.values()) == STARTS


def test_the_best_path_wins_and_a_link_of_no_weight_ties_nothing() -> None:
    graph = graph_of(
        {"t": [1, 3]}, [], [(1, 2, "supersedes", 1.0), (2, 3, "supersedes", 1.0), (1, 3, "contradicts", 1)]
    )
    found = cascade(graph, {1: Way(1.0, ("meaning",))})
    assert found[3] == Way(pytest.approx(0.56), ("meaning", "tag"))  # type: ignore[arg-type]
    far = cascade(
        graph_of({}, [], [(1, 2, "supersedes", 1.0), (2, 3, "supersedes", 1.0), (1, 3, "x", 1)]), {1: Way(1, ())}
    )
    assert far[3].strength == pytest.approx(0.63 * 0.63)
    no_weight = graph_of({}, [], [(1, 2, "relates_to", 0.0)])
    assert set(cascade(no_weight, {1: Way(1.0, ())})) == {1}
