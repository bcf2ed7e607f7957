"""Opens the index of a store, or of its state at a commit, and the configured embedder."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, partial

from memcli.embed import EMBEDDERS, check_embedder
from memcli.record import Record
from memcli.store.layout import Layout
from memcli.wiring import extra
from memcli.wiring.roots import Warn

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeVar

    from memcli.index.tables import Screen
    from memcli.model.conversation import ModelName
    from memcli.ports import Embedder, Index, Progress
    from memcli.store.snapshot import RevisionStore

    T = TypeVar("T")


Keep = Callable[["tuple[Any, ...]", Callable[[], "Any"]], "Any"]
"""Returns the object that was made for a key, or calls the function to make it: a cache of a process that opens many workspaces."""


def make(_key: tuple[Any, ...], make: Callable[[], T], /) -> T:
    """The `Keep` of a process that opens one workspace: caches nothing."""
    return make()


class Remote(Record):
    """The access to providers of embeddings: the `address` of a model, `call`, which sends texts to it, and `redact`, which is
    applied to texts first."""

    address: Callable[[ModelName], str]
    call: Callable[[ModelName, Sequence[str]], Sequence[Sequence[float]]]
    redact: Callable[[str], str]


def load_embedder(
    name: str, folder: str | None = None, load_remote: Callable[[], Remote] | None = None, keep: Keep = make
) -> Embedder | None:
    """The embedder with this name, None for `off`. Properties of its model are cached in `folder`. Raises UsageError, and
    ProviderError when a provider has no address."""
    check_embedder(name)
    embedder: Embedder | None
    if name in EMBEDDERS:
        embedder = keep(("embedder", name), EMBEDDERS[name])
    else:
        open_other = partial(extra("embedders.opening").open_embedder, name, folder, load_remote)
        embedder = keep(("embedder", name, folder), open_other)
    return embedder


def open_index(
    embedder: str,
    load: Callable[[], Embedder | None],
    layout: Layout,
    keep: Keep,
    warn: Warn,
    progress: Progress | None,
    past: RevisionStore | None = None,
    server: Any = None,
    screen: Screen | None = None,
) -> Index:
    """The index of the store at `layout`, of its state `past`, or of its spaces on a `server`. `load` opens the embedder; `screen`
    is applied to memories for the index.

    Raises UsageError when there is no such embedder.
    """
    from memcli.index.cache import CachedIndex

    if server is not None and past is None:
        warn_once = cache(warn)  # once: an embedder that fails would be reported for every space, and by both
        local = open_index(embedder, load, layout, keep, warn_once, progress, screen=screen)
        shared: Index = extra("postgres.opening").share_index(
            server, local, load, layout.cache(""), warn_once, progress
        )
        return shared
    check_embedder(embedder)
    folder = layout.cache("")
    if past is not None:
        from memcli.index.cache import folder_for

        # Its own index: the one of the present would be changed back and forth. Vectors are stored by text, and shared.
        revision = folder_for(layout.cache("revisions"), past.commit)
        return CachedIndex(revision, load, cache(warn), progress, folder, screen)
    if keep is make:  # one workspace: nothing to keep open for a later call
        return CachedIndex(folder, load, cache(warn), progress, screen=screen, place=layout.index)
    from memcli.index.cache import ReusedIndex

    reused: Index = keep(
        ("index", folder, embedder),
        lambda: ReusedIndex(folder, load, warn, progress, screen, layout.index),
    )
    return reused
