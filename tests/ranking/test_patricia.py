"""What makes `patricia`: the deeper the prefix, the higher; and its radix tree against a plain dict."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from memcli.ranking.points import INNER_POINTS, PREFIX_POINTS, Trie, letters_of
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


def test_segments_are_analysed() -> None:
    paths = ("auth/Tokens", "git/force-push", "the/of", "//")
    assert [letters_of(path) for path in paths] == [("auth", "token"), ("git", "forc push"), ("the", "of"), ()]


def test_segments_of_several_words_are_met_by_several_words(tmp_path: Path) -> None:
    found = ranked(tmp_path, "patricia", "about force push rules", [memory("a", path="git/force-push", raw="No.")])
    assert found["a"].why["prefix"] == INNER_POINTS


KEYS = st.lists(st.sampled_from("abc"), max_size=6).map(tuple)


def filled(keys: list[tuple[str, ...]]) -> Trie[int]:
    trie: Trie[int] = Trie()
    for n, key in enumerate(keys):
        trie.insert(key, n)
    return trie


def shared(left: tuple[str, ...], right: tuple[str, ...]) -> int:
    n = 0
    while n < min(len(left), len(right)) and left[n] == right[n]:
        n += 1
    return n


@given(st.lists(KEYS, max_size=12), KEYS)
def test_matches_are_those_of_a_plain_dict(keys: list[tuple[str, ...]], asked: tuple[str, ...]) -> None:
    plain = {n: depth for n, key in enumerate(keys) if (depth := shared(key, asked))}
    found = list(filled(keys).matches(asked))
    assert {value: depth for depth, value in found} == plain
    assert len(found) == len(plain)
    assert [depth for depth, _ in found] == sorted(plain.values(), reverse=True)
