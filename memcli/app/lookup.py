"""Look things up: one memory, a list, the tree of paths."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from memcli.app.redact import SUMMARY
from memcli.app.workspace import Workspace
from memcli.errors import NotFoundError
from memcli.model.memory import Memory
from memcli.model.space import Space
from memcli.ports import Snapshot, SpaceView


def load(workspace: Workspace, space: str | None = None) -> Space:
    """The whole space, which is empty when it does not exist. Raises CorruptError, StoreError."""
    snapshot = workspace.store.open(space or workspace.space)
    try:
        _tell_empty(workspace, snapshot)
        return snapshot.load()
    finally:
        snapshot.close()


@contextmanager
def opened(workspace: Workspace, space: str | None = None) -> Iterator[tuple[Snapshot, SpaceView]]:
    """The space as it is now, with its index brought up to date. Raises CorruptError, StoreError."""
    snapshot = workspace.store.open(space or workspace.space)
    try:
        _tell_empty(workspace, snapshot)
        view = workspace.index.view(snapshot)
        try:
            yield snapshot, view
        finally:
            view.close()
    finally:
        snapshot.close()


def get(workspace: Workspace, refs: Sequence[str], *, as_stored: bool = False) -> list[Memory]:
    """The memories that `refs` name, without what is secret in them unless they are wanted `as_stored`, to be edited.

    Raises NotFoundError for the first that is not there.
    """
    space = load(workspace)
    found = [space.find(ref) for ref in refs]
    return found if as_stored else workspace.redactor.show(found, space.policy)


def list_memories(
    workspace: Workspace, prefix: str = "", kinds: Sequence[str] = (), tags: Sequence[str] = (), inactive: bool = False
) -> list[Memory]:
    """The memories at and below `prefix`, of one of `kinds` and with all of `tags`, in order of path.

    Raises NotFoundError when `prefix` names nothing.
    """
    space = load(workspace)
    found = space.under(prefix)
    if prefix and not found:
        raise NotFoundError(f"nothing at {prefix!r} in space {workspace.space!r}", "`memcli tree` shows what there is")
    listed = [
        m for m in found
        if (inactive or (m.active and m.superseded_by is None))
        and (not kinds or m.kind in kinds)
        and all(tag in m.tags for tag in tags)
    ]  # fmt: skip
    return workspace.redactor.show(listed, space.policy, SUMMARY)


def _tell_empty(workspace: Workspace, snapshot: Snapshot) -> None:
    if not snapshot.fingerprint:
        workspace.warn(f"space {snapshot.space!r} is empty: nothing has been remembered in it")
