"""Clusters: which memories of a space are near in meaning, and what each such group is about."""

from __future__ import annotations

from memcli.app.opening import opened
from memcli.app.workspace import Workspace
from memcli.model.clusters import Clusters


def clusters(workspace: Workspace, space: str | None = None, *, only_known: bool = False) -> Clusters:
    """The clusters of a space as it is now, and why there are none where that has a reason.

    They are kept in the cache, and found anew when the space has changed; with `only_known` no work is done for it.
    Raises CorruptError, StoreError.
    """
    with opened(workspace, space) as (_, view):
        return view.clusters(only_known=only_known)
