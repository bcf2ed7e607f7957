"""What makes `patricia`: the deeper the prefix, the higher."""

from __future__ import annotations

from pathlib import Path

import pytest

from memcli.ranking.points import INNER_POINTS, PREFIX_POINTS, letters_of
from tests.conftest import memory
from tests.ranking.asking import ranked

PATHS = [
    memory("deep", path="shop/auth/tokens/refresh", raw="One."),
    memory("near", path="shop/auth/tokens", raw="Two."),
    memory("half", path="shop/auth/login", raw="Three."),
    memory("far", path="shop/billing/invoices", raw="Four."),
    memory("other", path="docs/style", raw="Five."),
]


def prefix(folder: Path, topic: str) -> dict[str, float]:
    return {name: hit.why.get("prefix", 0.0) for name, hit in ranked(folder, "patricia", topic, PATHS).items()}


def test_the_deeper_prefix_wins(tmp_path: Path) -> None:
    found = prefix(tmp_path, "shop/auth/tokens/refresh")
    assert list(found) == ["deep", "near", "half", "far"]
    assert found == {name: n * PREFIX_POINTS for name, n in (("deep", 4), ("near", 3), ("half", 2), ("far", 1))}


def test_the_words_of_a_topic_are_starts(tmp_path: Path) -> None:
    found = prefix(tmp_path, "how does the shop auth token work")
    assert (found["near"], found["half"], found["far"]) == (3 * PREFIX_POINTS, 2 * PREFIX_POINTS, PREFIX_POINTS)


def test_a_path_may_begin_inside(tmp_path: Path) -> None:
    found = prefix(tmp_path, "auth/Token")
    assert (found["near"], found["half"]) == (2 * INNER_POINTS, INNER_POINTS)
    assert "other" not in found


def test_a_prefix_is_found_where_its_words_are_common(tmp_path: Path) -> None:
    many = [memory(f"m{n:02}", path=f"app/part-{n:02}", raw="Text.") for n in range(30)]
    assert len(ranked(tmp_path, "patricia", "app/part-07", many)) == 30


@pytest.mark.parametrize(
    ("path", "letters"),
    [
        ("auth/Tokens", ("auth", "token")),
        ("git/force-push", ("git", "forc push")),
        ("the/of", ("the", "of")),
        ("//", ("", "", "")),
    ],
)
def test_segments_are_analysed(path: str, letters: tuple[str, ...]) -> None:
    assert letters_of(path) == tuple(letter for letter in letters if letter)


def test_segments_of_several_words_are_met_by_several_words(tmp_path: Path) -> None:
    found = ranked(tmp_path, "patricia", "about force push rules", [memory("a", path="git/force-push", raw="No.")])
    assert found["a"].why["prefix"] == INNER_POINTS
