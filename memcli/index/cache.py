"""The index files of spaces: each is brought up to date with a snapshot before it is used, in one transaction, memory by memory;
from the notes of writers, if they cover all writes since.
"""

from __future__ import annotations

import os
from collections import OrderedDict
from collections.abc import Callable
from contextlib import suppress

from memcli import beneath, sqlite
from memcli.beneath import make, open_file
from memcli.codec.canonical import encode_line
from memcli.codec.space import policy_to_json
from memcli.errors import MemcliError, StoreError
from memcli.index.database import IN_MEMORY, connect, copy, identity, is_outdated, open_known, remove
from memcli.index.tables import FileTables, IndexSource, Screen, TooMuchError
from memcli.index.view import IndexedSpace, Semantic
from memcli.model.space import size_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memcli.codec.window import MoveStep
    from memcli.index.vectors import VectorFile
    from memcli.ports import Embedder, Progress, Snapshot


_FEW_AT_ONCE = 2000
"""The most new memories that are indexed when the search is not what the user waits for."""

_FEW_STEPS = 8
"""After at most so many writes, `follow` repeats their changes for each reader instead of writing the index."""

_MOST_NOTES = 1 << 20
"""The most bytes of writers' notes that are read; writers limit them to far less."""


class ErasedError(Exception):
    """The snapshot contains memories that were erased since."""


def synchronize(connection: sqlite.Connection, source: IndexSource, path: str, most: int | None = None) -> None:
    """Updates the index at `path` to exactly this version of the space; unchanged rows stay.

    Raises CorruptError, and TooMuchError if more than `most` memories are new.
    """
    if stored(connection, "fingerprint") == source.snapshot.fingerprint:
        return
    connection.execute("BEGIN IMMEDIATE")
    try:
        _renew(connection, source, path, most)
        connection.execute("COMMIT")
    except BaseException:
        with suppress(sqlite.Error):
            connection.execute("ROLLBACK")
        raise


def _renew(connection: sqlite.Connection, source: IndexSource, path: str, most: int | None) -> None:
    """As `synchronize`, within a transaction."""
    # Compared again within the transaction, as another process may have updated the index meanwhile.
    snapshot = source.snapshot
    if stored(connection, "fingerprint") == snapshot.fingerprint:
        return
    from memcli.index.update import update
    from memcli.safety.secrets.detector import Detector
    from memcli.safety.secrets.redact_memory import find_in_memory

    # Within the transaction, as an eraser leaves its stamp under the same lock.
    if path != IN_MEMORY and is_outdated(path, snapshot):
        raise ErasedError
    policy = policy_to_json(snapshot.header().policy)
    # A policy into which a secret was written by hand is not copied into the index, but read from the file.
    is_secret = bool(find_in_memory(Detector({}, lambda _: ""), policy))
    meta = {
        "complete": "1" if update(connection, source, _steps(connection, snapshot, path), most) else "",
        "fingerprint": snapshot.fingerprint,
        "policy": "" if is_secret else encode_line(policy).decode(),
    }
    connection.execute("DELETE FROM meta WHERE key = 'erased'")
    connection.executemany("INSERT OR REPLACE INTO meta VALUES (?, ?)", sorted(meta.items()))


def follow(connection: sqlite.Connection, source: IndexSource, path: str) -> None:
    """Updates the index to this version of the space for as long as the connection is open. A few changes stay in an open
    transaction: committing them would take longer than making them."""
    steps = _steps(connection, source.snapshot, path)
    if steps is None or len(steps) > _FEW_STEPS:
        synchronize(connection, source, path, _FEW_AT_ONCE)
        return
    connection.execute("BEGIN IMMEDIATE")
    _renew(connection, source, path, _FEW_AT_ONCE)


def is_complete(connection: sqlite.Connection) -> bool:
    """Whether the catalogue can be read from the index: each memory has one row, and all columns represent it exactly."""
    odd = connection.execute("SELECT 1 FROM memory WHERE is_odd OR start < 0 LIMIT 1").fetchone()
    return bool(stored(connection, "complete")) and odd is None


