"""The derived space `repo`, with the memories of the repository: synchronizes it with the branches of git and with `main`.

A memory of it that somebody edits, pins or links is copied into `main`, since the derived space is rebuilt from the
repository.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import closing, suppress
from itertools import count

from memcli.app.candidate import Candidate
from memcli.app.workspace import Workspace, load_space
from memcli.codec.canonical import decode
from memcli.codec.space import encode_space
from memcli.codec.splice import SpliceShelf
from memcli.errors import CorruptError, MemcliError, NotFoundError, ProviderError, RefusedError, StoreError
from memcli.model.links import removal, renamed, without_dangling
from memcli.model.memory import Json, Memory
from memcli.model.names import marked, memory_id, short_digest
from memcli.model.space import Change
from memcli.policy.draft import Draft, find
from memcli.record import NamedTuple, replace
from memcli.settings import REPO

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from memcli.ports import Shelf

COPIED = "copied_hash"
"""The key in the metadata of a copy of a memory of a derived space: the hash of the copied text."""

Lost = Callable[[Collection[str]], Collection[str]]
"""Returns those of the given commits that are reachable from no branch."""


class _Stored(NamedTuple):
    """The fields of a stored memory on which its removal or hiding by `sync` depends."""

    hash: str
    superseded_by: str
    commit: str
    copied: str


def check_not_derived(workspace: Workspace) -> None:
    """Raises RefusedError where the space of the workspace is derived: a rebuild would remove a memory that is stored there."""
    if workspace.store.policy(workspace.space).is_derived:
        raise RefusedError(
            f"space {workspace.space!r} holds only what was read from the repository",
            "omit --space; `memcli ingest` fills it",
        )


def sync(workspace: Workspace, find_lost: Lost = lambda _: ()) -> int:
    """Removes from a derived space the memories of lost commits, and hides those that `main` has too, as superseded by these;
    returns the number of removed memories. Does nothing in any other space.

    Raises LockedError, CorruptError, StoreError, and what `find_lost` raises.
    """
    if workspace.space == workspace.main or not workspace.store.policy(workspace.space).is_derived:
        return 0
    stored = _stored(workspace, workspace.space)
    commits = {one.commit for one in stored.values() if one.commit}
    lost = frozenset(find_lost(commits)) if commits else frozenset()
    gone = {name for name, one in stored.items() if one.commit in lost}
    marks = _marks(workspace, stored)
    if not gone and not marks:
        return 0
    now = workspace.clock()

    def apply(shelf: Shelf) -> Change:
        # The space was read without its lock, and may have changed since.
        found = [m for name in marks if (m := shelf.get(name)) is not None and m.hash == stored[name].hash]
        put = {m.id: replace(m, superseded_by=marks[m.id]) for m in found}
        there = {name for name in gone if shelf.get(name) is not None}
        if not there:
            return Change(tuple(put.values()), now=now)
        draft = Draft(shelf)
        draft.take(Change(tuple(put.values())))
        change = removal(draft, there, now)
        left = {**put, **{m.id: m for m in change.put}}
        return replace(change, put=tuple(m for name, m in left.items() if name not in there))

    return workspace.store.update(workspace.space, apply).removed


def sync_behind(workspace: Workspace, find_lost: Lost = lambda _: (), state: str = "") -> int:
    """As `sync`, after a committed write: a failure causes a warning.

    `state` is a digest of `main` and of what `find_lost` depends on: nothing is done while it and the space are unchanged since
    the last call.
    """
    removed = 0
    if state and workspace.commits.is_settled(workspace.space, state):
        return 0
    with workspace.behind_the_write():
        try:
            removed = sync(workspace, find_lost)
            if state:
                workspace.commits.settle(workspace.space, "" if removed else state)
        except (OSError, CorruptError, ProviderError) as error:
            text = error.message if isinstance(error, MemcliError) else str(error)
            raise StoreError(f"space {workspace.space!r} is not in step yet: {text}", "") from None
    return removed


def _marks(workspace: Workspace, stored: Mapping[str, _Stored]) -> dict[str, str | None]:
    """The new `superseded_by` of those of `stored` for which it changes: the id of the memory of `main` that has the same text,
    or is a copy of one that had it; None if there is none."""
    by_hash: dict[str, str] = {}
    for name, one in _stored(workspace, workspace.main).items():
        for digest in filter(None, (one.hash, one.copied)):
            by_hash.setdefault(digest, name)
    marks: dict[str, str | None] = {}
    for name, one in stored.items():
        # Superseded by another memory of the repository, as one decision record by a later one, and not by `main`.
        if one.superseded_by in stored:
            continue
        by = by_hash.get(one.hash)
        if by != (one.superseded_by or None):
            marks[name] = by
    return marks


def _stored(workspace: Workspace, space: str) -> dict[str, _Stored]:
    """The memories of a space by id, without decoding them whole: there may be many thousands."""
    found: dict[str, _Stored] = {}
    with closing(workspace.store.open(space)) as snapshot:
        for data, _ in snapshot.records():
            fields = decode(data, space)
            metadata: Mapping[str, Json] = fields.get("metadata", {})
            commit = fields.get("provenance", {}).get("commit") if fields.get("kind") == "diff" else None
            found[fields["id"]] = _Stored(
                hash=str(metadata.get("hash", "")),
                superseded_by=fields.get("superseded_by") or "",
                commit=commit if isinstance(commit, str) else "",
                copied=str(metadata.get(COPIED, "")),
            )
    return found


def over_main(workspace: Workspace) -> Workspace:
    """The workspace over `main`, if its own space is derived; itself otherwise."""
    if workspace.space != workspace.main and workspace.store.policy(workspace.space).is_derived:
        return workspace.copy_with(space=workspace.main, is_space_named=False)
    return workspace


class _Draft(Draft):
    """A draft that also finds a copy by the id of the memory in the derived space that it was made of."""

    def __init__(self, base: Shelf) -> None:
        super().__init__(base)
        self.copies: dict[str, str] = {}

    def get(self, name: str) -> Memory | None:
        found = super().get(name)
        return super().get(self.copies[name]) if found is None and name in self.copies else found


class Copies:
    """The memories of the derived space that one write copies into the space of the workspace, to change them there."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._beside: Shelf | None = None
        self.made: dict[str, Memory] = {}

    def over(self, shelf: Shelf, refs: Iterable[str], optional: Iterable[str] = ()) -> _Draft:
        """A draft over the shelf with copies of those of `refs` and `optional` that only the derived space has. Nothing is copied
        where the user has named a space.

        Raises NotFoundError for one of `refs` that does not exist, UsageError for the beginning of several ids.
        """
        self.made.clear()
        draft = _Draft(shelf)
        for ref in refs:
            self._bring(draft, ref)
        for ref in optional:
            try:
                self._bring(draft, ref)
            except NotFoundError:
                continue  # the check of references reports it
        return draft

    def find(self, draft: Draft, ref: str) -> Memory:
        """The memory that `ref` names, or the copy of it. Raises NotFoundError, UsageError."""
        try:
            return find(draft, ref)
        except NotFoundError:
            known = self._known(self._find_beside(ref), draft)
            if known is None:
                raise
            return known

    def original(self, ref: str) -> Memory | None:
        """The memory of the derived space of which this write made a copy for `ref`, None if it made none."""
        beside = self._find_beside(ref) if self.made else None
        return beside if self._known(beside) else None

    def settle(self) -> None:
        """After the write: warns of the copies, and hides the copied memories in the derived space."""
        for name, memory in self.made.items():
            self._workspace.warn(f"copied {memory.path} into space {self._workspace.space!r} as {name}")
        if self.made:
            sync_behind(self._workspace.copy_with(space=REPO))

    def _bring(self, draft: _Draft, ref: str) -> None:
        try:
            find(draft, ref)
        except NotFoundError:
            memory = self._find_beside(ref)
            if memory is None and self._beside is not None:
                names = f"{self._workspace.space!r} and {REPO!r}"
                raise NotFoundError(
                    f"no memory {ref!r} in spaces {names}", "`memcli list` lists the memories"
                ) from None
            if memory is None:
                raise
            copy = self._known(memory, draft)
            if copy is None:
                copy = _copy(self._workspace, draft, memory)
                self.made[copy.id] = copy
                draft.take(Change((copy,)))
            draft.copies[memory.id] = copy.id

    def _known(self, memory: Memory | None, draft: Draft | None = None) -> Memory | None:
        """The copy of a memory of the derived space that exists already: made by this write or, in `draft`, stored before."""
        if memory is None:
            return None
        if draft is not None and memory.superseded_by and (successor := draft.get(memory.superseded_by)):
            return successor
        return next((copy for copy in self.made.values() if copy.metadata[COPIED] == memory.hash), None)

    def _find_beside(self, ref: str) -> Memory | None:
        if self._beside is None:
            if self._workspace.is_space_named or not self._workspace.has_space(REPO):
                return None
            self._beside = SpliceShelf(encode_space(load_space(self._workspace.store, REPO)), REPO)
        try:
            return find(self._beside, ref)
        except NotFoundError:
            return None


