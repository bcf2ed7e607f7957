"""Opens the index of a store, of now or of a commit, and the embedder that the user chose."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import cache

from memcli.embed import EMBEDDERS, FOLDER, check_embedder
from memcli.record import Record
from memcli.store.layout import Layout
from memcli.wiring import extra
from memcli.wiring.roots import Warn

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Protocol, TypeVar

    from memcli.index.tables import Show
    from memcli.model.conversation import ModelName
    from memcli.ports import Embedder, Index, Progress
    from memcli.store.snapshot import RevisionStore

    T = TypeVar("T")
else:
    Protocol = object


class Keep(Protocol):
    """Returns what a process that opens many workspaces made before for a key, or makes it."""

    def __call__(self, key: tuple[Any, ...], make: Callable[[], T], /) -> T: ...


def make(_key: tuple[Any, ...], make: Callable[[], T], /) -> T:
    """Makes it, in a process that opens one workspace."""
    return make()


class Remote(Record):
    """How a provider is asked for vectors: where it is, and what sends texts to it. Texts are sent as `redact` leaves
    them."""

    address: Callable[[ModelName], str]
    call: Callable[[ModelName, Sequence[str]], Sequence[Sequence[float]]]
    redact: Callable[[str], str]


def load_embedder(
    name: str, folder: str | None = None, load_remote: Callable[[], Remote] | None = None, keep: Keep = make
) -> Embedder | None:
    """The embedder of a name; None when it is off. What is found out about its model is kept in `folder`. Raises UsageError,
    and ProviderError when a provider has no address."""
    check_embedder(name)
    if name in EMBEDDERS:
        return keep(("embedder", name), EMBEDDERS[name])

    def open_embedder() -> Embedder:
        made: Embedder = extra("embedders.opening").open_embedder(name, folder, load_remote)
        return made

    return keep(("embedder", name, folder), open_embedder)


def absolute(name: str, base: str) -> str:
    """The name of an embedder in a configuration, whose folder is found from `base`, where the project is."""
    if not name.startswith(FOLDER):
        return name
    return FOLDER + os.path.join(base, os.path.expanduser(name.removeprefix(FOLDER)))


def open_index(
    embedder: str,
    load: Callable[[], Embedder | None],
    layout: Layout,
    keep: Keep,
    warn: Warn,
    progress: Progress | None,
    past: RevisionStore | None = None,
    server: Any = None,
    show: Show = lambda memories, _: memories,
) -> Index:
    """The index kept for the store at `layout`, for its `past`, or beside it for the spaces on a `server`. `load` opens the
    embedder of that name; `show` gives memories as an index may hold them. It warns only once of what is the same: an
    embedder fails for every space.

    Raises UsageError when there is no such embedder.
    """
    from memcli.index.cache import CachedIndex

    if server is not None and past is None:
        warn_once = cache(warn)  # both say the same of an embedder that fails
        local = open_index(embedder, load, layout, keep, warn_once, progress, show=show)
        shared: Index = extra("postgres.opening").share_index(
            server, local, load, layout.cache(""), warn_once, progress
        )
        return shared
    check_embedder(embedder)
    folder = layout.cache("")
    if past is not None:
        from memcli.index.cache import folder_for

        # An index of its own, so that a look back does not undo that of now; vectors are by text, and shared.
        revision = folder_for(layout.cache("revisions"), past.commit)
        return CachedIndex(revision, load, cache(warn), progress, folder, show)
    if keep is make:
        return CachedIndex(folder, load, cache(warn), progress, show=show, place=layout.index)
    from memcli.index.cache import ReusedIndex

    return keep(
        ("index", folder, embedder),
        lambda: ReusedIndex(folder, load, warn, progress, show, layout.index),
    )
