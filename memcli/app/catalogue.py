"""Catalogue: the memories of a space by id and path, by its index, or else by reading its file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, TypeVar

from memcli.app.workspace import Workspace
from memcli.model.catalogue import CatalogueFilter, Counts
from memcli.model.memory import Memory
from memcli.model.space import Policy, Space, find_reference
from memcli.ports import Snapshot

if TYPE_CHECKING:
    from memcli.ports.views import Catalogue

_T = TypeVar("_T")
Place = tuple[str, "str | Memory"]
"""A path, and what is there: the id of a memory, "" for a branch, or the memory itself where it is at hand."""


class FileCatalogue:
    """A catalogue of a space that was read whole. See `ports.views.Catalogue` for the promises."""

    def __init__(self, space: Space) -> None:
        self._space = space
        self._by_id: dict[str, Memory] | None = None

    def find(self, ref: str) -> Memory | None:
        at_path = None
        for memory in self._space.objects:
            if memory.id == ref:
                return memory
            if memory.path == ref:
                at_path = at_path or memory
        return at_path

    def ids_with_prefix(self, text: str) -> list[str]:
        return sorted({m.id for m in self._space.objects if m.id.startswith(text)})

    def count(self, wanted: CatalogueFilter) -> int:
        return sum(map(wanted.has, self._space.objects))

    def memories(self, wanted: CatalogueFilter) -> Iterator[tuple[str, Memory | None]]:
        """As `places`, with the memories themselves."""
        last = None
        for memory in self._space.under(wanted.under):
            if wanted.has(memory):
                branch = wanted.branch(memory.path)
                if branch is None:
                    yield memory.path, memory
                elif branch != last:
                    last = branch
                    yield branch, None

    def places(self, wanted: CatalogueFilter) -> Iterator[tuple[str, str]]:
        return ((path, memory.id if memory else "") for path, memory in self.memories(wanted))

    def read(self, ids: Sequence[str]) -> list[Memory]:
        if self._by_id is None:
            self._by_id = {m.id: m for m in self._space.objects}
        return [self._by_id[name] for name in ids]

    def counts(self) -> Counts:
        objects = self._space.objects
        return Counts(
            objects=len(objects),
            active=sum(m.active for m in objects),
            superseded=sum(m.superseded_by is not None for m in objects),
            pinned=sum(m.pinned for m in objects),
            characters=sum(len(m.raw) for m in objects),
            oldest=min((m.created_at for m in objects), default=""),
            newest=max((m.updated_at for m in objects), default=""),
            kinds=Counter(m.kind for m in objects),
            relevance=Counter(m.relevance for m in objects),
            tags=Counter(tag for m in objects for tag in m.tags),
        )

    def close(self) -> None:
        pass


class SpaceReader:
    """One version of a space, of which no more is read than what is asked for.

    What the index cannot answer, because it is damaged, the file does.
    """

    def __init__(self, workspace: Workspace, snapshot: Snapshot) -> None:
        self.name = snapshot.space
        self._workspace = workspace
        self.snapshot = snapshot
        self._index: Catalogue | None = None
        self._file: FileCatalogue | None = None
        if snapshot.fingerprint:
            self._index = workspace.index.kept(snapshot)

    @property
    def policy(self) -> Policy:
        """The policy of the space. Raises CorruptError."""
        return self.snapshot.header().policy

    def find(self, ref: str) -> Memory | None:
        """The memory that has `ref` as its id or path."""
        return self._answer(lambda catalogue: catalogue.find(ref)) if ref else None

    def find_by_prefix(self, ref: str) -> Memory:
        """The memory whose id alone begins with `ref`. Raises NotFoundError, UsageError when it is the beginning of several."""
        ids = self._answer(lambda catalogue: catalogue.ids_with_prefix(ref)) if ref else []
        return find_reference(ref, None, ids, self.find, f"space {self.name!r}")

    def count(self, wanted: CatalogueFilter) -> int:
        """How many memories are wanted."""
        return self._answer(lambda catalogue: catalogue.count(wanted))

    def counts(self) -> Counts:
        """The space in numbers."""
        return self._answer(lambda catalogue: catalogue.counts())

    def places(self, wanted: CatalogueFilter) -> Iterator[Place]:
        """The places of what is wanted, in order of path and id."""
        done = 0
        if self._index is not None:
            try:
                for place in self._index.places(wanted):
                    yield place
                    done += 1
            except Exception:  # noqa: BLE001 - whatever a damaged index leads to, the file decides
                self._leave_index()
            else:
                return
        for n, (path, memory) in enumerate(self._read_file().memories(wanted)):
            if n >= done:
                yield path, memory or ""

    def read(self, places: Sequence[Place]) -> list[Memory]:
        """The memories at these places, none of which is a branch."""
        ids = [what for _, what in places if isinstance(what, str)]
        found = self._answer(lambda catalogue: catalogue.read(ids)) if ids else []
        by_id = dict(zip(ids, found, strict=True))
        return [by_id[what] if isinstance(what, str) else what for _, what in places]

    def close(self) -> None:
        """Lets go of the file and the index."""
        if self._index is not None:
            self._index.close()
        self.snapshot.close()

    def _answer(self, ask: Callable[[Catalogue], _T]) -> _T:
        if self._index is not None:
            try:
                return ask(self._index)
            except Exception:  # noqa: BLE001 - whatever a damaged index leads to, the file decides
                self._leave_index()
        return ask(self._read_file())

    def _read_file(self) -> FileCatalogue:
        if self._file is None:
            self._file = FileCatalogue(self.snapshot.load())
        return self._file

    def _leave_index(self) -> None:
        if self._index is not None:
            self._index.close()
        self._index = None


@contextmanager
def reading(workspace: Workspace, names: Sequence[str]) -> Iterator[list[SpaceReader]]:
    """The spaces of these names as they are now. Raises StoreError."""
    with ExitStack() as stack:
        readers = []
        for name in names:
            snapshot = workspace.store.open(name)
            stack.callback(snapshot.close)
            readers.append(SpaceReader(workspace, snapshot))
            stack.callback(readers[-1].close)
        yield readers
