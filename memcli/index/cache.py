"""The index of spaces: brought up to date from a snapshot before every use, one changed memory at a time."""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from threading import Lock
from typing import Any

from memcli.codec.canonical import decode, encode_line
from memcli.codec.memory import memory_from_json
from memcli.codec.space import policy_to_json
from memcli.errors import CorruptError
from memcli.index.database import IN_MEMORY, connect, copy, remove
from memcli.index.documents import anchors, columns, commit_of, links, parts_of
from memcli.index.erasing import is_outdated
from memcli.index.vectors import VectorFile, text_key
from memcli.index.view import IndexedSpace
from memcli.index.windows import renew_windows
from memcli.model.analysis import terms
from memcli.model.memory import TALK_KINDS, Memory
from memcli.model.passages import embedded_texts, heading, is_versioned, passages
from memcli.ports import Embedder, Progress, Snapshot

_DIGEST_BYTES = 16
_BY_ROW = ("passage", "link", "window", "anchor")


class CachedIndex:
    """The index kept under `folder`; in memory alone, and so made anew each time, where that cannot be written.

    With `live`, the folder of another such index, vectors are kept in that one, and an index begins as a copy of its
    own. `embedder` is called once, when the first vector is needed. `warn` is told why the cache is not used.
    """

    def __init__(
        self,
        folder: str,
        embedder: Callable[[], Embedder | None],
        warn: Callable[[str], None],
        progress: Progress | None = None,
        live: str | None = None,
    ) -> None:
        self._folder = folder
        self._live = folder if live is None else live
        self._load_embedder = embedder
        self._embedder: Embedder | None = None
        self._vectors: VectorFile | None = None
        self._embedder_loaded = False
        self._lock = Lock()
        self._warn = warn
        self._progress = progress

    def view(self, snapshot: Snapshot) -> IndexedSpace:
        connection, path = self._fresh(snapshot)

        def reopen() -> sqlite3.Connection | None:
            return None if path == IN_MEMORY else connect(path)

        return IndexedSpace(connection, snapshot, self._semantic, reopen, self._warn, self._progress)

    def rebuild(self, space: str) -> None:
        remove(self._path(space))

    def _fresh(self, snapshot: Snapshot) -> tuple[sqlite3.Connection, str]:
        """The index of the snapshot, brought up to date, and where it is kept."""
        path = self._path(snapshot.space)
        if not snapshot.fingerprint:  # there is no such space
            with suppress(OSError):
                remove(path)
            return self._synchronized(IN_MEMORY, snapshot), IN_MEMORY
        try:
            self._make(self._folder)
            if self._live != self._folder and not os.path.exists(path):
                copy(os.path.join(self._live, os.path.basename(path)), path)
            return self._synchronized(path, snapshot), path
        except _OutdatedError:
            return self._synchronized(IN_MEMORY, snapshot), IN_MEMORY
        except (sqlite3.Error, OSError) as error:
            self._warn(f"the cache cannot be kept ({_reason(error)}); this command works without it")
            return self._synchronized(IN_MEMORY, snapshot), IN_MEMORY

    def _make(self, folder: str) -> None:
        os.stat(
            os.path.dirname(os.path.normpath(self._live))
        )  # a store that was moved away meanwhile must not come back as an empty one
        os.makedirs(folder, 0o700, exist_ok=True)

    def _synchronized(self, path: str, snapshot: Snapshot) -> sqlite3.Connection:
        connection = connect(path, self._warn)
        try:
            synchronize(connection, snapshot, path)
        except _OutdatedError:
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

    def _path(self, space: str) -> str:
        return os.path.join(self._folder, f"{space}.index")

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
            model, dimensions = self._embedder.model, self._embedder.dimensions
            try:
                self._make(self._live)
                self._vectors = VectorFile(self._live, model, dimensions)
            except (sqlite3.Error, OSError) as error:
                self._warn(f"vectors cannot be kept ({_reason(error)}); this command works without the cache")
                self._vectors = VectorFile(None, model, dimensions)
        return self._embedder, self._vectors


