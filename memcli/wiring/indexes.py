"""Opens the index of a store, of now or of a commit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memcli.ports import Index, Progress
from memcli.store.layout import Layout
from memcli.wiring.embedders import ChosenEmbedder
from memcli.wiring.keeping import Keep, make
from memcli.wiring.roots import Warn

if TYPE_CHECKING:
    from memcli.index.reading import Show
    from memcli.postgres.server import Server
    from memcli.store.revision import RevisionStore


def open_index(
    embedder: ChosenEmbedder,
    layout: Layout,
    keep: Keep,
    warn: Warn,
    progress: Progress | None,
    past: RevisionStore | None = None,
    server: Server | None = None,
    show: Show = lambda memories, _: memories,
) -> Index:
    """The index kept for the store at `layout`, for its `past`, or beside it for the spaces on a `server`. `show`
    gives memories as an index may hold them.

    Raises UsageError when there is no such embedder.
    """
    from memcli.index.cache import CachedIndex

    if server is not None and past is None:
        from memcli.wiring.shared import share_index

        told = _once(warn)  # both say the same of an embedder that fails
        local = open_index(embedder, layout, keep, told, progress, show=show)
        return share_index(server, local, embedder.load, layout.cache(""), told, progress)
    embedder.check()
    folder = layout.cache("")
    if past is not None:
        from memcli.index.cache import folder_for

        # An index of its own, so that a look back does not undo that of now; vectors are by text, and shared.
        revision = folder_for(layout.cache("revisions"), past.commit)
        return CachedIndex(revision, embedder.load, _once(warn), progress, folder, show)
    if keep is make:
        return CachedIndex(folder, embedder.load, _once(warn), progress, show=show, place=layout.index)
    from memcli.index.cache import KeptIndex

    return keep(
        ("index", folder, embedder.name),
        lambda: KeptIndex(folder, embedder.load, warn, progress, show, layout.index),
    )


def _once(warn: Warn) -> Warn:
    """Warns of the same only once: an embedder fails for every space that a command asks."""
    told: set[str] = set()

    def tell(text: str) -> None:
        if text not in told:
            told.add(text)
            warn(text)

    return tell
