"""The index of spaces: brought up to date from a snapshot before every use, one changed memory at a time.

Renewal: an index is made that of a snapshot, in one transaction; from what writers noted, where that is known.
"""

from __future__ import annotations

import os
import sqlite3
from collections import OrderedDict
from collections.abc import Callable
from contextlib import suppress

from memcli import beneath
from memcli.beneath import make, open_file
from memcli.codec.canonical import encode_line
from memcli.codec.space import policy_to_json
from memcli.errors import MemcliError, StoreError
from memcli.index.database import IN_MEMORY, connect, copy, identity, is_outdated, open_known, remove
from memcli.index.tables import FileTables, IndexSource, Show, TooMuchError
from memcli.index.view import IndexedSpace, Semantic
from memcli.model.space import size_of
from memcli.safety.secrets.detector import Detector
from memcli.safety.secrets.redact_memory import find_in_memory

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memcli.codec.window import MoveStep
    from memcli.index.vectors import VectorFile
    from memcli.ports import Embedder, Progress, Snapshot


_FEW_AT_ONCE = 2000
"""So many new memories are indexed while somebody waits for something else."""

_FEW_STEPS = 8
"""So many writes are followed again and again before an index is written."""

_MOST_NOTES = 1 << 20
"""Bytes of what writers noted; they keep it far below."""


class ErasedError(Exception):
    """The snapshot holds what was erased since."""


def synchronize(connection: sqlite3.Connection, source: IndexSource, path: str, most: int | None = None) -> None:
    """Makes the index at `path` that of exactly this version of the space; what did not change is left as it is.

    Raises CorruptError, and TooMuchError when more than `most` memories are new.
    """
    if stored(connection, "fingerprint") == source.snapshot.fingerprint:
        return
    connection.execute("BEGIN IMMEDIATE")
    try:
        _renew(connection, source, path, most)
        connection.execute("COMMIT")
    except BaseException:
        with suppress(sqlite3.Error):
            connection.execute("ROLLBACK")
        raise


def _renew(connection: sqlite3.Connection, source: IndexSource, path: str, most: int | None) -> None:
    """As `synchronize`, within a transaction."""
    snapshot = source.snapshot
    if stored(connection, "fingerprint") == snapshot.fingerprint:
        return
    from memcli.index.update import update

    if path != IN_MEMORY and is_outdated(path, snapshot):
        raise ErasedError
    policy = policy_to_json(snapshot.header().policy)
    # What a hand wrote into a policy that is secret is read from the file alone.
    is_secret = bool(find_in_memory(Detector({}, lambda _: ""), policy))
    meta = {
        "complete": "1" if update(connection, source, _steps(connection, snapshot, path), most) else "",
        "fingerprint": snapshot.fingerprint,
        "policy": "" if is_secret else encode_line(policy).decode(),
    }
    connection.execute("DELETE FROM meta WHERE key = 'erased'")
    connection.executemany("INSERT OR REPLACE INTO meta VALUES (?, ?)", sorted(meta.items()))


def follow(connection: sqlite3.Connection, source: IndexSource, path: str) -> None:
    """Makes the index that of this version of the space for as long as the connection is open. A few changes are not
    written: that would take longer than to make them."""
    steps = _steps(connection, source.snapshot, path)
    if steps is None or len(steps) > _FEW_STEPS:
        synchronize(connection, source, path, _FEW_AT_ONCE)
        return
    connection.execute("BEGIN IMMEDIATE")
    _renew(connection, source, path, _FEW_AT_ONCE)


def is_complete(connection: sqlite3.Connection) -> bool:
    """Whether the catalogue can be read from the index: each memory has one row, and no column misrepresents one."""
    odd = connection.execute("SELECT 1 FROM memory WHERE is_odd OR start < 0 LIMIT 1").fetchone()
    return bool(stored(connection, "complete")) and odd is None


def stored(connection: sqlite3.Connection, key: str) -> str | None:
    """What the index says of itself, such as the `fingerprint` of the snapshot that it is of."""
    row = connection.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
    return row[0] if row else None


def _steps(connection: sqlite3.Connection, snapshot: Snapshot, path: str) -> list[MoveStep] | None:
    """What was written since the file was indexed, as its writers noted it; None where that is not known."""
    before = stored(connection, "fingerprint") or stored(connection, "erased")
    if path == IN_MEMORY or before is None or not is_complete(connection):
        return None
    from memcli.codec.window import steps_between

    with suppress(OSError), open(open_file(f"{path.removesuffix('.index')}.moves", os.O_RDONLY), "rb") as file:
        return steps_between(file.read(_MOST_NOTES), before, snapshot.fingerprint)
    return None


KEPT = 4
"""As many commits as are asked about in turn; an index that is gone costs one more look at its space."""


