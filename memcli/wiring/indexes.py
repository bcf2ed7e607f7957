"""Opens the index of a store, of now or of a commit.

Chooses the embedder that the user asks for.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence

from memcli.embed import DEFAULT_EMBEDDER, EMBEDDERS, FOLDER, check_embedder
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


class ChosenEmbedder:
    """The embedder of a name, or else the default one. What is found out about its model is kept in `folder`."""

    def __init__(
        self,
        name: str | None,
        folder: str | None = None,
        load_remote: Callable[[], Remote] | None = None,
        keep: Keep = make,
    ) -> None:
        self.name = name or DEFAULT_EMBEDDER
        self._folder, self._load_remote, self._keep = folder, load_remote, keep

    def load(self) -> Embedder | None:
        """The embedder; None when it is off. Raises UsageError, and ProviderError when a provider has no address."""
        check_embedder(self.name)
        if self.name in EMBEDDERS:
            return self._keep(("embedder", self.name), EMBEDDERS[self.name])
        return self._keep(("embedder", self.name, self._folder), self._make)

    def _make(self) -> Embedder:
        made: Embedder = extra("embedders.opening").open_embedder(self.name, self._folder, self._load_remote)
        return made


def absolute(name: str, base: str) -> str:
    """The name of an embedder in a configuration, whose folder is found from `base`, where the project is."""
    if not name.startswith(FOLDER):
        return name
    return FOLDER + os.path.join(base, os.path.expanduser(name.removeprefix(FOLDER)))


def open_index(
    embedder: ChosenEmbedder,
    layout: Layout,
    keep: Keep,
    warn: Warn,
    progress: Progress | None,
    past: RevisionStore | None = None,
    server: Any = None,
    show: Show = lambda memories, _: memories,
) -> Index:
    """The index kept for the store at `layout`, for its `past`, or beside it for the spaces on a `server`. `show`
    gives memories as an index may hold them.

    Raises UsageError when there is no such embedder.
    """
    from memcli.index.cache import CachedIndex

    if server is not None and past is None:
        told = _once(warn)  # both say the same of an embedder that fails
        local = open_index(embedder, layout, keep, told, progress, show=show)
        shared: Index = extra("postgres.opening").share_index(
            server, local, embedder.load, layout.cache(""), told, progress
        )
        return shared
    check_embedder(embedder.name)
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
