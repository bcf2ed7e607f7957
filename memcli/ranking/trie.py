"""A radix tree (PATRICIA): keys are runs of letters of any kind, and a node without a choice is no node.

D. Morrison: "PATRICIA - Practical Algorithm To Retrieve Information Coded in Alphanumeric", 1968, with letters
in place of bits.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import Generic, TypeVar

V = TypeVar("V")


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
