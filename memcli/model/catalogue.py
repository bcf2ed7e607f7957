"""What is asked of a space by those who list it or count it, and what they get."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

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