def folder_for(folder: str, commit: str) -> str:
    """The folder for the indexes of `commit` below `folder`, made if it is not there; older ones go.

    Raises StoreError when a link stands in its place, which would lead out of the cache.
    """
    own = os.path.join(folder, commit)
    for path in (folder, own):
        if os.path.islink(path):
            raise StoreError(f"{path} is a symbolic link", "delete it; memcli rebuilds the cache")
    with suppress(OSError):  # then the index is kept in memory, as everywhere
        for path in (os.path.dirname(folder), folder, own):
            with suppress(FileExistsError):
                beneath.make(path, 0o700)
        with beneath.at(own) as (name, above):
            os.utime(name, dir_fd=above)
        others = [entry for entry in os.scandir(folder) if entry.is_dir(follow_symlinks=False) and entry.name != commit]
        others.sort(key=lambda entry: (entry.stat(follow_symlinks=False).st_mtime_ns, entry.name))
        for entry in others[: max(0, len(others) - KEPT + 1)]:
            beneath.remove_tree(entry.path, ignore_errors=True)
    return own


_FEW = 1000
"""So many new memories are indexed while somebody waits for what the file can tell too."""

_SMALL, _LARGE = 1 << 21, 1 << 26
"""Bytes of a space that is read whole for that: where there is no index yet, and where there is one to compare with."""


class CachedIndex:
    """The index of the spaces of a store, in files under `folder`, or rebuilt in memory each time where these cannot be
    written.

    With `live`, the folder of another such index, vectors are stored there, and a new index begins as a copy of that
    one. `place` overrides the file of a space's index; `show` rewrites memories before they are indexed. `embedder` is
    called once, when the first vector is needed. `warn` gets the reason why the cache is not used.
    """

    def __init__(
        self,
        folder: str,
        embedder: Callable[[], Embedder | None],
        warn: Callable[[str], None],
        progress: Progress | None = None,
        live: str | None = None,
        show: Show = lambda memories, _: memories,
        place: Callable[[str], str] | None = None,
    ) -> None:
        self._path = place or (lambda space: os.path.join(folder, f"{space}.index"))
        self._folder = folder
        self._show = show
        self._live = folder if live is None else live
        self._semantic = Semantic(embedder, self._open_vectors)
        self._warn = warn
        self._has_warned = False
        self._progress = progress

    def view(self, snapshot: Snapshot) -> IndexedSpace:
        return self._view_of(self._tables(snapshot))

    def at_hand(self, snapshot: Snapshot) -> IndexedSpace | None:
        path = self._path(snapshot.space)
        most = _LARGE if os.path.exists(path) else _SMALL
        if not snapshot.fingerprint:
            return None
        try:
            if size_of(snapshot.fingerprint) > most:
                raise TooMuchError
            self._make(os.path.dirname(path))
            connection = connect(path)
            try:
                follow(connection, self._source(snapshot), path)
            except BaseException:
                connection.close()
                raise
        except TooMuchError:
            self._warn(f"not compared with space {snapshot.space!r}: it is not indexed yet (`memcli recall` does that)")
            return None
        except (sqlite3.Error, OSError, MemcliError, ErasedError, LookupError, TypeError, ValueError):
            return None
        return self._view_of(self._tables_of(connection, path, snapshot))

    def existing(self, snapshot: Snapshot) -> IndexedSpace | None:
        path = self._path(snapshot.space)
        try:
            connection = open_known(path)
        except (sqlite3.Error, OSError):
            return None
        if connection is None:
            return None
        # Whatever goes wrong: the file has the answer, or says what is wrong with it.
        with suppress(
            sqlite3.Error, MemcliError, ErasedError, TooMuchError, ArithmeticError, LookupError, TypeError, ValueError
        ):
            known = stored(connection, "fingerprint")
            if known and snapshot.fingerprint and known != snapshot.fingerprint:
                synchronize(connection, self._source(snapshot), path, _FEW)  # a few changes are indexed now
            if stored(connection, "fingerprint") == snapshot.fingerprint and is_complete(connection):
                return self._view_of(self._tables_of(connection, path, snapshot))
        connection.close()
        return None

    def embedder(self) -> str:
        return self._semantic.model()

    def rebuild(self, space: str) -> None:
        remove(self._path(space))

    def question(self, topic: str) -> tuple[str, bytes] | None:
        return self._semantic.question(topic)

    def _source(self, snapshot: Snapshot) -> IndexSource:
        return IndexSource(snapshot, self._show)

    def _view_of(self, tables: FileTables) -> IndexedSpace:
        return IndexedSpace(tables, self._semantic, self._warn, self._progress)

    def _tables_of(self, connection: sqlite3.Connection, path: str, snapshot: Snapshot) -> FileTables:
        return FileTables(connection, path, self._source(snapshot), self._path(snapshot.space))

    def _tables(self, snapshot: Snapshot) -> FileTables:
        """The index of the snapshot, brought up to date."""
        path = self._path(snapshot.space)
        if not snapshot.fingerprint:  # there is no such space
            with suppress(OSError):
                remove(path)
            return self._synchronized(IN_MEMORY, snapshot)
        try:
            self._make(os.path.dirname(path))
            if self._live != self._folder and not os.path.exists(path):
                copy(os.path.join(self._live, os.path.basename(path)), path)
            return self._synchronized(path, snapshot)
        except ErasedError:
            return self._synchronized(IN_MEMORY, snapshot)
        except (sqlite3.Error, OSError) as error:
            self._tell_why(error)
            return self._synchronized(IN_MEMORY, snapshot)

    def _tell_why(self, error: sqlite3.Error | OSError) -> None:
        """Warns once that there is no cache to work with, but not where another process is at work on it."""
        if self._has_warned or getattr(error, "sqlite_errorcode", 0) & 0xFF in (
            sqlite3.SQLITE_BUSY,
            sqlite3.SQLITE_LOCKED,
        ):
            return  # of an extended error code the first byte is the plain one
        self._has_warned = True
        reason = (error.strerror if isinstance(error, OSError) else str(error)) or type(error).__name__
        self._warn(f"the cache cannot be kept ({reason}); this command works without it")

    def _make(self, folder: str) -> None:
        with suppress(FileExistsError):
            make(folder, 0o700)  # and none above it: a store that was removed meanwhile must not come back

    def _synchronized(self, path: str, snapshot: Snapshot) -> FileTables:
        connection = connect(path, self._warn)
        try:
            synchronize(connection, self._source(snapshot), path)
        except ErasedError:
            connection.close()
            raise
        except sqlite3.OperationalError:
            raise  # locked, read-only, disk full: not damage
        except (sqlite3.DatabaseError, AttributeError, LookupError, TypeError, ValueError):
            connection.close()
            self._warn(f"{os.path.basename(path)} in the cache was damaged; it is made anew")
            remove(path)
            connection = connect(path)
            synchronize(connection, self._source(snapshot), path)
        return self._tables_of(connection, path, snapshot)

    def _open_vectors(self, model: str, dimensions: int) -> VectorFile:
        from memcli.index.vectors import VectorFile

        try:
            self._make(self._live)
            return VectorFile(self._live, model, dimensions)
        except (sqlite3.Error, OSError) as error:
            self._tell_why(error)
            return VectorFile(None, model, dimensions)