def stored(connection: sqlite.Connection, key: str) -> str | None:
    """The value of a key in the table `meta`, such as the `fingerprint` of the indexed snapshot; None if there is none."""
    row = connection.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
    return row[0] if row else None


def _steps(connection: sqlite.Connection, snapshot: Snapshot, path: str) -> list[MoveStep] | None:
    """The changes since the indexed version, as writers noted them; None if that is unknown."""
    before = stored(connection, "fingerprint") or stored(connection, "erased")
    if path == IN_MEMORY or before is None or not is_complete(connection):
        return None
    from memcli.codec.window import steps_between

    with suppress(OSError), open(open_file(f"{path.removesuffix('.index')}.moves", os.O_RDONLY), "rb") as file:
        return steps_between(file.read(_MOST_NOTES), before, snapshot.fingerprint)
    return None


_MOST_COMMITS = 4
"""The number of commits whose indexes are stored; an index that was removed is built again."""


def folder_for(folder: str, commit: str) -> str:
    """The folder for the indexes of `commit` below `folder`, created if missing; the least recently used ones are removed.

    Raises StoreError if it is a symbolic link, which could lead out of the cache.
    """
    own = os.path.join(folder, commit)
    for path in (folder, own):
        if os.path.islink(path):
            raise StoreError(f"{path} is a symbolic link", "delete it; memcli rebuilds the cache")
    with suppress(OSError):  # without the folder the index is built in memory
        for path in (os.path.dirname(folder), folder, own):
            with suppress(FileExistsError):
                beneath.make(path, 0o700)
        # By descriptor, as another process could replace the folder by a link after the check.
        with beneath.at(own) as (name, above):
            os.utime(name, dir_fd=above)
        others = [entry for entry in os.scandir(folder) if entry.is_dir(follow_symlinks=False) and entry.name != commit]
        others.sort(key=lambda entry: (entry.stat(follow_symlinks=False).st_mtime_ns, entry.name))
        for entry in others[: max(0, len(others) - _MOST_COMMITS + 1)]:
            beneath.remove_tree(entry.path, ignore_errors=True)
    return own


_FEW = 1000
"""The most new memories that are indexed for a reader that can also read the file."""

_SMALL, _LARGE = 1 << 21, 1 << 26
"""The most bytes of a space that `at_hand` indexes: without an index, and with one that has to be updated."""


