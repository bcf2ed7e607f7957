"""Values for shell completion from a store on a server."""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import closing

from memcli.model.catalogue import CatalogueFilter
from memcli.ports.views import Catalogue
from memcli.wiring.workspace import chosen_store, open_workspace

_MOST = 10_000
"""So many paths are read; of more only their beginnings."""


def served(kind: str, prefix: str, space: str, root: str) -> list[str] | None:
    """The spaces, paths, tags, kinds, ids or refs on the server, more than begin with `prefix`; None where the store is in
    files. Raises StoreError, RefusedError, UsageError, CorruptError."""
    options = {"root": root or None, "space": space or None}
    if not chosen_store(options, os.environ):
        return None
    os.environ.setdefault("PGCONNECT_TIMEOUT", "1")  # who types does not wait for a server that is away
    workspace = open_workspace(options, os.environ)
    if kind == "spaces":
        return workspace.store.spaces()
    with closing(workspace.store.open(workspace.space)) as snapshot:
        catalogue = workspace.index.kept(snapshot)
        return list(_values(catalogue, kind, prefix)) if catalogue else []


def _values(space: Catalogue, kind: str, prefix: str) -> Iterable[str]:
    if kind in ("tags", "kinds"):
        counts = space.counts()
        return counts.tags if kind == "tags" else counts.kinds
    ids = space.ids_with_prefix(prefix) if kind == "ids" or (kind == "refs" and prefix) else []
    return ids if kind == "ids" else [*ids, *_paths(space, prefix)]


def _paths(space: Catalogue, prefix: str) -> list[str]:
    wanted = CatalogueFilter(under=prefix.rpartition("/")[0], inactive=True)
    if space.count(wanted) <= _MOST:
        return [path for path, _ in space.places(wanted)]
    branches = CatalogueFilter(under=wanted.under, inactive=True, depth=prefix.count("/") + 1)
    return [path if name else f"{path}/" for path, name in space.places(branches)]
