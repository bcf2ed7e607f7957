"""Look things up: one memory, a list, the tree of paths."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING

from memcli.app.redact import SUMMARY
from memcli.app.workspace import Workspace
from memcli.errors import CorruptError, MemcliError, NotFoundError
from memcli.model.memory import Memory
from memcli.model.space import Space, is_named
from memcli.ports import Snapshot
from memcli.record import replace

if TYPE_CHECKING:
    from memcli.ports.views import SpaceView


def load(workspace: Workspace, space: str | None = None) -> Space:
    """The whole space, which is empty when it does not exist. Raises CorruptError, StoreError."""
    with closing(workspace.store.open(space or workspace.space)) as snapshot:
        _tell_empty(workspace, snapshot)
        return snapshot.load()


@contextmanager
def opened(workspace: Workspace, space: str | None = None) -> Iterator[tuple[Snapshot, SpaceView]]:
    """The space as it is now, with its index brought up to date. Raises CorruptError, StoreError."""
    snapshot = workspace.store.open(space or workspace.space)
    try:
        _tell_empty(workspace, snapshot)
        view = workspace.index.view(snapshot)
        makes_sense = True
        try:
            yield snapshot, view
        except Exception as error:
            makes_sense = not is_nonsense(error)
            raise
        finally:
            view.close()
            if not makes_sense:
                workspace.index.rebuild(snapshot.space)
    finally:
        snapshot.close()


def is_nonsense(error: Exception) -> bool:
    """Whether an error may come from a cache that makes no sense, which is made anew; no input leads to such a one."""
    if type(error).__name__ == "OperationalError":  # of SQLite, which may only be locked
        return "no such" in str(error)
    return isinstance(error, CorruptError) or not isinstance(error, (MemcliError, OSError))


def get(workspace: Workspace, refs: Sequence[str], *, as_stored: bool = False) -> list[Memory]:
    """The memories that `refs` name, without what is secret in them unless they are wanted `as_stored`, to be edited.

    To be read, they are also looked for in the user-wide store, which recall asks too. Raises NotFoundError for the first
    that is not there.
    """
    spaces = load_asked(workspace)
    if as_stored:
        with telling_where(workspace, refs):
            return [find_in(spaces, ref)[1] for ref in refs]
    found = []
    for ref in refs:
        try:
            space, memory = find_in(spaces, ref)
            found += workspace.redactor.show([_shown(workspace, space, memory)], space.policy)
        except NotFoundError:
            other = _find_elsewhere(workspace, ref)
            if other is None:
                raise
            workspace.warn(f"{ref!r} is in space {other[0].name!r} of the user-wide store")
            found.append(other[1])
    return found


def load_asked(workspace: Workspace) -> list[Space]:
    """The spaces to read, that for what was told first. Raises CorruptError, StoreError."""
    return [load(workspace, name) for name in workspace.asked_spaces]


def find_in(spaces: Sequence[Space], ref: str) -> tuple[Space, Memory]:
    """The memory that `ref` names in the first of the spaces that has it, an id or a path before the beginning of an id.

    Raises NotFoundError, UsageError when it is the beginning of several ids.
    """
    for space in spaces:
        if any(is_named(memory, [ref]) for memory in space.objects):
            return space, space.find(ref)
    for space in spaces[:-1]:
        try:
            return space, space.find(ref)
        except NotFoundError:
            continue
    try:
        return spaces[-1], spaces[-1].find(ref)
    except NotFoundError as error:
        if len(spaces) == 1:
            raise
        names = " and ".join(repr(space.name) for space in spaces)
        raise NotFoundError(f"no memory {ref!r} in spaces {names}", error.hint) from None


def placed(memory: Memory, space: str) -> Memory:
    """The memory, which says which space it is of."""
    return (
        memory
        if memory.metadata.get("space") == space
        else replace(memory, metadata={**memory.metadata, "space": space})
    )


@contextmanager
def telling_where(workspace: Workspace, refs: Sequence[str]) -> Iterator[None]:
    """Around what raises NotFoundError for one of `refs`: if the user-wide store has it, the error says so."""
    try:
        yield
    except NotFoundError as error:
        for ref in refs:
            other = _find_elsewhere(workspace, ref) if repr(ref) in error.message else None
            if other is not None and workspace.elsewhere is not None:
                from shlex import quote

                raise NotFoundError(
                    f"{ref!r} is not in space {workspace.space!r} but in space {other[0].name!r} of the user-wide store",
                    f"add --root {quote(workspace.elsewhere.root)} --space {other[0].name}",
                ) from None
        raise


def _find_elsewhere(workspace: Workspace, ref: str) -> tuple[Space, Memory] | None:
    """The memory of the user-wide store whose id or path is `ref`, as it may be shown, and its space."""
    other = workspace.elsewhere
    if other is None:
        return None
    for name in other.store.spaces():
        space = load(other, name)
        for memory in space.objects:
            if is_named(memory, [ref]):
                return space, other.redactor.show([memory], space.policy)[0]
    return None


def list_memories(
    workspace: Workspace, prefix: str = "", kinds: Sequence[str] = (), tags: Sequence[str] = (), inactive: bool = False
) -> list[Memory]:
    """The memories at and below `prefix`, of one of `kinds` and with all of `tags`, in order of path.

    Raises NotFoundError when `prefix` names nothing.
    """
    spaces = load_asked(workspace)
    found = [(space, space.under(prefix)) for space in spaces]
    if prefix and not any(memories for _, memories in found):
        raise nothing_under(workspace, prefix)
    listed: list[Memory] = []
    for space, memories in found:
        wanted = [
            _shown(workspace, space, m)
            for m in memories
            if (inactive or (m.active and m.superseded_by is None))
            and (not kinds or m.kind in kinds)
            and all(tag in m.tags for tag in tags)
        ]
        listed += workspace.redactor.show(wanted, space.policy, SUMMARY)
    return listed if len(spaces) == 1 else sorted(listed, key=lambda m: m.path)  # in order of the spaces at one path


def _shown(workspace: Workspace, space: Space, memory: Memory) -> Memory:
    """The memory, which says which space it is of where that is not the one that is meant anyway."""
    return memory if space.name == workspace.space else placed(memory, space.name)


def nothing_under(workspace: Workspace, path: str) -> NotFoundError:
    """The error for a path that no memory is at or below."""
    names = " and ".join(repr(name) for name in workspace.asked_spaces)
    return NotFoundError(f"nothing at {path!r} in space {names}", "`memcli tree` shows the paths")


def _tell_empty(workspace: Workspace, snapshot: Snapshot) -> None:
    if not snapshot.fingerprint and workspace.asked_spaces in ([snapshot.space], [workspace.space]):
        workspace.warn(f"space {snapshot.space!r} is empty")