class _OutdatedError(Exception):
    """The snapshot holds what was erased since."""


def synchronize(connection: sqlite3.Connection, snapshot: Snapshot, path: str = IN_MEMORY) -> None:
    """Makes the index at `path` that of exactly this snapshot; what did not change is left as it is."""
    if _fingerprint(connection) == snapshot.fingerprint:
        return
    with _transaction(connection):
        if _fingerprint(connection) == snapshot.fingerprint:
            return
        if path != IN_MEMORY and is_outdated(path, snapshot):
            raise _OutdatedError
        header = snapshot.header()
        _update(connection, snapshot)
        meta = {"fingerprint": snapshot.fingerprint, "policy": encode_line(policy_to_json(header.policy)).decode()}
        connection.executemany("INSERT OR REPLACE INTO meta VALUES (?, ?)", sorted(meta.items()))


def _update(connection: sqlite3.Connection, snapshot: Snapshot) -> None:
    known: dict[bytes, tuple[int, int]] = {
        digest: (row, start) for digest, row, start in connection.execute("SELECT digest, row, start FROM memory")
    }
    moved: list[tuple[int, int]] = []
    new: list[tuple[bytes, bytes, int]] = []
    seen: set[bytes] = set()
    for data, start in snapshot.records():
        digest = hashlib.blake2b(data, digest_size=_DIGEST_BYTES).digest()
        if digest in seen:
            continue  # the same memory twice, word for word: `fsck` tells, recall need not
        seen.add(digest)
        if digest not in known:
            new.append((digest, data, start))
        elif known[digest][1] != start:
            moved.append((start, known[digest][0]))
    gone = [row for digest, (row, _) in known.items() if digest not in seen]
    touched = _groups_of(connection, gone)
    commits = _commits_of(connection, gone)
    _delete(connection, gone)
    connection.executemany("UPDATE memory SET start = ? WHERE row = ?", moved)
    memories = [(_memory(data, snapshot), (digest, start, len(data))) for digest, data, start in new]
    tellers: dict[str, str] = {}
    for memory, _ in memories:
        if commit := commit_of(memory):
            tellers[commit] = min(memory.id, tellers.get(commit, memory.id))
    texts: dict[int, str] = {}
    for memory, place in memories:
        commit = commit_of(memory)
        row = _insert(connection, memory, place, tells=not commit or tellers[commit] == memory.id)
        if memory.kind in TALK_KINDS and memory.metadata.get("group"):
            texts[row] = memory.raw
    _tell_once(connection, snapshot, {*commits, *tellers})
    renew_windows(connection, snapshot, [*touched, *_groups_of(connection, list(texts))], texts)


def _insert(connection: sqlite3.Connection, memory: Memory, place: tuple[bytes, int, int], *, tells: bool) -> int:
    """Adds a memory, whose digest, start and length in the file are `place`; returns its row."""
    cut = passages(memory)
    kept = parts_of(memory, cut, tells=tells)
    lengths = [text.count(" ") + bool(text) for text in kept.texts]
    digest, start, length = place
    values: Mapping[str, Any] = {
        **columns(memory), "digest": digest, "start": start, "length": length, "lengths": json.dumps(lengths),
        "terms": sum(lengths), "tells": tells,
    }  # fmt: skip
    _count(connection, [*lengths, len(kept.passages), sum(last - first for *_, first, last in kept.passages)], 1)
    row = connection.execute(
        f"INSERT INTO memory ({', '.join(values)}) VALUES ({', '.join('?' * len(values))})", tuple(values.values())
    ).lastrowid
    connection.execute(
        "INSERT INTO term (rowid, path, tags, summary, raw, content) VALUES (?, ?, ?, ?, ?, ?)",
        (row, *kept.texts),
    )
    embedded = embedded_texts(memory, cut)
    connection.executemany(
        "INSERT INTO passage VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        [
            (row, n, one.form, first, last, " ".join(terms(heading(memory, one))), is_versioned(memory, one), text_key(embedded[n]))
            for n, one, first, last in kept.passages
        ],
    )  # fmt: skip
    connection.executemany("INSERT INTO link VALUES (?, ?, ?, ?)", [(row, *link) for link in links(memory)])
    connection.executemany("INSERT INTO anchor VALUES (?, ?, ?, ?)", [(row, *place) for place in anchors(memory)])
    return int(row or 0)


