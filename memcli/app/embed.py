"""Make the index or the vectors of a space now, rather than at the next recall."""

from __future__ import annotations

from memcli.app.lookup import opened
from memcli.app.workspace import Workspace
from memcli.model.memory import Json


def embed_space(workspace: Workspace) -> bool:
    """Makes the vectors that are missing; whether all are there now."""
    with opened(workspace) as (_, view):
        return view.embed()


def index_status(workspace: Workspace) -> dict[str, Json]:
    """What the index holds of the space, once it is up to date."""
    with opened(workspace) as (snapshot, view):
        return {"space": snapshot.space, **view.status()}
