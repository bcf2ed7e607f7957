"""Make the index or the vectors of a space now, rather than at the next recall."""

from __future__ import annotations

from memcli.app.workspace import Workspace
from memcli.model.memory import Json


def embed_space(workspace: Workspace) -> None:
    """Makes the vectors that are missing."""
    snapshot = workspace.store.open(workspace.space)
    try:
        workspace.index.view(snapshot).dense([workspace.space])
    finally:
        snapshot.close()


def index_status(workspace: Workspace) -> dict[str, Json]:
    """What the index holds of the space, once it is up to date."""
    snapshot = workspace.store.open(workspace.space)
    try:
        view = workspace.index.view(snapshot)
        return {"space": snapshot.space, "objects": view.size, "pinned": len(view.pinned())}
    finally:
        snapshot.close()
