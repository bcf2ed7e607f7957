"""An index whose views stay open between questions, for a process that asks many."""

from __future__ import annotations

import sqlite3
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from memcli.index.cache import CachedIndex
from memcli.index.database import identity
from memcli.index.reading import CurrentSnapshot, Show
from memcli.index.renewal import stored_fingerprint
from memcli.index.view import IndexedSpace, Semantic
from memcli.model.recall import Entry, RecordedGroup
from memcli.model.space import Policy
from memcli.ports import Embedder, Progress, Snapshot

if TYPE_CHECKING:
    from memcli.index.vectors import VectorFile

_MOST = 32
"""How many spaces are kept open: each takes a file and what was read of it."""


class KeptIndex(CachedIndex):
    """A `CachedIndex` that gives the same view again as long as the space and the cache are the same.

    A view reads the snapshot that it was last asked for: between two questions no file of a space is open.
    """

    def __init__(
        self,
        folder: str,
        embedder: Callable[[], Embedder | None],
        warn: Callable[[str], None],
        progress: Progress | None = None,
        show: Show = lambda memories, _: memories,
        place: Callable[[str], str] | None = None,
    ) -> None:
        super().__init__(folder, embedder, warn, progress, show=show, place=place)
        self._views: OrderedDict[str, KeptSpace] = OrderedDict()
        self._seen: tuple[object, int] | None = None

    def view(self, snapshot: Snapshot) -> IndexedSpace:
        self._check_vectors()
        current = self._read(snapshot)
        known = self._views.pop(snapshot.space, None)
        if known is not None and not known.is_of(snapshot):
            known.release()
            known = None
        if known is None:
            known = self._open(KeptSpace, current)
        known.use(snapshot)
        self._views[snapshot.space] = known
        while len(self._views) > _MOST:
            self._views.popitem(last=False)[1].release()
        return known

    def rebuild(self, space: str) -> None:
        known = self._views.pop(space, None)
        if known is not None:
            known.release()
        super().rebuild(space)

    def close(self) -> None:
        """Closes all views and the vectors."""
        while self._views:
            self._views.popitem()[1].release()
        if self._vectors is not None:
            self._vectors.close()
        self._vectors = self._seen = None

    def _loaded(self) -> tuple[Embedder, VectorFile] | None:
        found = super()._loaded()
        if self._seen is None and self._vectors is not None:
            self._seen = _state(self._vectors)
        return found

    def _check_vectors(self) -> None:
        """Closes the views if vectors were added, and also the vectors if their files were replaced or deleted."""
        if self._vectors is None:
            return
        now = _state(self._vectors)
        if self._seen == now and not self._vectors.is_lost:
            return
        while self._views:
            self._views.popitem()[1].release()
        if self._vectors.is_lost or (self._seen is not None and self._seen[0] != now[0]):
            self._vectors.close()
            self._vectors = self._seen = None
        else:
            self._seen = now


def _state(vectors: VectorFile) -> tuple[object, int]:
    """Which file the vectors are in, and how many there are."""
    try:
        return identity(vectors.path), vectors.count()
    except sqlite3.Error:
        return None, -1


class KeptSpace(IndexedSpace):
    """A view that `close` leaves open until it is released. What it has read of the index it does not read again."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        snapshot: CurrentSnapshot,
        semantic: Semantic,
        reopen: Callable[[], sqlite3.Connection | None],
        is_outdated: Callable[[Snapshot], bool],
        warn: Callable[[str], None],
        progress: Progress | None,
    ) -> None:
        self._current = snapshot
        super().__init__(connection, self._current, semantic, reopen, is_outdated, warn, progress)
        self._entries: dict[int, Entry] = {}
        self._groups: dict[str, RecordedGroup] = {}
        self._policy: Policy | None = None
        self._pinned: list[int] | None = None
        self._path = str(connection.execute("PRAGMA database_list").fetchone()[2])
        self._file = identity(self._path)

    def use(self, snapshot: Snapshot) -> None:
        """Makes it a view of this snapshot, which has the same content as the one before."""
        self._current.now = snapshot

    def is_of(self, snapshot: Snapshot) -> bool:
        """Whether the index is still that of this snapshot, in the same file."""
        if self._current.fingerprint != snapshot.fingerprint or self._file != identity(self._path):
            return False
        try:
            return stored_fingerprint(self._db) == snapshot.fingerprint
        except sqlite3.Error:
            return False

    def close(self) -> None:
        pass

    def release(self) -> None:
        """Closes the index."""
        super().close()

    @property
    def policy(self) -> Policy:
        if self._policy is None:
            self._policy = super().policy
        return self._policy

    def pinned(self) -> list[int]:
        if self._pinned is None:
            self._pinned = super().pinned()
        return self._pinned

    def entries(self, rows: Sequence[int] | None = None) -> dict[int, Entry]:
        if rows is None:
            return super().entries()
        self._entries |= super().entries([row for row in rows if row not in self._entries])
        return {row: self._entries[row] for row in rows}

    def groups(self, names: Sequence[str]) -> dict[str, RecordedGroup]:
        self._groups |= super().groups([name for name in names if name not in self._groups])
        return {name: self._groups[name] for name in names}
