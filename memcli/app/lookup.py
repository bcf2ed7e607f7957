"""Look things up: one memory, a list, the tree of paths."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from shlex import quote

from memcli.app.redact import SUMMARY
from memcli.app.workspace import Workspace
from memcli.errors import CorruptError, MemcliError, NotFoundError
from memcli.model.memory import Memory
from memcli.model.space import Space, is_named
from memcli.ports import Snapshot, SpaceView


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
    space = load(workspace)
    if as_stored:
        with telling_where(workspace, refs):
            return [space.find(ref) for ref in refs]
    found = []
    for ref in refs:
        try:
            found += workspace.redactor.show([space.find(ref)], space.policy)
        except NotFoundError:
            other = _find_elsewhere(workspace, ref)
            if other is None:
                raise
            workspace.warn(f"{ref!r} is in space {other[0].name!r} of the user-wide store")
            found.append(other[1])
    return found


@contextmanager
def telling_where(workspace: Workspace, refs: Sequence[str]) -> Iterator[None]:
    """Around what raises NotFoundError for one of `refs`: if the user-wide store has it, the error says so."""
    try:
        yield
    except NotFoundError as error:
        for ref in refs:
            other = _find_elsewhere(workspace, ref) if repr(ref) in error.message else None
            if other is not None and workspace.elsewhere is not None:
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
    space = load(workspace)
    found = space.under(prefix)
    if prefix and not found:
        raise NotFoundError(f"nothing at {prefix!r} in space {workspace.space!r}", "`memcli tree` shows the paths")
    listed = [
        m for m in found
        if (inactive or (m.active and m.superseded_by is None))
        and (not kinds or m.kind in kinds)
        and all(tag in m.tags for tag in tags)
    ]  # fmt: skip
    return workspace.redactor.show(listed, space.policy, SUMMARY)


def _tell_empty(workspace: Workspace, snapshot: Snapshot) -> None:
    if not snapshot.fingerprint:
        workspace.warn(f"space {snapshot.space!r} is empty")
