"""The tree of the paths of a space."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Generic, TypeVar

MAX_DEPTH = 120
"""The maximum depth of the tree, as many segments as a valid path can have. Of a longer one the rest is one segment."""

_FIRST = "\0"
"""Sorts before any character of a path, so that children follow their parent."""
_NONE: Mapping[str, int] = MappingProxyType({})


_P = TypeVar("_P")


class TreeNode(Generic[_P]):
    """A segment of a path, with the memory at that path, if any, and its children. `has_more`: the children are not loaded;
    `count` is the number of memories at and below the path then."""

    __slots__ = ("children", "count", "has_more", "memory", "name")

    def __init__(self, name: str, memory: _P | None = None) -> None:
        self.name = name
        self.memory = memory
        self.children: dict[str, TreeNode[_P]] = {}
        self.has_more = False
        self.count = 0


def tree(placed: Iterable[tuple[str, _P]], branches: Mapping[str, int] = _NONE) -> TreeNode[_P]:
    """The root of the tree of memories given with their paths, children in order; of several at one path it has the first.
    `branches` are paths whose children are not loaded, with the number of memories at and below them."""
    root = TreeNode[_P]("")
    places: list[tuple[str, _P | None]] = [*placed, *((path, None) for path in branches)]
    for path, memory in sorted(places, key=lambda place: place[0].replace("/", _FIRST)):
        node = root
        for segment in path.split("/", MAX_DEPTH - 1):
            child = node.children.get(segment)
            if child is None:
                child = node.children[segment] = TreeNode[_P](segment)
            node = child
        node.memory = node.memory or memory
        node.has_more |= memory is None
        node.count = branches.get(path, 0) if memory is None else node.count
    return root
