"""`patricia`: a compressed trie over the segments of paths; the deeper a topic goes down it, the higher what is there.

A radix tree (D. Morrison: "PATRICIA - Practical Algorithm To Retrieve Information Coded in Alphanumeric", 1968) whose keys
are runs of letters of any kind, here the segments of paths; a node without a choice is no node.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import accumulate
from typing import TYPE_CHECKING, Generic, TypeVar

from memcli.model.recall import Entry
from memcli.ranking.points import OWN_WEIGHTS, points
from memcli.ranking.scorer import Parts, ScoreInput, ScoringScheme
from memcli.text.words import simple_terms

if TYPE_CHECKING:
    from memcli.ports.views import SpaceView

V = TypeVar("V")

PREFIX_POINTS = 3.0
"""For each segment that topic and path share from the first segment of the path on."""
INNER_POINTS = 1.5
"""For each segment that they share from a later one on."""
MAX_WORDS = 64
"""So many words of a topic are tried as starts."""
MAX_DEPTH = 16
MAX_COMPOUND = 3
"""So many words of a topic may make up one segment, such as `force-push`."""

_PATH = re.compile(r"[^\s/]*(?:/[^\s/]+)+/?")


class Trie(Generic[V]):
    """Values under keys. A key may hold several values, in the order in which they came."""

    def __init__(self) -> None:
        self._root: _Node[V] = _Node(())

    def insert(self, key: Sequence[str], value: V) -> None:
        """Adds a value under the key."""
        node, rest = self._root, tuple(key)
        while rest:
            child = node.children.get(rest[0])
            if child is None:
                child = node.children[rest[0]] = _Node(rest)
            shared = _shared(child.label, rest)
            if shared < len(child.label):
                child = node.children[rest[0]] = child.split(shared)
            node, rest = child, rest[shared:]
        node.values.append(value)

    def longest(self, key: Sequence[str]) -> int:
        """How many letters at the start of `key` are also the start of some key that is stored."""
        return sum(shared for shared, _ in self._walk(tuple(key)))

    def matches(self, key: Sequence[str]) -> Iterator[tuple[int, V]]:
        """Every value whose key begins as `key` does, with how many letters the two share, most first."""
        steps = list(self._walk(tuple(key)))
        depths = accumulate(shared for shared, _ in steps)
        inner = [node for _, node in steps[1:]]
        passed = list(zip(depths, (node for _, node in steps), [*inner, None][: len(steps)], strict=True))
        for depth, node, after in reversed(passed):
            for value in node.all(without=after):
                yield depth, value

    def nodes(self) -> int:
        """How many nodes there are, with the root."""
        return self._root.count()

    def _walk(self, key: tuple[str, ...]) -> Iterator[tuple[int, _Node[V]]]:
        """The nodes on the way of `key`, each with how many letters of its label agree; only the last may disagree."""
        node: _Node[V] | None = self._root.children.get(key[0]) if key else None
        while node is not None:
            shared = _shared(node.label, key)
            yield shared, node
            key = key[shared:]
            node = node.children.get(key[0]) if key and shared == len(node.label) else None


class _Node(Generic[V]):
    """A run of letters, what ends with it, and what goes on after it, by the next letter."""

    __slots__ = ("children", "label", "values")

    def __init__(self, label: tuple[str, ...]) -> None:
        self.label = label
        self.values: list[V] = []
        self.children: dict[str, _Node[V]] = {}

    def split(self, at: int) -> _Node[V]:
        """A node for the first `at` letters of this one, which keeps the rest and becomes its child."""
        above: _Node[V] = _Node(self.label[:at])
        self.label = self.label[at:]
        above.children[self.label[0]] = self
        return above

    def all(self, without: _Node[V] | None = None) -> Iterator[V]:
        """The values here and below, but for those below `without`."""
        waiting = [self]
        while waiting:
            node = waiting.pop()
            yield from node.values
            waiting.extend(child for child in node.children.values() if child is not without)

    def count(self) -> int:
        return 1 + sum(child.count() for child in self.children.values())


def _shared(left: tuple[str, ...], right: tuple[str, ...]) -> int:
    """How many letters at their start are the same."""
    length = min(len(left), len(right))
    return next((n for n in range(length) if left[n] != right[n]), length)


Paths = Trie[tuple[int, bool]]
"""Rows under each end of their paths, and whether that is the whole path."""


def paths_of(_: SpaceView, entries: Mapping[int, Entry]) -> Paths:
    """The trie of all paths and of all that they end with, so that a topic need not begin at the root."""
    paths: Paths = Trie()
    for row, entry in entries.items():
        letters = letters_of(entry.path)
        for start in range(len(letters)):
            paths.insert(letters[start:], (row, start == 0))
    return paths


def letters_of(path: str) -> tuple[str, ...]:
    """The segments of a path, each as its terms: `auth/Tokens` and `auth/token` are the same."""
    return tuple(letter for segment in path.split("/") if (letter := _letter(segment)))


def depths_of(topic: str, words: list[str], paths: Paths) -> dict[int, float]:
    """The points of each row for its deepest match with the topic."""
    best: dict[int, float] = {}
    for start in _starts(topic, words):
        for depth, (row, is_whole) in paths.matches(start):
            found = depth * (PREFIX_POINTS if is_whole else INNER_POINTS)
            best[row] = max(best.get(row, 0.0), found)
    return best


def _starts(topic: str, words: list[str]) -> Iterator[tuple[str, ...]]:
    """The runs of letters to look up: the paths in the topic, or its words from each one on."""
    written = [letters_of(match[0])[:MAX_DEPTH] for match in _PATH.finditer(topic[: MAX_WORDS * 64])]
    if written:
        yield from written
        return
    for n in range(min(len(words), MAX_WORDS)):
        for length in range(1, MAX_COMPOUND + 1):
            yield (" ".join(words[n : n + length]), *words[n + length : n + MAX_DEPTH])


@lru_cache(maxsize=50_000)
def _letter(segment: str) -> str:
    """A segment of nothing but stop words stands for itself."""
    return " ".join(simple_terms(segment)) or segment.lower()


def _patricia(given: ScoreInput) -> Parts:
    """The points of `basic` and those of the deepest match in the trie.

    What looks like a path in the topic is looked up as such; else every word of it may be where a path begins.
    """
    depths = depths_of(given.query.topic, simple_terms(given.query.topic), given.structure)
    parts = {row: points(given, row) for row in {**given.stats.counts, **depths} if row in given.visible}
    for row in parts.keys() & depths.keys():
        parts[row]["prefix"] = depths[row]
    return parts


PATRICIA = ScoringScheme(
    _patricia, OWN_WEIGHTS, terms=lambda topic: list(dict.fromkeys(simple_terms(topic))), build=paths_of
)
