"""What is asked of a space by those who list it or count it, and what they get.

The hierarchy of paths.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Generic, Protocol, TypeVar

from memcli.model.memory import Memory
from memcli.model.space import is_under
from memcli.record import Record, field


class CatalogueFilter(Record):
    """Which memories: at or below a path, of one of `kinds`, with all of `tags`; forgotten and superseded ones only with
    `inactive`. Of a path with more than `depth` segments only those are wanted."""

    under: str = ""
    kinds: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    inactive: bool = False
    depth: int | None = None

    def has(self, memory: Memory) -> bool:
        """Whether the memory is wanted."""
        return (
            is_under(memory.path, self.under)
            and (self.inactive or (memory.active and memory.superseded_by is None))
            and (not self.kinds or memory.kind in self.kinds)
            and all(tag in memory.tags for tag in self.tags)
        )

    def branch(self, path: str) -> str | None:
        """What is wanted of a path that is too long; None for one that is wanted as it is."""
        if self.depth is None:
            return None
        parts = path.split("/", self.depth)
        return path[: -len(parts[-1]) - 1] if len(parts) > self.depth else None


def tag_counts(found: Iterable[tuple[str, int]]) -> Counter[str]:
    """How often each tag occurs, from texts of tags with blanks between them, and how often each text does."""
    tags: Counter[str] = Counter()
    for text, number in found:
        for tag in text.split():
            tags[tag] += number
    return tags


class Counts(Record):
    """A space in numbers, with how often each kind, relevance and tag occurs."""

    objects: int = 0
    active: int = 0
    superseded: int = 0
    pinned: int = 0
    characters: int = 0
    oldest: str = ""
    newest: str = ""
    kinds: Counter[str] = field(default_factory=Counter)
    relevance: Counter[str] = field(default_factory=Counter)
    tags: Counter[str] = field(default_factory=Counter)


MAX_DEPTH = 120
"""How many levels the tree has; a valid path has no more segments. What lies deeper stays one segment."""

_FIRST = "\0"
"""Less than any character of a path."""
_NONE: Mapping[str, int] = MappingProxyType({})


class Placed(Protocol):
    """What stands at a path."""

    @property
    def path(self) -> str: ...


_P = TypeVar("_P", bound=Placed)


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


def tree(memories: Iterable[_P], branches: Mapping[str, int] = _NONE) -> TreeNode[_P]:
    """The memories by the segments of their paths, in order; of those at one path the first. `branches` are paths that
    are shown without what lies below, with how many memories that is."""
    root = TreeNode[_P]("")
    places: list[tuple[str, _P | None]] = [(memory.path, memory) for memory in memories]
    places += ((path, None) for path in branches)
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