def refer_to_copies(
    workspace: Workspace, candidates: Sequence[Candidate], supersedes: str | None
) -> tuple[Sequence[Candidate], str | None]:
    """The candidates, and the memory that the last one supersedes, with references to memories of the derived space replaced by
    those to copies, which are stored. Raises NotFoundError, UsageError, LockedError, CorruptError, StoreError."""
    own = {candidate.given.get(name) for candidate in candidates for name in ("id", "path")}
    named = [*(ref for c in candidates for ref in references(c.given)), *([supersedes] if supersedes else [])]
    refs = {ref for ref in named if ref not in own}
    if not refs or workspace.is_space_named or workspace.space != workspace.main or not workspace.has_space(REPO):
        return candidates, supersedes
    # Other clones lack the derived space, so that no memory of `main` may refer to one of it.
    copies = Copies(workspace)
    ids: dict[str, str] = {}

    def apply(shelf: Shelf) -> Change:
        draft = copies.over(shelf, (), sorted(refs))
        ids.clear()
        for ref in refs:
            with suppress(NotFoundError):
                ids[ref] = copies.find(draft, ref).id
        return Change(tuple(copies.made.values()), now=workspace.clock())

    workspace.store.update(workspace.space, apply)
    copies.settle()
    led = []
    for candidate in candidates:
        given = dict(candidate.given)
        if given.get("links"):
            given["links"] = tuple({**link, "to": ids.get(link["to"], link["to"])} for link in given["links"])
        if given.get("superseded_by"):
            given["superseded_by"] = ids.get(given["superseded_by"], given["superseded_by"])
        led.append(replace(candidate, given=given))
    return led, ids.get(supersedes or "", supersedes)


