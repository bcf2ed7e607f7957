"""The index of spaces: brought up to date from a snapshot before every use, one changed memory at a time.

Renewal: an index is made that of a snapshot, in one transaction; from what writers noted, where that is known.
"""

from __future__ import annotations

import os
import sqlite3
from _thread import allocate_lock
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, TypeVar

from memcli import beneath
from memcli.beneath import make, open_file
from memcli.codec.canonical import encode_line
from memcli.codec.space import policy_to_json
from memcli.errors import MemcliError, StoreError
from memcli.index.database import IN_MEMORY, connect, copy, identity, open_known, remove
from memcli.index.reading import CurrentSnapshot, Show
from memcli.index.view import IndexedSpace, Semantic, model_in_use
from memcli.model.memory import Json
from memcli.model.recall import Entry, RecordedGroup
from memcli.model.space import Policy, size_of
from memcli.ports import Embedder, Progress, Snapshot
from memcli.safety.secrets.detector import Detector
from memcli.safety.secrets.redact_memory import find_in_memory

if TYPE_CHECKING:
    from memcli.codec.window import MoveStep
    from memcli.index.catalogue import IndexedCatalogue
    from memcli.index.vectors import VectorFile


_FEW_AT_ONCE = 2000
"""So many new memories are indexed while somebody waits for something else."""

_FEW_STEPS = 8
"""So many writes are followed again and again before an index is written."""

_MOST_NOTES = 1 << 20
"""Bytes of what writers noted; they keep it far below."""


class ErasedError(Exception):
    """The snapshot holds what was erased since."""


def synchronize(
    connection: sqlite3.Connection, snapshot: Snapshot, path: str = IN_MEMORY, most: int | None = None
) -> None:
    """Makes the index at `path` that of exactly this snapshot; what did not change is left as it is.

    Raises CorruptError, and TooMuchError when more than `most` memories are new.
    """
    if stored_fingerprint(connection) == snapshot.fingerprint:
        return
    with _transaction(connection):
        _renew(connection, snapshot, path, most)


def _renew(connection: sqlite3.Connection, snapshot: Snapshot, path: str, most: int | None) -> None:
    """As `synchronize`, within a transaction."""
    if stored_fingerprint(connection) == snapshot.fingerprint:
        return
    from memcli.index.erasing import is_outdated
    from memcli.index.update import update

    if path != IN_MEMORY and is_outdated(path, snapshot):
        raise ErasedError
    policy = policy_to_json(snapshot.header().policy)
    meta = {
        "complete": "1" if update(connection, snapshot, _steps(connection, snapshot, path), most) else "",
        "fingerprint": snapshot.fingerprint,
        "policy": "" if _is_secret(policy) else encode_line(policy).decode(),
    }
    connection.execute("DELETE FROM meta WHERE key = 'erased'")
    connection.executemany("INSERT OR REPLACE INTO meta VALUES (?, ?)", sorted(meta.items()))


def _is_secret(policy: dict[str, Json]) -> bool:
    """Whether a hand wrote something secret into a policy: then it is read from the file alone."""
    return bool(find_in_memory(Detector({}, lambda _: ""), policy))


def follow(connection: sqlite3.Connection, snapshot: Snapshot, path: str) -> None:
    """Makes the index that of the snapshot for as long as the connection is open. A few changes are not written: that
    would take longer than to make them."""
    steps = _steps(connection, snapshot, path)
    if steps is None or len(steps) > _FEW_STEPS:
        synchronize(connection, snapshot, path, _FEW_AT_ONCE)
        return
    connection.execute("BEGIN IMMEDIATE")
    _renew(connection, snapshot, path, _FEW_AT_ONCE)


