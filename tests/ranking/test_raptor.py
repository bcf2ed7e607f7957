"""What makes `raptor`: summaries of clusters that lift their members, and recency."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memcli.model.memory import Memory
from memcli.ranking.clusters import LEAF_SIZE, SUMMARY_TERMS, ClusterNode, summary_tree
from tests.conftest import memory
from tests.ranking.asking import ranked

TEXTS = st.lists(st.lists(st.sampled_from("abcdefghij"), max_size=6), min_size=1, max_size=80)


def themed(theme: str, count: int) -> list[Memory]:
    """Memories on one theme, of which the last does not name what the others do."""
    words = {"sea": "harbour tide anchor sailor", "loom": "thread weaving shuttle cotton", "oven": "dough yeast crust"}
    told = words[theme]
    return [
        memory(
            f"{theme}{n}",
            path=f"{theme}/{theme}{n}",
            raw=f"{told} {'lighthouse' if theme == 'sea' and n < count - 1 else ''}",
            tags=(theme,),
        )
        for n in range(count)
    ]


THEMES = [*themed("sea", 7), *themed("loom", 7), *themed("oven", 7)]


def test_the_summary_of_a_cluster_lifts_a_leaf_that_alone_would_not_match(tmp_path: Path) -> None:
    found = ranked(tmp_path, "raptor", "lighthouse", THEMES)
    assert list(found)[-1] == "sea6"
    assert set(found) == {f"sea{n}" for n in range(7)}
    assert set(found["sea6"].why) == {"cluster", "recency"}
    assert len({round(hit.why["cluster"], 9) for hit in found.values()}) == 1


def test_what_is_recent_comes_first(tmp_path: Path) -> None:
    made = {"new": "2026-01-30T09:30:00Z", "month": "2026-01-01T09:30:00Z", "old": "2020-01-01T09:30:00Z"}
    notes = [memory(name, raw="The same text.", path=f"p/{name}", created_at=at) for name, at in made.items()]
    found = ranked(tmp_path, "raptor", "same text", notes)
    assert list(found) == ["new", "month", "old"]
    assert found["month"].why["recency"] == pytest.approx(0.05 * 2.718281828**-1)


def test_a_pin_adds(tmp_path: Path) -> None:
    notes = [memory(name, raw="The same text.", path=f"p/{name}", pinned=name == "b") for name in "ab"]
    assert list(ranked(tmp_path, "raptor", "same text", notes)) == ["b", "a"]


def check(node: ClusterNode) -> None:
    """Raises AssertionError unless every summary is made of those below it, and every cluster is cut to size."""
    assert len(node.shares) <= SUMMARY_TERMS
    assert all(0 < share <= 1 for share in node.shares.values())
    if node.parts:
        assert set(node.shares) <= {term for part in node.parts for term in part.shares}
        assert sorted(row for part in node.parts for row in part.members) == sorted(node.members)
    else:
        assert 1 <= len(node.members) <= LEAF_SIZE
    for part in node.parts:
        check(part)


@given(TEXTS)
def test_a_tree_holds_every_text_once_is_cut_to_size_and_sums_up_what_is_below(texts: list[list[str]]) -> None:
    tree = summary_tree({100 - n: text for n, text in enumerate(texts)})
    check(tree)
    assert sorted(tree.members) == sorted(100 - n for n in range(len(texts)))
    assert depth(tree) <= 20  # log(80 / 8) / log(1 / 0.8), and some for what is rounded


def test_equal_texts_are_cut_too() -> None:
    check(summary_tree({n: ["a"] for n in range(100)}))


def depth(cluster: ClusterNode) -> int:
    return 1 + max((depth(part) for part in cluster.parts), default=0)