def references(fields: Mapping[str, Any]) -> list[str]:
    """The ids or paths to which the fields of a memory refer."""
    links = [link["to"] for link in fields.get("links") or ()]
    return [*links, successor] if (successor := fields.get("superseded_by")) else links


def _copy(workspace: Workspace, shelf: Shelf, memory: Memory) -> Memory:
    """A copy of a memory for the space of the workspace, with a new id, a free path, and references within that space alone."""
    space = workspace.space
    # Ids in the trash are taken: `restore` would find another memory in their place.
    removed = {m.id for run in workspace.trash.runs() if run.space.name == space for m in run.space.objects}
    paths = (memory.path, *(marked(memory.path, short_digest(f"{memory.id}{n or ''}", 8)) for n in range(100)))
    path = next(path for path in paths if shelf.at(path) is None)
    names = (memory_id(space, path, number) for number in count(1))
    name = next(name for name in names if shelf.get(name) is None and name not in removed)
    metadata = {**memory.metadata, "space": space, COPIED: memory.hash}
    (memory,) = workspace.redactor.rewrite([memory], workspace.store.policy(space))
    copy = replace(renamed(memory, {memory.id: name}), path=path, metadata=metadata, updated_at=workspace.clock())
    return without_dangling(copy, lambda other: shelf.get(other) is not None)