_MOST = 32
"""How many spaces are kept open: each takes a file and what was read of it."""


class KeptIndex(CachedIndex):
    """A `CachedIndex` that returns the same view while space and cache are unchanged. A view releases its snapshot
    between two questions, so that no file of a space stays open."""

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
        # Views hold the number of vectors they were opened with; replaced or deleted files need a new mapping.
        vectors = self._semantic.vectors
        if vectors is not None:
            now = _state(vectors)
            if not (self._seen == now and not vectors.is_lost):
                self._close_views()
                if vectors.is_lost or (self._seen is not None and self._seen[0] != now[0]):
                    self._close_vectors()
                else:
                    self._seen = now
        known = self._views.pop(snapshot.space, None)
        if known is not None and not known.is_of(snapshot):
            known.release()
            known = None
        if known is None:
            known = KeptSpace(self._tables(snapshot), self._semantic, self._warn, self._progress)
        known.use(self._source(snapshot))
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
        self._close_views()
        self._close_vectors()

    def _open_vectors(self, model: str, dimensions: int) -> VectorFile:
        found = super()._open_vectors(model, dimensions)
        self._seen = _state(found)
        return found

    def _close_views(self) -> None:
        while self._views:
            self._views.popitem()[1].release()

    def _close_vectors(self) -> None:
        if self._semantic.vectors is not None:
            self._semantic.vectors.close()
        self._semantic.vectors = self._seen = None


def _state(vectors: VectorFile) -> tuple[object, int]:
    """Which file the vectors are in, and how many there are."""
    try:
        return identity(vectors.path), vectors.count()
    except sqlite3.Error:
        return None, -1


class KeptSpace(IndexedSpace):
    """A view that `close` leaves open until it is released."""

    _tables: FileTables

    def __init__(
        self, tables: FileTables, semantic: Semantic, warn: Callable[[str], None], progress: Progress | None
    ) -> None:
        super().__init__(tables, semantic, warn, progress)
        self._file = identity(tables.path)

    def use(self, source: IndexSource) -> None:
        """Reads memories from this snapshot, which has the same content as the one before."""
        self._tables.source = source

    def is_of(self, snapshot: Snapshot) -> bool:
        """Whether the index is still that of this snapshot, in the same file."""
        if self._tables.fingerprint != snapshot.fingerprint or self._file != identity(self._tables.path):
            return False
        try:
            return stored(self._tables.connection, "fingerprint") == snapshot.fingerprint
        except sqlite3.Error:
            return False

    def close(self) -> None:
        """Does nothing: the next question is asked of the same view."""

    def release(self) -> None:
        """Closes the index."""
        super().close()
