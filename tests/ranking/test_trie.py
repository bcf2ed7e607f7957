"""The radix tree against a plain dict."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from memcli.ranking.points import Trie

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


@given(st.lists(KEYS, max_size=12), KEYS)
def test_the_longest_prefix(keys: list[tuple[str, ...]], asked: tuple[str, ...]) -> None:
    assert filled(keys).longest(asked) == max((shared(key, asked) for key in keys), default=0)


@given(st.lists(KEYS, max_size=12))
def test_a_node_without_a_choice_is_no_node(keys: list[tuple[str, ...]]) -> None:
    distinct = {key for key in keys if key}
    forks = {key[:n] for key in distinct for n in range(1, len(key)) if len(followers(distinct, key[:n])) > 1}
    assert filled(keys).nodes() == 1 + len(distinct | forks)


def followers(keys: set[tuple[str, ...]], prefix: tuple[str, ...]) -> set[str]:
    return {key[len(prefix)] for key in keys if len(key) > len(prefix) and key[: len(prefix)] == prefix}


def test_a_long_key_is_one_node() -> None:
    assert filled([tuple("abcdefghij")]).nodes() == 2
