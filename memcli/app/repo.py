"""The space for what is read from the repository: keeps it in step with the branches of git and with `main`.

It also copies memories: one of a derived space that somebody edits, pins or links is copied into `main`, since the derived
space is rebuilt from the repository.
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
"""The metadata of a copy of a memory of a derived space: the hash of the text that it was made from."""

Lost = Callable[[Collection[str]], Collection[str]]
"""Which of these commits no branch leads to any more."""


class _Stored(NamedTuple):
    """The fields of a stored memory that decide whether it is removed or hidden when the space is brought into step."""

    hash: str
    superseded_by: str
    commit: str
    copied: str


def over_repo(workspace: Workspace) -> Workspace:
    """The workspace over the space for what is read from the repository; itself where the user has named a space."""
    return workspace if workspace.is_space_named else workspace.copy_with(space=REPO)


def check_not_derived(workspace: Workspace) -> None:
    """Raises RefusedError where the workspace is over a derived space, which a rebuild would take a memory out of."""
    if workspace.store.policy(workspace.space).is_derived:
        raise RefusedError(
            f"space {workspace.space!r} holds only what was read from the repository",
            "omit --space; `memcli ingest` fills it",
        )


def sync(workspace: Workspace, find_lost: Lost = lambda _: ()) -> int:
    """Takes out of a derived space what was read from commits that are lost, and hides what `main` has too, as superseded
    by that; returns how many memories went. Does nothing in any other space.

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
    """As `sync`, behind a committed write, which a failure does not undo: it is only reported.

    `state` changes when `main` does, or the answer of `find_lost` may: as long as neither it nor the space has changed,
    nothing is done.
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
            told = error.message if isinstance(error, MemcliError) else str(error)
            raise StoreError(f"space {workspace.space!r} is not in step yet: {told}", "") from None
    return removed


def _marks(workspace: Workspace, stored: Mapping[str, _Stored]) -> dict[str, str | None]:
    """By which memory of `main`, which has its text or is a copy of what had, each of `stored` is to be superseded from now
    on, where that changes; None: by none."""
    told: dict[str, str] = {}
    for name, one in _stored(workspace, workspace.main).items():
        for digest in filter(None, (one.hash, one.copied)):
            told.setdefault(digest, name)
    marks: dict[str, str | None] = {}
    for name, one in stored.items():
        if one.superseded_by in stored:
            continue
        by = told.get(one.hash)
        if by != (one.superseded_by or None):
            marks[name] = by
    return marks


def _stored(workspace: Workspace, space: str) -> dict[str, _Stored]:
    """The memories of a space by id, read without making a memory of each: there may be many thousands."""
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
    """The workspace over the space that can be changed: `main` where its own is derived."""
    if workspace.space != workspace.main and workspace.store.policy(workspace.space).is_derived:
        return workspace.copy_with(space=workspace.main, is_space_named=False)
    return workspace


class _Draft(Draft):
    """A draft in which a memory that was copied is also found by the id that it has beside the space."""

    def __init__(self, base: Shelf) -> None:
        super().__init__(base)
        self.copies: dict[str, str] = {}

    def get(self, name: str) -> Memory | None:
        found = super().get(name)
        return super().get(self.copies[name]) if found is None and name in self.copies else found


class Copies:
    """The memories that were copied into the space of a workspace, in one write with what was done to them."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._beside: Shelf | None = None
        self.made: dict[str, Memory] = {}

    def over(self, shelf: Shelf, refs: Iterable[str], optional: Iterable[str] = ()) -> _Draft:
        """The shelf with copies of those of `refs` that are only in a space beside it, where the user has named none.

        Raises NotFoundError for one of `refs` that is nowhere, UsageError for the beginning of several ids.
        """
        self.made.clear()
        draft = _Draft(shelf)
        for ref in refs:
            self._bring(draft, ref)
        for ref in optional:
            try:
                self._bring(draft, ref)
            except NotFoundError:
                continue  # whoever refers to it says so
        return draft

    def find(self, draft: Draft, ref: str) -> Memory:
        """The memory that `ref` names, or the copy of it. Raises NotFoundError, UsageError."""
        try:
            return find(draft, ref)
        except NotFoundError:
            known = self._known(draft, self._find_beside(ref))
            if known is None:
                raise
            return known

    def original(self, ref: str) -> Memory | None:
        """The memory of the derived space that a copy was just made of for `ref`."""
        beside = self._find_beside(ref) if self.made else None
        return beside if self._known_copy(beside) else None

    def settle(self) -> None:
        """Hides what was copied, and says so."""
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
            copy = self._known(draft, memory)
            if copy is None:
                copy = _copy(self._workspace, draft, memory)
                self.made[copy.id] = copy
                draft.take(Change((copy,)))
            draft.copies[memory.id] = copy.id

    def _known(self, draft: Draft, memory: Memory | None) -> Memory | None:
        """What stands for the memory in the space already."""
        if memory is None:
            return None
        if memory.superseded_by and (successor := draft.get(memory.superseded_by)):
            return successor
        return self._known_copy(memory)

    def _known_copy(self, memory: Memory | None) -> Memory | None:
        if memory is None:
            return None
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
    """The candidates, and what the last one supersedes, with references to copies in the place of those to memories of
    the derived space, which are made. Raises NotFoundError, UsageError, LockedError, CorruptError, StoreError."""
    own = {candidate.given.get(name) for candidate in candidates for name in ("id", "path")}
    named = [*(ref for c in candidates for ref in references(c.given)), *([supersedes] if supersedes else [])]
    refs = {ref for ref in named if ref not in own}
    if not refs or workspace.is_space_named or workspace.space != workspace.main or not workspace.has_space(REPO):
        return candidates, supersedes
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
    """The memories that the fields of one refer to."""
    links = [link["to"] for link in fields.get("links") or ()]
    return [*links, successor] if (successor := fields.get("superseded_by")) else links


def _copy(workspace: Workspace, shelf: Shelf, memory: Memory) -> Memory:
    """The memory as one of the space of the workspace, with those of its references that lead to others there."""
    space = workspace.space
    removed = {m.id for run in workspace.trash.runs() if run.space.name == space for m in run.space.objects}
    paths = (memory.path, *(marked(memory.path, short_digest(f"{memory.id}{n or ''}", 8)) for n in range(100)))
    path = next(path for path in paths if shelf.at(path) is None)
    names = (memory_id(space, path, number) for number in count(1))
    name = next(name for name in names if shelf.get(name) is None and name not in removed)
    metadata = {**memory.metadata, "space": space, COPIED: memory.hash}
    (memory,) = workspace.redactor.rewrite([memory], workspace.store.policy(space))
    copy = replace(renamed(memory, {memory.id: name}), path=path, metadata=metadata, updated_at=workspace.clock())
    return without_dangling(copy, lambda other: shelf.get(other) is not None)
