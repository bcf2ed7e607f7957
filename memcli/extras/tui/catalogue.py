"""The catalogue: the memories of a space as they were read at one time, and those in the scope of the browser."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing
from functools import cached_property

from memcli.app.workspace import Workspace
from memcli.model.catalogue import CatalogueFilter
from memcli.model.links import elsewhere
from memcli.model.memory import Memory
from memcli.model.space import Space
from memcli.present.links import MemoryLink, links_by_target, links_of
from memcli.record import replace


class PathCatalogue:
    """The memories of a space in order of path, with the texts that the filter searches.

    `scope` selects `memories`, of which forgotten and superseded ones are part; `show` redacts a memory; `fingerprint` is that
    of the snapshot of the space.
    """

    def __init__(
        self,
        space: Space,
        fingerprint: str,
        scope: CatalogueFilter,
        show: Callable[[Memory], Memory] = lambda memory: memory,
    ) -> None:
        self.space = space.name
        self.show = show
        self.fingerprint = fingerprint
        # Forgotten and superseded ones are read too, so that `a` shows them without reading the space again.
        browsed = replace(scope, inactive=True)
        self.memories = sorted(filter(browsed.has, space.objects), key=lambda m: (m.path, m.id))
        self._by_id = {m.id: m for m in space.objects}

    def find(self, name: str) -> Memory | None:
        """The memory with the id `name`, in the scope or not; None if there is none."""
        return self._by_id.get(name)

    def at(self, path: str) -> Memory | None:
        """The memory at a path, in the scope or not; None if there is none."""
        return next((memory for memory in self._by_id.values() if memory.path == path), None)

    def matching(self, words: Sequence[str], everything: bool) -> list[Memory]:
        """The memories with all of the casefolded words; with `everything` also forgotten and superseded ones."""
        texts = self._texts if words else [""] * len(self.memories)
        return [
            m for m, text in zip(self.memories, texts, strict=True)
            if (everything or is_current(m)) and all(word in text for word in words)
        ]  # fmt: skip

    def links(self, memory: Memory) -> list[MemoryLink]:
        """The links from and to a memory; the place of a link in the list is its number, from 1."""
        return links_of(memory, self._incoming)

    def far(self, memory: Memory, n: int) -> tuple[str, str] | None:
        """The space and the id of the memory at the n-th link, if that is in another space; None otherwise."""
        links = self.links(memory)
        return elsewhere(links[n - 1].other) if n <= len(links) and self.find(links[n - 1].other) is None else None

    def contradicting(self, memory: Memory) -> list[tuple[int, Memory]]:
        """The current memories that contradict a memory, each with the number of its link."""
        numbered = enumerate(self.links(memory), 1)
        found = [(n, self.find(link.other)) for n, link in numbered if link.relation == "contradicts"]
        return [(n, other) for n, other in found if other is not None and is_current(other)]

    # Made at the first word of a filter, and kept, since each further key searches it again.
    @cached_property
    def _texts(self) -> list[str]:
        return [
            "\n".join((m.path, m.kind, m.id, *(f"#{tag}" for tag in m.tags), m.summary_micro, m.raw)).casefold()
            for m in self.memories
        ]

    @cached_property
    def _incoming(self) -> dict[str, list[MemoryLink]]:
        return links_by_target(self._by_id.values())


def is_current(memory: Memory) -> bool:
    """Whether recall may return the memory: it is neither forgotten nor superseded."""
    return memory.active and memory.superseded_by is None


def read(workspace: Workspace, scope: CatalogueFilter) -> PathCatalogue:
    """Reads the catalogue of the space. Raises CorruptError, StoreError."""
    with closing(workspace.store.open(workspace.space)) as snapshot:
        space = snapshot.load()
        return PathCatalogue(
            space, snapshot.fingerprint, scope, lambda memory: workspace.redactor.show([memory], space.policy)[0]
        )


def fingerprint(workspace: Workspace) -> str:
    """The current fingerprint of the space, without parsing it. Raises StoreError."""
    with closing(workspace.store.open(workspace.space)) as snapshot:
        return snapshot.fingerprint