def _delete(connection: sqlite3.Connection, rows: Iterable[int]) -> None:
    dead = [(row,) for row in rows]
    for (row,) in dead:
        lengths = connection.execute("SELECT lengths FROM memory WHERE row = ?", (row,)).fetchone()[0]
        cut = connection.execute("SELECT count(*), sum(last - first) FROM passage WHERE row = ?", (row,)).fetchone()
        _count(connection, [*json.loads(lengths), cut[0], cut[1] or 0], -1)
    for table in ("memory WHERE row", "term WHERE rowid", *(f"{t} WHERE row" for t in _BY_ROW)):
        connection.executemany(f"DELETE FROM {table} = ?", dead)


def _count(connection: sqlite3.Connection, numbers: Sequence[int], sign: int) -> None:
    """Adds to, or takes from, how many terms all memories have in each of FIELDS, how many passages there are, and how
    many terms those have."""
    connection.execute("INSERT OR IGNORE INTO total VALUES (0, 0, 0, 0, 0, 0, 0, 0)")
    connection.execute(
        "UPDATE total SET path = path + ?, tags = tags + ?, summary = summary + ?, raw = raw + ?, content = content + ?,"
        " passages = passages + ?, terms = terms + ?",
        [sign * number for number in numbers],
    )


def _tell_once(connection: sqlite3.Connection, snapshot: Snapshot, commits: Iterable[str]) -> None:
    """Of each commit the file with the least id keeps the message, whatever came and went."""
    for commit in sorted(set(commits) - {""}):
        rows = connection.execute(
            "SELECT row, tells, id, digest, start, length FROM memory WHERE commit_hash = ? ORDER BY id, row", (commit,)
        ).fetchall()
        for n, (row, tells, name, digest, start, length) in enumerate(rows):
            if bool(tells) != (n == 0):
                (memory,) = snapshot.fetch([(name, start, length)])
                _delete(connection, [row])
                _insert(connection, memory, (digest, start, length), tells=n == 0)


def _groups_of(connection: sqlite3.Connection, rows: list[int]) -> set[str]:
    """The groups of talk that these rows belong to."""
    found = set()
    for row in rows:
        kind, group = connection.execute("SELECT kind, grp FROM memory WHERE row = ?", (row,)).fetchone()
        if kind in TALK_KINDS and group:
            found.add(group)
    return found


def _commits_of(connection: sqlite3.Connection, rows: Iterable[int]) -> set[str]:
    select = "SELECT commit_hash FROM memory WHERE row = ?"
    return {connection.execute(select, (row,)).fetchone()[0] for row in rows}


def _memory(data: bytes, snapshot: Snapshot) -> Memory:
    try:
        tree = decode(data, snapshot.space)
        if isinstance(tree, dict):
            return memory_from_json(tree, snapshot.space)
    except CorruptError:
        pass
    snapshot.load()  # says exactly where the file is damaged
    raise CorruptError(f"space {snapshot.space!r} is damaged", "run `memcli fsck`")


def _fingerprint(connection: sqlite3.Connection) -> str | None:
    row = connection.execute("SELECT value FROM meta WHERE key = 'fingerprint'").fetchone()
    return row[0] if row else None


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


def _reason(error: Exception) -> str:
    return (error.strerror if isinstance(error, OSError) else str(error)) or type(error).__name__
