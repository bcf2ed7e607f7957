"""The catalogue: one reading of a space, and the part of it that is browsed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property

from memcli.app.catalogue import list_memories
from memcli.app.workspace import Workspace
from memcli.model.catalogue import CatalogueFilter
from memcli.model.memory import Memory
from memcli.model.references import MUTUAL, elsewhere
from memcli.model.space import Space, is_under
from memcli.record import Record, replace

CONTRADICTS = "contradicts"


class BrowseScope(Record):
    """What is browsed: all at and below `path`, of one of `kinds`, with all of `tags`."""

    path: str = ""
    kinds: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()

    def holds(self, memory: Memory) -> bool:
        """Whether `memory` is part of it."""
        return (
            is_under(memory.path, self.path)
            and (not self.kinds or memory.kind in self.kinds)
            and all(tag in memory.tags for tag in self.tags)
        )


class Tie(Record):
    """A link as seen from one of its two ends: `other` is the id of the far one."""

    relation: str
    other: str
    incoming: bool = False


class PathCatalogue:
    """The memories of a space in order of path, and the words that they are found by."""

    def __init__(
        self,
        space: Space,
        fingerprint: str,
        scope: BrowseScope,
        show: Callable[[Memory], Memory] = lambda memory: memory,
    ) -> None:
        self.space = space.name
        self.show = show
        """Gives a memory as it may be shown: without what is secret in it."""
        self.fingerprint = fingerprint
        self.memories = sorted((m for m in space.objects if scope.holds(m)), key=lambda m: (m.path, m.id))
        self._objects = space.objects
        self._by_id = {m.id: m for m in space.objects}

    def find(self, name: str) -> Memory | None:
        """The memory with the id `name`, in the scope or out of it."""
        return self._by_id.get(name)

    def at(self, path: str) -> Memory | None:
        """The memory that is at a path now, in the scope or out of it."""
        return next((memory for memory in self._objects if memory.path == path), None)

    def matching(self, words: Sequence[str], everything: bool) -> list[Memory]:
        """The memories that have each of the (casefolded) words; with `everything` also those out of recall."""
        texts = self._texts if words else [""] * len(self.memories)
        return [
            m for m, text in zip(self.memories, texts, strict=True)
            if (everything or is_current(m)) and all(word in text for word in words)
        ]  # fmt: skip

    def ties(self, memory: Memory) -> list[Tie]:
        """The links of a memory, each once: those it holds, then those that lead to it."""
        own = _ties(memory)
        own += [Tie("superseded by", memory.superseded_by)] if memory.superseded_by else []
        told = {Tie("supersedes", memory.superseded_by or "", incoming=True)}
        told |= {replace(tie, incoming=True) for tie in own if tie.relation in MUTUAL}
        incoming = [tie for tie in self._incoming.get(memory.id, ()) if tie not in told]
        return list(dict.fromkeys([*own, *incoming]))

    def far(self, memory: Memory, n: int) -> tuple[str, str] | None:
        """The space and the id that the n-th link of a memory leads to, when that is in another space."""
        ties = self.ties(memory)
        return elsewhere(ties[n - 1].other) if n <= len(ties) and self.find(ties[n - 1].other) is None else None

    def contradicted(self, memory: Memory) -> list[tuple[int, Memory]]:
        """The memories that contradict it and hold, each with the number of its link."""
        found = [(n, self.find(tie.other)) for n, tie in enumerate(self.ties(memory), 1) if tie.relation == CONTRADICTS]
        return [(n, other) for n, other in found if other is not None and is_current(other)]

    @cached_property
    def _texts(self) -> list[str]:
        return [
            "\n".join((m.path, m.kind, m.id, *(f"#{tag}" for tag in m.tags), m.summary_micro, m.raw)).casefold()
            for m in self.memories
        ]

    @cached_property
    def _incoming(self) -> dict[str, list[Tie]]:
        found: dict[str, list[Tie]] = {}
        for memory in self._objects:
            for tie in _ties(memory):
                found.setdefault(tie.other, []).append(Tie(tie.relation, memory.id, incoming=True))
        return found


def is_current(memory: Memory) -> bool:
    """Whether recall knows the memory: not forgotten, not superseded."""
    return memory.active and memory.superseded_by is None


def read(workspace: Workspace, scope: BrowseScope) -> PathCatalogue:
    """The space as it is now. Raises CorruptError, StoreError."""
    snapshot = workspace.store.open(workspace.space)
    try:
        space = snapshot.load()
        return PathCatalogue(
            space, snapshot.fingerprint, scope, lambda memory: workspace.redactor.show([memory], space.policy)[0]
        )
    finally:
        snapshot.close()


def read_first(workspace: Workspace, scope: BrowseScope) -> PathCatalogue:
    """As `read`. Raises NotFoundError when the path of the scope names nothing."""
    catalogue = read(workspace, scope)
    if not catalogue.memories:
        list_memories(workspace, CatalogueFilter(scope.path))
    return catalogue


def fingerprint(workspace: Workspace) -> str:
    """What the catalogue's fingerprint would be if it were read now; costs no reading. Raises StoreError."""
    snapshot = workspace.store.open(workspace.space)
    try:
        return snapshot.fingerprint
    finally:
        snapshot.close()


def _ties(memory: Memory) -> list[Tie]:
    links = [link for link in memory.links if isinstance(link, dict) and "relation" in link and "to" in link]
    return [Tie(str(link["relation"]), str(link["to"])) for link in links]
