"""Catalogue: looks up memories by id and path, lists them, and builds the tree of paths. It uses the index of a space, or reads
the file of the space if the index cannot answer.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import cached_property, partial
from itertools import islice

from memcli.app.redact import SUMMARY
from memcli.app.workspace import Workspace, warn_of_missing
from memcli.codec.space import memory_digest
from memcli.errors import NotFoundError, UsageError
from memcli.model.catalogue import CatalogueFilter, Counts
from memcli.model.memory import Memory
from memcli.model.names import MEMORY_MARK, SHORTEST, ids_of, listed_spaces
from memcli.model.space import Policy, Space, find_reference
from memcli.record import Record, replace
from memcli.safety.screening import Overview, screened
from memcli.settings import BESIDE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeVar

    from memcli.index.view import IndexedSpace
    from memcli.model.tree import TreeNode
    from memcli.ports import Snapshot

    _T = TypeVar("_T")


class Newest(Record):
    """The memories of a space that a filter selects, the last updated first; `count` is their number without limit and offset,
    `others` the number in each of the other spaces; `short_id` shortens an id."""

    space: str
    count: int
    memories: Iterator[Memory]
    others: Mapping[str, int]
    short_id: Callable[[str], str]


Place = tuple[str, "str | Memory"]
"""A path, and the id of the memory there, the memory itself where it is loaded, or "" for a branch."""


class FileCatalogue:
    """The memories of a space that was loaded whole, by id and path. Same methods as `IndexedSpace`."""

    def __init__(self, space: Space) -> None:
        self._space = space

    @cached_property
    def _by_id(self) -> dict[str, Memory]:
        return {m.id: m for m in self._space.objects}

    def find(self, ref: str) -> Memory | None:
        return self._by_id.get(ref) or next((m for m in self._space.objects if m.path == ref), None)

    def ids_with_prefix(self, text: str) -> list[str]:
        return sorted({m.id for m in self._space.objects if m.id.startswith(text)})

    def count(self, wanted: CatalogueFilter) -> int:
        return sum(map(wanted.has, self._space.objects))

    def places(self, wanted: CatalogueFilter) -> Iterator[Place]:
        """As `IndexedSpace.places`, but with the memories."""
        last = None
        for memory in self._space.under(wanted.under):
            if wanted.has(memory):
                branch = wanted.branch(memory.path)
                if branch is None:
                    yield memory.path, memory
                elif branch != last:
                    last = branch
                    yield branch, ""

    def listed(self, wanted: CatalogueFilter) -> list[tuple[str, str, str, bool, bool]]:
        return [(m.path, m.id, m.kind, m.pinned, not _ALL.has(m)) for m in self._space.objects if wanted.has(m)]

    def incoming(self, name: str) -> list[tuple[str, str]]:
        from memcli.present.links import links_by_target

        return [(link.relation, link.other) for link in links_by_target(self._space.objects).get(name, ())]

    def newest(self, wanted: CatalogueFilter, count: int | None) -> list[str]:
        found = sorted(filter(wanted.has, self._space.objects), key=lambda memory: (memory.path, memory.id))
        found.sort(key=lambda memory: memory.updated_at, reverse=True)
        return [memory.id for memory in found[:count]]

    def read(self, ids: Sequence[str]) -> list[Memory]:
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


class SpaceReader:
    """One version of a space. Answers come from the index, if it is up to date, or else from the file of the space."""

    def __init__(self, workspace: Workspace, snapshot: Snapshot) -> None:
        self.name = snapshot.space
        self._workspace = workspace
        self.snapshot = snapshot
        self._index: IndexedSpace | None = None
        self.file: FileCatalogue | None = None
        """The whole space, where it had to be read."""
        # To parse the file of a large space takes seconds and much memory, and most lookups need one memory of it.
        if snapshot.fingerprint:
            self._index = workspace.index.existing(snapshot)

    @property
    def policy(self) -> Policy:
        """The policy of the space. Raises CorruptError."""
        return self.snapshot.header().policy

    def find(self, ref: str) -> Memory | None:
        """The memory with the id or path `ref`."""
        return self.ask(lambda catalogue: catalogue.find(ref)) if ref else None

    def find_by_prefix(self, ref: str) -> Memory:
        """The only memory whose id begins with `ref`. Raises NotFoundError, UsageError when there are several."""
        return find_reference(ref, None, ids_of(ref, self._ids), self.find, f"space {self.name!r}")

    def _ids(self, prefix: str) -> list[str]:
        return self.ask(lambda catalogue: catalogue.ids_with_prefix(prefix))

    def short_id(self, name: str) -> str:
        """The shortest beginning of an id, without its mark, that no other id of the space has."""
        own = name.removeprefix(MEMORY_MARK)
        if own == name:
            return name
        return next((own[:n] for n in range(SHORTEST, len(own)) if len(self._ids(MEMORY_MARK + own[:n])) == 1), own)

    def count(self, wanted: CatalogueFilter) -> int:
        """The number of selected memories."""
        return self.ask(lambda catalogue: catalogue.count(wanted))

    def counts(self) -> Counts:
        """The counts of the space."""
        return self.ask(lambda catalogue: catalogue.counts())

    def places(self, wanted: CatalogueFilter) -> list[Place]:
        """The places of the selected memories, in order of path and id."""
        return self.ask(lambda catalogue: list[Place](catalogue.places(wanted)))

    def read(self, places: Sequence[Place]) -> list[Memory]:
        """The memories at these places, none of which is a branch."""
        ids = [what for _, what in places if isinstance(what, str)]
        found = self.ask(lambda catalogue: catalogue.read(ids)) if ids else []
        by_id = dict(zip(ids, found, strict=True))
        return [by_id[what] if isinstance(what, str) else what for _, what in places]

    def close(self) -> None:
        """Closes the file and the index."""
        self._leave_index()
        self.snapshot.close()

    def ask(self, question: Callable[[IndexedSpace | FileCatalogue], _T]) -> _T:
        """The answer of the index, or of the file if the index cannot answer."""
        if self._index is not None:
            try:
                return question(self._index)
            except Exception:  # noqa: BLE001 - whatever a damaged index leads to, the file decides
                self._leave_index()
        if self.file is None:
            self.file = FileCatalogue(self.snapshot.load())
        return question(self.file)

    def _leave_index(self) -> None:
        if self._index is not None:
            self._index.close()
        self._index = None


@contextmanager
def reading(workspace: Workspace, names: Sequence[str] | None = None) -> Iterator[list[SpaceReader]]:
    """The spaces of these names as they are now; by default those of `Workspace.spaces_to_read`, with a warning where the
    only one does not exist. Raises StoreError."""
    with ExitStack() as stack:
        readers = []
        for name in workspace.spaces_to_read if names is None else names:
            snapshot = workspace.store.open(name)
            stack.callback(snapshot.close)
            readers.append(SpaceReader(workspace, snapshot))
            stack.callback(readers[-1].close)
            if names is None:
                warn_of_missing(workspace, snapshot)
        yield readers


_ALL = CatalogueFilter()
_BLOCK = 50
"""So many memories are read and redacted at once while a list is printed."""


def get(workspace: Workspace, refs: Sequence[str], *, as_stored: bool = False) -> list[Memory]:
    """The memories that `refs` name, redacted; with `as_stored`, for editing, unchanged.

    Without `as_stored`, the names are also looked up in the user-wide store, as recall does. Raises NotFoundError for the first
    that no memory has.
    """
    if not as_stored:
        found, errors = get_with_digests(workspace, refs)
        if errors:
            raise errors[0]
        return [memory for memory, _ in found]
    with reading(workspace) as spaces, telling_where(workspace, refs):
        return [find_in(spaces, ref)[1] for ref in refs]


def get_with_digests(
    workspace: Workspace, refs: Sequence[str]
) -> tuple[list[tuple[Memory, str]], list[NotFoundError | UsageError]]:
    """The memories that `refs` name, redacted, each with the digest of its stored bytes, empty for one of the user-wide store;
    and the errors for names that no memory has, or that are the beginning of several ids."""
    found: list[tuple[Memory, str]] = []
    errors: list[NotFoundError | UsageError] = []
    with reading(workspace) as spaces:
        for ref in refs:
            try:
                space, memory = find_in(spaces, ref)
            except (NotFoundError, UsageError) as error:
                if (other := find_elsewhere(workspace, ref)) is None:
                    # One reference that names nothing must not keep the others from being shown.
                    errors.append(error)
                    continue
                workspace.warn(f"{ref!r} is in space {other[0]!r} of the user-wide store")
                found.append((other[1], ""))
            else:
                # Screened, as an edit by hand or a clone has no mark.
                (shown,) = workspace.redactor.show([screened(_shown(workspace, space.name, memory))], space.policy)
                found.append((shown, memory_digest(memory)))
        return found, errors


def find_in(spaces: Sequence[SpaceReader], ref: str) -> tuple[SpaceReader, Memory]:
    """The memory that `ref` names in the first of the spaces that has it, an id or a path before the beginning of an id.

    Raises NotFoundError, UsageError when it is the beginning of several ids.
    """
    for space in spaces:
        if (memory := space.find(ref)) is not None:
            return space, memory
    for space in spaces:
        try:
            return space, space.find_by_prefix(ref)
        except NotFoundError as error:
            hint = error.hint
            if len(spaces) == 1:
                raise
    raise NotFoundError(f"no memory {ref!r} in {listed_spaces([space.name for space in spaces])}", hint)


def placed(memory: Memory, space: str) -> Memory:
    """The memory with the name of its space in its metadata."""
    if memory.metadata.get("space") == space:
        return memory
    return replace(memory, metadata={**memory.metadata, "space": space})


@contextmanager
def telling_where(workspace: Workspace, refs: Sequence[str]) -> Iterator[None]:
    """A context in which a NotFoundError for one of `refs` gets the place of that memory in the user-wide store, if it is
    there."""
    try:
        yield
    except NotFoundError as error:
        for ref in refs:
            other = find_elsewhere(workspace, ref) if repr(ref) in error.message else None
            if other is not None and workspace.elsewhere is not None:
                from shlex import quote

                raise NotFoundError(
                    f"{ref!r} is not in space {workspace.space!r} but in space {other[0]!r} of the user-wide store",
                    f"add --root {quote(workspace.elsewhere.root)} --space {other[0]}",
                ) from None
        raise


def find_elsewhere(workspace: Workspace, ref: str) -> tuple[str, Memory] | None:
    """The name of the space and the memory, redacted, of the user-wide store whose id or path is `ref`."""
    other = workspace.elsewhere
    if other is None:
        return None
    for name in other.store.spaces():
        with reading(other, [name]) as (space,):
            warn_of_missing(other, space.snapshot)
            if (memory := space.find(ref)) is not None:
                return name, other.redactor.show([memory], space.policy)[0]
    return None


@contextmanager
def newest(
    workspace: Workspace, wanted: CatalogueFilter, limit: int | None = None, offset: int = 0, *, with_raw: bool = False
) -> Iterator[Newest]:
    """The selected memories of the first of the spaces to read that has any, the last updated first; they are read during the
    iteration. Text and content are redacted only `with_raw`: do not print them otherwise. Raises NotFoundError when no space
    has a memory at or below the path."""
    with _first_with(workspace, wanted) as (space, count, others):
        most = None if limit is None else offset + limit
        ids = space.ask(lambda catalogue: catalogue.newest(wanted, most))[offset:]
        fields = (*SUMMARY, "raw", "content") if with_raw else SUMMARY
        found = _stored_and_shown(workspace, space, (("", name) for name in ids), fields)
        yield Newest(space.name, count, (shown for _, shown in found), others, space.short_id)


def load_tree(workspace: Workspace, under: str, depth: int | None) -> tuple[TreeNode[Overview], dict[str, int]]:
    """The tree of the active memories at and below a path, `depth` levels of it, of the first of the spaces to read that has any,
    and how many each of the others has there. Raises as `newest`."""
    from memcli.model.tree import tree

    levels = None if depth is None else depth + (under.strip("/").count("/") + 1 if under.strip("/") else 0)
    wanted = CatalogueFilter(under=under, depth=levels)
    with _first_with(workspace, CatalogueFilter(under=under)) as (first, _, others):
        places = first.places(wanted)
        found = _stored_and_shown(workspace, first, (place for place in places if place[1] != ""), SUMMARY)
        is_reviewed = partial(workspace.trust.is_reviewed, first.name)
        # An overview has no summary of a memory with instructions to an agent: no renderer can forget to hide it.
        memories = [Overview(stored, shown, is_reviewed) for stored, shown in found]
        cut = [path for path, what in places if what == ""]
        branches = Counter[str]()
        for path, shown in zip(cut, workspace.redactor.paths(cut, first.policy), strict=True):
            branches[shown] += first.count(CatalogueFilter(under=path))
        return tree(((memory.path, memory) for memory in memories), branches), others


@contextmanager
def _first_with(workspace: Workspace, wanted: CatalogueFilter) -> Iterator[tuple[SpaceReader, int, dict[str, int]]]:
    """The first of the spaces to read that has selected memories, how many, and how many each of the others has.

    Raises NotFoundError if the space does not exist, or if no memory is at or below the path. The spaces that every store has
    are empty until something is written there; of `main` that is a warning."""
    with reading(workspace, workspace.spaces_to_read) as spaces:
        if not any(space.snapshot.fingerprint for space in spaces):
            if workspace.space not in (workspace.main, *BESIDE):
                raise NotFoundError(f"no space {workspace.space!r}", "`memcli space list` lists the spaces")
            warn_of_missing(workspace, spaces[0].snapshot)
        path = wanted.under
        if path and not any(space.count(CatalogueFilter(under=path, inactive=True)) for space in spaces):
            raise nothing_under(workspace, path)
        counts = {space.name: space.count(wanted) for space in spaces}
        first = next((space for space in spaces if counts[space.name]), spaces[0])
        yield first, counts.pop(first.name), {name: count for name, count in counts.items() if count}


def _stored_and_shown(
    workspace: Workspace, space: SpaceReader, places: Iterator[Place], fields: Sequence[str]
) -> Iterator[tuple[Memory, Memory]]:
    """The memories at these places, read in blocks: the memory as stored, and with these fields redacted."""
    while block := list(islice(places, _BLOCK)):
        read = [_shown(workspace, space.name, memory) for memory in space.read(block)]
        yield from zip(read, workspace.redactor.show(read, space.policy, fields), strict=True)


def _shown(workspace: Workspace, space: str, memory: Memory) -> Memory:
    """The memory, with the name of its space in its metadata unless that is the space of the workspace."""
    return memory if space == workspace.space else placed(memory, space)


def nothing_under(workspace: Workspace, path: str) -> NotFoundError:
    """The error for a path that no memory is at or below."""
    where = listed_spaces(workspace.spaces_to_read)
    return NotFoundError(f"nothing at {path!r} in {where}", "`memcli list --tree` shows the paths")
