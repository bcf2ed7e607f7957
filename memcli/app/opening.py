"""Opens spaces, whole or with their index."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING

from memcli.app.workspace import Workspace
from memcli.errors import CorruptError, MemcliError
from memcli.model.space import Space
from memcli.ports import Snapshot

if TYPE_CHECKING:
    from memcli.ports.views import SpaceView


def load(workspace: Workspace, space: str | None = None) -> Space:
    """The whole space, which is empty when it does not exist. Raises CorruptError, StoreError."""
    with closing(workspace.store.open(space or workspace.space)) as snapshot:
        tell_empty(workspace, snapshot)
        return snapshot.load()


@contextmanager
def opened(workspace: Workspace, space: str | None = None) -> Iterator[tuple[Snapshot, SpaceView]]:
    """The space as it is now, with its index brought up to date. Raises CorruptError, StoreError."""
    snapshot = workspace.store.open(space or workspace.space)
    try:
        tell_empty(workspace, snapshot)
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


def tell_empty(workspace: Workspace, snapshot: Snapshot) -> None:
    """Warns that the space is not there, unless others are asked with it."""
    if not snapshot.fingerprint and workspace.asked_spaces in ([snapshot.space], [workspace.space]):
        workspace.warn(f"space {snapshot.space!r} is empty")