def is_complete(connection: sqlite3.Connection) -> bool:
    """Whether the index tells of each memory all that a catalogue needs: nothing stands there twice, or oddly."""
    complete = connection.execute("SELECT value FROM meta WHERE key = 'complete'").fetchone()
    odd = connection.execute("SELECT 1 FROM memory WHERE is_odd OR start < 0 LIMIT 1").fetchone()
    return complete is not None and bool(complete[0]) and odd is None


def stored_fingerprint(connection: sqlite3.Connection) -> str | None:
    """The fingerprint of the snapshot that the index is of."""
    return _meta(connection, "fingerprint")


def _meta(connection: sqlite3.Connection, key: str) -> str | None:
    row = connection.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
    return row[0] if row else None


def _steps(connection: sqlite3.Connection, snapshot: Snapshot, path: str) -> list[MoveStep] | None:
    """What was written since the file was indexed, as its writers noted it; None where that is not known."""
    before = stored_fingerprint(connection) or _meta(connection, "erased")
    if path == IN_MEMORY or before is None or not is_complete(connection):
        return None
    from memcli.codec.window import steps_between

    with suppress(OSError), open(open_file(f"{path.removesuffix('.index')}.moves", os.O_RDONLY), "rb") as file:
        return steps_between(file.read(_MOST_NOTES), before, snapshot.fingerprint)
    return None


@contextmanager
def _transaction(connection: sqlite3.Connection) -> Iterator[None]:
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        with suppress(sqlite3.Error):
            connection.execute("ROLLBACK")
        raise


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

_View = TypeVar("_View", bound=IndexedSpace)


