"""The hierarchy of paths."""

from __future__ import annotations

from collections.abc import Iterable

from memcli.model.memory import Memory

MAX_DEPTH = 120
"""How many levels the tree has; a valid path has no more segments. What lies deeper stays one segment."""


class Node:
    """A segment of a path, the memory that stands there, if any, and what lies below."""

    __slots__ = ("children", "memory", "name")

    def __init__(self, name: str, memory: Memory | None = None) -> None:
        self.name = name
        self.memory = memory
        self.children: dict[str, Node] = {}


def tree(memories: Iterable[Memory], branches: Iterable[str] = ()) -> Node:
    """The memories by the segments of their paths, in order; of those at one path the first. `branches` are paths that are
    shown without what is there."""
    root = Node("")
    places: list[tuple[str, Memory | None]] = [(memory.path, memory) for memory in memories]
    places += ((path, None) for path in branches)
    for path, memory in sorted(places, key=lambda place: place[0].split("/")):
        node = root
        for segment in path.split("/", MAX_DEPTH - 1):
            child = node.children.get(segment)
            if child is None:
                child = node.children[segment] = Node(segment)
            node = child
        node.memory = node.memory or memory
    return root