class CachedIndex:
    """The index of the spaces of a store, in files under `folder`, or rebuilt in memory each time where these cannot be
    written.

    With `live`, the folder of another such index, vectors are stored there, and a new index begins as a copy of that
    one. `place` overrides the file of a space's index; `screen` is applied to memories before they are indexed. `embedder` is
    called once, when the first vector is needed. `warn` gets the reason why the cache is not used.
    """

    def __init__(
        self,
        folder: str,
        embedder: Callable[[], Embedder | None],
        warn: Callable[[str], None],
        progress: Progress | None = None,
        live: str | None = None,
        screen: Screen | None = None,
        place: Callable[[str], str] | None = None,
    ) -> None:
        self._path = place or (lambda space: os.path.join(folder, f"{space}.index"))
        self._folder = folder
        self._screen = screen or Screen()
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
        except (sqlite.Error, OSError, MemcliError, ErasedError, LookupError, TypeError, ValueError):
            return None
        return self._view_of(self._tables_of(connection, path, snapshot))

    def existing(self, snapshot: Snapshot) -> IndexedSpace | None:
        path = self._path(snapshot.space)
        try:
            connection = open_known(path)
        except (sqlite.Error, OSError):
            return None
        if connection is None:
            return None
        # On any error the caller reads the file instead, which reports its own damage.
        with suppress(
            sqlite.Error, MemcliError, ErasedError, TooMuchError, ArithmeticError, LookupError, TypeError, ValueError
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
        return IndexSource(snapshot, self._screen)

    def _view_of(self, tables: FileTables) -> IndexedSpace:
        return IndexedSpace(tables, self._semantic, self._warn, self._progress)

    def _tables_of(self, connection: sqlite.Connection, path: str, snapshot: Snapshot) -> FileTables:
        return FileTables(connection, path, self._source(snapshot), self._path(snapshot.space))

    def _tables(self, snapshot: Snapshot) -> FileTables:
        """The index of the snapshot, brought up to date."""
        path = self._path(snapshot.space)
        if not snapshot.fingerprint:  # the space does not exist
            # A recall of a space that does not exist leaves no index in the cache.
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
        except (sqlite.Error, OSError) as error:
            self._warn_once(error)
            return self._synchronized(IN_MEMORY, snapshot)

    def _warn_once(self, error: sqlite.Error | OSError) -> None:
        """Warns once that the cache cannot be used, but not if another process has locked it."""
        # Background work that computes vectors locks the cache for moments, which needs no warning.
        if self._has_warned or getattr(error, "sqlite_errorcode", 0) & 0xFF in (
            sqlite.SQLITE_BUSY,
            sqlite.SQLITE_LOCKED,
        ):
            return  # the low byte of an extended error code is the primary code
        self._has_warned = True
        reason = (error.strerror if isinstance(error, OSError) else str(error)) or type(error).__name__
        self._warn(f"the cache cannot be kept ({reason}); this command works without it")

    def _make(self, folder: str) -> None:
        with suppress(FileExistsError):
            make(folder, 0o700)  # not its parents: a store that was removed meanwhile must not reappear

    def _synchronized(self, path: str, snapshot: Snapshot) -> FileTables:
        connection = connect(path, self._warn)
        try:
            synchronize(connection, self._source(snapshot), path)
        except ErasedError:
            connection.close()
            raise
        except sqlite.OperationalError:
            raise  # locked, read-only, disk full: not damage
        # Nonsense values in an index are damage too: otherwise each recall would end with an internal error until a rebuild.
        except (sqlite.DatabaseError, AttributeError, LookupError, TypeError, ValueError):
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
        except (sqlite.Error, OSError) as error:
            self._warn_once(error)
            return VectorFile(None, model, dimensions)


# Without a limit, a recall over all spaces ran out of file descriptors.
_MOST = 32
"""The most spaces that stay open: each takes a file descriptor, and memory for cached rows."""


class ReusedIndex(CachedIndex):
    """A `CachedIndex` for long-running processes: it returns the same view as long as space and cache are unchanged. A view
    gets its snapshot anew for each question, so that no file of a space stays open."""

    def __init__(
        self,
        folder: str,
        embedder: Callable[[], Embedder | None],
        warn: Callable[[str], None],
        progress: Progress | None = None,
        screen: Screen | None = None,
        place: Callable[[str], str] | None = None,
    ) -> None:
        super().__init__(folder, embedder, warn, progress, screen=screen, place=place)
        self._views: OrderedDict[str, ReusedSpace] = OrderedDict()
        self._seen: tuple[object, int] | None = None

    def view(self, snapshot: Snapshot) -> IndexedSpace:
        # A view has mapped the file of vectors at the length it had; a replaced or longer file needs a new mapping.
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
            known = ReusedSpace(self._tables(snapshot), self._semantic, self._warn, self._progress)
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
    """The identity of the file of vectors, and the number of vectors."""
    try:
        return identity(vectors.path), vectors.count()
    except sqlite.Error:
        return None, -1


class ReusedSpace(IndexedSpace):
    """A view that stays open after `close`, until `release`."""

    _tables: FileTables

    def __init__(
        self, tables: FileTables, semantic: Semantic, warn: Callable[[str], None], progress: Progress | None
    ) -> None:
        super().__init__(tables, semantic, warn, progress)
        self._file = identity(tables.path)

    def use(self, source: IndexSource) -> None:
        """Reads memories from this snapshot from now on, whose content equals that of the one before."""
        # A view serves several snapshots of one content, and whether memories were erased since is asked of the one
        # that is open.
        self._tables.source = source

    def is_of(self, snapshot: Snapshot) -> bool:
        """Whether the index is of this snapshot, and its file was not replaced."""
        if self._tables.fingerprint != snapshot.fingerprint or self._file != identity(self._tables.path):
            return False
        try:
            return stored(self._tables.connection, "fingerprint") == snapshot.fingerprint
        except sqlite.Error:
            return False

    def close(self) -> None:
        """Does nothing, as the next question uses the same view."""

    def release(self) -> None:
        """Closes the index."""
        super().close()