class CachedIndex:
    """The index kept under `folder`; in memory alone, and so made anew each time, where that cannot be written.

    With `live`, the folder of another such index, vectors are kept in that one, and an index begins as a copy of its
    own. `place` gives the file of the index of a space, where that is another; `show` gives memories as the index may
    hold them. `embedder` is called once, when the first vector is needed. `warn` is told why the cache is not used.
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
        self._load_embedder = embedder
        self._embedder: Embedder | None = None
        self._vectors: VectorFile | None = None
        self._embedder_loaded = False
        self._lock = allocate_lock()
        self._warn = warn
        self._has_warned = False
        self._progress = progress

    def view(self, snapshot: Snapshot) -> IndexedSpace:
        return self._open(IndexedSpace, self._read(snapshot))

    def _read(self, snapshot: Snapshot) -> CurrentSnapshot:
        return CurrentSnapshot(snapshot, self._show)

    def _open(self, kind: type[_View], snapshot: CurrentSnapshot) -> _View:
        return self._over(kind, snapshot, *self._fresh(snapshot))

    def _over(self, kind: type[_View], snapshot: CurrentSnapshot, connection: sqlite3.Connection, path: str) -> _View:
        def reopen() -> sqlite3.Connection | None:
            return None if path == IN_MEMORY else connect(path)

        def is_outdated(snapshot: Snapshot) -> bool:
            from memcli.index.erasing import is_outdated

            return is_outdated(self._path(snapshot.space), snapshot)

        return kind(connection, snapshot, self._semantic, reopen, is_outdated, self._warn, self._progress)

    def at_hand(self, snapshot: Snapshot) -> IndexedSpace | None:
        snapshot = self._read(snapshot)
        path = self._path(snapshot.space)
        most = _LARGE if os.path.exists(path) else _SMALL
        if not snapshot.fingerprint:
            return None
        from memcli.index.update import TooMuchError

        try:
            if size_of(snapshot.fingerprint) > most:
                raise TooMuchError
            self._make(os.path.dirname(path))
            connection = connect(path)
            try:
                follow(connection, snapshot, path)
            except BaseException:
                connection.close()
                raise
        except TooMuchError:
            self._warn(f"not compared with space {snapshot.space!r}: it is not indexed yet (`memcli recall` does that)")
            return None
        except (sqlite3.Error, OSError, MemcliError, ErasedError, LookupError, TypeError, ValueError):
            return None
        return self._over(IndexedSpace, snapshot, connection, path)

    def kept(self, snapshot: Snapshot) -> IndexedCatalogue | None:
        from memcli.index.catalogue import IndexedCatalogue

        snapshot = self._read(snapshot)
        path = self._path(snapshot.space)
        try:
            connection = open_known(path)
        except (sqlite3.Error, OSError):
            return None
        if connection is None:
            return None
        try:
            if stored_fingerprint(connection) != snapshot.fingerprint:
                _catch_up(connection, snapshot, path)
            if is_complete(connection):
                return IndexedCatalogue(connection, snapshot)
        except (
            sqlite3.Error,
            MemcliError,
            ErasedError,
            _NotKeptError,
            ArithmeticError,
            LookupError,
            TypeError,
            ValueError,
        ):
            pass  # the file has the answer, or says what is wrong with it
        connection.close()
        return None

    def embedder(self) -> str:
        return model_in_use(self._semantic)

    def rebuild(self, space: str) -> None:
        remove(self._path(space))

    def question(self, topic: str) -> tuple[str, bytes] | None:
        if self._embedder is None or not self._embedder.is_calibrated:
            return None  # one question and another are compared by thresholds that hold for calibrated cosines
        if self._vectors is None or not self._vectors.lock.acquire(blocking=False):
            return None  # locked by a search that missed its deadline
        try:
            vector = self._vectors.question(topic)
        except sqlite3.Error:
            return None
        finally:
            self._vectors.lock.release()
        return (self._embedder.model, vector) if vector else None

    def _fresh(self, snapshot: Snapshot) -> tuple[sqlite3.Connection, str]:
        """The index of the snapshot, brought up to date, and where it is kept."""
        path = self._path(snapshot.space)
        if not snapshot.fingerprint:  # there is no such space
            with suppress(OSError):
                remove(path)
            return self._synchronized(IN_MEMORY, snapshot), IN_MEMORY
        try:
            self._make(os.path.dirname(path))
            if self._live != self._folder and not os.path.exists(path):
                copy(os.path.join(self._live, os.path.basename(path)), path)
            return self._synchronized(path, snapshot), path
        except ErasedError:
            return self._synchronized(IN_MEMORY, snapshot), IN_MEMORY
        except (sqlite3.Error, OSError) as error:
            self._tell_why(error)
            return self._synchronized(IN_MEMORY, snapshot), IN_MEMORY

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

    def _synchronized(self, path: str, snapshot: Snapshot) -> sqlite3.Connection:
        connection = connect(path, self._warn)
        try:
            synchronize(connection, snapshot, path)
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
            synchronize(connection, snapshot, path)
        return connection

    def _semantic(self) -> tuple[Embedder, VectorFile] | None:
        """The embedder with its vectors, loaded when first asked for; None when there is none."""
        with self._lock:  # a search that missed its deadline may still be loading
            return self._loaded()

    def _loaded(self) -> tuple[Embedder, VectorFile] | None:
        if not self._embedder_loaded:
            self._embedder = self._load_embedder()
            self._embedder_loaded = True
        if self._embedder is None:
            return None
        if self._vectors is None:
            from memcli.index.vectors import VectorFile

            model, dimensions = self._embedder.model, self._embedder.dimensions
            try:
                self._make(self._live)
                self._vectors = VectorFile(self._live, model, dimensions)
            except (sqlite3.Error, OSError) as error:
                self._tell_why(error)
                self._vectors = VectorFile(None, model, dimensions)
        return self._embedder, self._vectors


class _NotKeptError(Exception):
    """There is no index that could be brought up to date."""


def _catch_up(connection: sqlite3.Connection, snapshot: Snapshot, path: str) -> None:
    from memcli.index.update import TooMuchError

    if not snapshot.fingerprint or stored_fingerprint(connection) is None:
        raise _NotKeptError
    try:
        synchronize(connection, snapshot, path, _FEW)
    except TooMuchError:
        raise _NotKeptError from None


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
