"""The hierarchy of paths."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Generic, TypeVar

MAX_DEPTH = 120
"""How many levels the tree has; a valid path has no more segments. What lies deeper stays one segment."""

_FIRST = "\0"
"""Less than any character of a path."""
_NONE: Mapping[str, int] = MappingProxyType({})


_P = TypeVar("_P")


class TreeNode(Generic[_P]):
    """A segment of a path, the memory that stands there, if any, and what lies below; `has_more` of that is not shown:
    `count` memories are at and below it."""

    __slots__ = ("children", "count", "has_more", "memory", "name")

    def __init__(self, name: str, memory: _P | None = None) -> None:
        self.name = name
        self.memory = memory
        self.children: dict[str, TreeNode[_P]] = {}
        self.has_more = False
        self.count = 0


def tree(placed: Iterable[tuple[str, _P]], branches: Mapping[str, int] = _NONE) -> TreeNode[_P]:
    """Memories, each with its path, by the segments of that, in order; of those at one path the first. `branches` are paths
    that are shown without what lies below, with how many memories that is."""
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
