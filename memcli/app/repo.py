"""The space for what is read from the repository: which it is, and how it is kept in step with git and with what was
told."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any, NamedTuple

from memcli.app.workspace import Workspace
from memcli.codec.canonical import decode
from memcli.errors import CorruptError, MemcliError, ProviderError, RefusedError, StoreError
from memcli.model.memory import Json
from memcli.model.references import removal
from memcli.model.space import Change
from memcli.policy.draft import Draft
from memcli.ports import Shelf
from memcli.record import replace
from memcli.settings import REPO

COPIED = "copied_hash"
"""The metadata of a copy of a memory of a derived space: the hash of the text that it was made from."""

Lost = Callable[[Collection[str]], Collection[str]]
"""Which of these commits no branch leads to any more."""


class _Stored(NamedTuple):
    """What of a stored memory says whether it is to stay, and to be seen."""

    id: str
    hash: str
    superseded_by: str
    commit: str
    copied: str


def over_repo(workspace: Workspace) -> Workspace:
    """The workspace over the space for what is read from the repository; itself where the user has named a space."""
    return workspace if workspace.is_space_named else replace(workspace, space=REPO)


def check_is_told(workspace: Workspace) -> None:
    """Raises RefusedError where the workspace is over a derived space, which a rebuild would take a memory out of."""
    if workspace.load_policy(workspace.space).is_derived:
        raise RefusedError(
            f"space {workspace.space!r} holds only what was read from the repository",
            "omit --space; `memcli ingest` fills it",
        )


def sync(workspace: Workspace, find_lost: Lost = lambda _: ()) -> int:
    """Takes out of a derived space what was read from commits that are lost, and hides what `main` has too, as superseded
    by that; returns how many memories went. Does nothing in any other space.

    Raises LockedError, CorruptError, StoreError, and what `find_lost` raises.
    """
    if workspace.space == workspace.main or not workspace.load_policy(workspace.space).is_derived:
        return 0
    stored = _stored(workspace, workspace.space)
    commits = {one.commit for one in stored.values() if one.commit}
    lost = frozenset(find_lost(commits)) if commits else frozenset()
    gone = {name for name, one in stored.items() if one.commit in lost}
    marks = _marks(stored, _told(workspace))
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


def sync_repo(workspace: Workspace, find_lost: Lost = lambda _: ()) -> int:
    """As `sync_behind`, for the space for what is read from the repository, whatever the workspace is over."""
    return sync_behind(replace(workspace, space=REPO), find_lost)


def _marks(stored: Mapping[str, _Stored], told: Mapping[str, str]) -> dict[str, str | None]:
    """By which memory of `main` each of `stored` is to be superseded from now on, where that changes; None: by none."""
    marks: dict[str, str | None] = {}
    for name, one in stored.items():
        if one.superseded_by in stored:
            continue
        by = told.get(one.hash)
        if by != (one.superseded_by or None):
            marks[name] = by
    return marks


def _told(workspace: Workspace) -> dict[str, str]:
    """The memory of `main` that has each text, or is the copy of a memory that has."""
    told: dict[str, str] = {}
    for name, one in _stored(workspace, workspace.main).items():
        for digest in (one.hash, one.copied):
            if digest:
                told.setdefault(digest, name)
    return told


def _stored(workspace: Workspace, space: str) -> dict[str, _Stored]:
    snapshot = workspace.store.open(space)
    try:
        read = (_read(decode(data, space)) for data, _ in snapshot.records())
        return {one.id: one for one in read}
    finally:
        snapshot.close()


def _read(fields: Mapping[str, Any]) -> _Stored:
    metadata: Mapping[str, Json] = fields.get("metadata", {})
    provenance = fields.get("provenance", {})
    commit = provenance.get("commit") if fields.get("kind") == "diff" else None
    return _Stored(
        id=fields["id"],
        hash=str(metadata.get("hash", "")),
        superseded_by=fields.get("superseded_by") or "",
        commit=commit if isinstance(commit, str) else "",
        copied=str(metadata.get(COPIED, "")),
    )
