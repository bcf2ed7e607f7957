"""The filter by which the memories of a space are listed and counted, and the counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from memcli.model.memory import Memory
from memcli.model.space import is_under
from memcli.record import Record, field


class CatalogueFilter(Record):
    """Selects memories at or below a path, of one of `kinds`, with all of `tags`; forgotten and superseded ones only with
    `inactive`. Paths with more than `depth` segments are cut to so many, and stand for a branch of the tree."""

    under: str = ""
    kinds: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    inactive: bool = False
    depth: int | None = None

    def has(self, memory: Memory) -> bool:
        """Whether the filter selects the memory."""
        return (
            is_under(memory.path, self.under)
            and (self.inactive or (memory.active and memory.superseded_by is None))
            and (not self.kinds or memory.kind in self.kinds)
            and all(tag in memory.tags for tag in self.tags)
        )

    def branch(self, path: str) -> str | None:
        """The first `depth` segments of a longer path; None for a path that is not cut."""
        if self.depth is None:
            return None
        parts = path.split("/", self.depth)
        return path[: -len(parts[-1]) - 1] if len(parts) > self.depth else None


def tag_counts(found: Iterable[tuple[str, int]]) -> Counter[str]:
    """How often each tag occurs. `found` are pairs of tags, separated by blanks, and the number of memories that have them."""
    tags: Counter[str] = Counter()
    for text, number in found:
        for tag in text.split():
            tags[tag] += number
    return tags


class Counts(Record):
    """The number of memories of a space, in all and by state, kind, relevance and tag; `characters` are those of their texts."""

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
