"""The hierarchy of paths."""

from __future__ import annotations

from collections.abc import Iterable

from memcli.model.memory import Memory
from memcli.record import Record, field

MAX_DEPTH = 120
"""How many levels the tree has; a valid path has no more segments. What lies deeper stays one segment."""


class Node(Record, frozen=False):
    """A segment of a path, the memory that stands there, if any, and what lies below."""

    name: str
    memory: Memory | None = None
    children: dict[str, Node] = field(default_factory=dict)


def tree(memories: Iterable[Memory]) -> Node:
    """The memories by the segments of their paths, in order; of those at one path the first."""
    root = Node("")
    for memory in sorted(memories, key=lambda m: m.path.split("/")):
        node = root
        for segment in memory.path.split("/", MAX_DEPTH - 1):
            child = node.children.get(segment)
            if child is None:
                child = node.children[segment] = Node(segment)
            node = child
        node.memory = node.memory or memory
    return root
