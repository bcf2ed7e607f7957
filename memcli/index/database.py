"""The SQLite file of the index of one space: opened, checked, and created anew if it is damaged or of another version."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing, suppress
from itertools import chain

from memcli import beneath, sqlite
from memcli.safety import VERSION as SAFETY_VERSION
from memcli.text.words import VERSION as ANALYSIS_VERSION

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from memcli.ports import Snapshot

VERSION = f"20/{ANALYSIS_VERSION}/{SAFETY_VERSION}"
IN_MEMORY = ":memory:"

_BUSY_SECONDS = 5.0
_PER_STATEMENT = 500
_SIDE_FILES = ("-journal", "-wal", "-shm")
# Compared word for word by `check_tables`: after a change without another VERSION, every index is reported as
# damaged. Rows are never reused (AUTOINCREMENT), as a window names the row before it. `memory_group` has all that is
# asked of groups and is not partial: no query used a partial one. `tokenchars` keeps terms with `_`,
# `-` and `.` whole.
_SCHEMA = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE memory (
    row INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL,
    digest BLOB NOT NULL UNIQUE,
    start INTEGER NOT NULL,
    length INTEGER NOT NULL,
    path TEXT NOT NULL,
    kind TEXT NOT NULL,
    tags TEXT NOT NULL,
    relevance TEXT NOT NULL,
    pinned INTEGER NOT NULL,
    scope TEXT NOT NULL,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL,
    importance REAL NOT NULL,
    confidence REAL NOT NULL,
    grp TEXT NOT NULL,
    position TEXT NOT NULL,
    terms INTEGER NOT NULL,
    speaker TEXT NOT NULL,
    source TEXT NOT NULL,
    hidden INTEGER NOT NULL,
    active INTEGER NOT NULL,
    superseded_by TEXT NOT NULL,
    valid_from TEXT NOT NULL,
    valid_until TEXT NOT NULL,
    triggers TEXT NOT NULL,
    commit_hash TEXT NOT NULL,
    confirmed_at TEXT NOT NULL,
    season TEXT NOT NULL,
    is_read INTEGER NOT NULL,
    tells INTEGER NOT NULL,
    characters INTEGER NOT NULL,
    is_odd INTEGER NOT NULL,
    seal BLOB NOT NULL
);
CREATE INDEX memory_id ON memory (id);
CREATE INDEX memory_start ON memory (start);
CREATE INDEX memory_path ON memory (path, id, hidden);
CREATE INDEX memory_newest ON memory (updated_at DESC, path, id) WHERE NOT hidden;
CREATE INDEX memory_odd ON memory (row) WHERE is_odd OR start < 0;
CREATE INDEX memory_kind ON memory (kind);
CREATE INDEX memory_scope ON memory (scope);
CREATE INDEX memory_commit ON memory (commit_hash) WHERE commit_hash <> '';
CREATE INDEX memory_group ON memory (grp, position, terms);
CREATE INDEX memory_pinned ON memory (row) WHERE pinned;
CREATE INDEX memory_triggers ON memory (row) WHERE triggers <> '';
CREATE INDEX memory_limited ON memory (row) WHERE hidden OR valid_from <> '' OR valid_until <> '';
CREATE TABLE piece (start INTEGER PRIMARY KEY, at INTEGER NOT NULL, length INTEGER NOT NULL);
CREATE VIEW place AS SELECT row, id, length, seal, start + coalesce(
    (SELECT at - piece.start FROM piece WHERE piece.start <= memory.start ORDER BY piece.start DESC LIMIT 1), 0
) AS start FROM memory;
CREATE TABLE passage (
    row INTEGER NOT NULL,
    n INTEGER NOT NULL,
    form TEXT NOT NULL,
    first INTEGER NOT NULL,
    last INTEGER NOT NULL,
    heading TEXT NOT NULL,
    is_versioned INTEGER NOT NULL,
    key BLOB NOT NULL,
    PRIMARY KEY (row, n)
) WITHOUT ROWID;
CREATE TABLE window (row INTEGER PRIMARY KEY, before INTEGER NOT NULL, grp TEXT NOT NULL, key BLOB NOT NULL);
CREATE INDEX window_group ON window (grp);
CREATE TABLE plan (model TEXT PRIMARY KEY, token TEXT NOT NULL, data BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE clusters (model TEXT PRIMARY KEY, fingerprint TEXT NOT NULL, data TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE link (row INTEGER NOT NULL, target TEXT NOT NULL, relation TEXT NOT NULL, weight REAL NOT NULL);
CREATE INDEX link_row ON link (row);
CREATE TABLE anchor (row INTEGER NOT NULL, file TEXT NOT NULL, first INTEGER NOT NULL, last INTEGER NOT NULL);
CREATE INDEX anchor_row ON anchor (row);
CREATE INDEX anchor_file ON anchor (file);
CREATE VIRTUAL TABLE term USING fts5 (
    path, tags, summary, raw, content, tokenize = "ascii tokenchars '_-.'"
);
CREATE VIRTUAL TABLE vocabulary USING fts5vocab (term, row);
"""

_STATEMENTS = tuple(_SCHEMA.strip("\n;").split(";\n"))
_META = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'meta'"
_OF_SQLITE = ("CREATE TABLE 'term_", "CREATE TABLE sqlite_sequence(name,seq)")
"""Prefixes of the statements of tables that SQLite creates itself."""
_MOST_STEPS = 1 << 24
"""The most steps of a statement until the tables are checked, a fraction of a second: a hostile file may have endless views."""


def connect(path: str, warn: Callable[[str], None] = lambda _: None) -> sqlite.Connection:
    """The database at `path`, created anew if it is missing, damaged or of another version; `warn` gets a message of damage.

    Raises sqlite.Error or OSError if it can be neither read nor created.
    """
    if path != IN_MEMORY:
        beneath.own_file(path)
    try:
        if (known := _open(path)) is not None:
            return known
    except sqlite.OperationalError:
        raise  # locked, read-only, disk full: not damage
    except sqlite.DatabaseError:
        warn(f"{os.path.basename(path)} in the cache was damaged or not ours; it is made anew")
    # Not put aside for a repair, like a damaged space: a cache can be rebuilt, and its words would outlive a purge.
    remove(path)
    if path != IN_MEMORY:
        beneath.own_file(path)
    if (made := _open(path)) is None:
        raise sqlite.DatabaseError("another version of memcli makes it at the same time")
    return made


def open_known(path: str) -> sqlite.Connection | None:
    """The existing database at `path`; None if there is none of this version. Raises sqlite.Error, OSError."""
    if not os.path.lexists(path):
        return None
    beneath.own_file(path)
    return _open(path)


def select(connection: sqlite.Connection, statement: str, *values: Any) -> Iterable[tuple[Any, ...]]:
    """The result rows of a statement, in which `IN ?` stands for a list of values. A long list is looked up in parts, in order;
    an empty list has no rows."""
    lists = [value for value in values if isinstance(value, list | tuple)]
    if not lists:
        return connection.execute(statement, values)
    if not all(lists):
        return ()
    longest = max(lists, key=len)
    if len(longest) > _PER_STATEMENT:
        found: list[tuple[Any, ...]] = []
        for start in range(0, len(longest), _PER_STATEMENT):
            part = longest[start : start + _PER_STATEMENT]
            found += select(connection, statement, *(part if value is longest else value for value in values))
        return found
    for one in lists:
        statement = statement.replace("IN ?", f"IN ({','.join('?' * len(one))})", 1)
    flat = chain.from_iterable(value if isinstance(value, list | tuple) else (value,) for value in values)
    return connection.execute(statement, tuple(flat))


def remove(path: str) -> None:
    """Removes the database at `path`, if there is one, with SQLite's side files. Raises OSError."""
    for name in (path, *(path + side for side in _SIDE_FILES)):
        with suppress(FileNotFoundError):
            beneath.unlink(name)


def open_database(path: str, timeout: float | None = None) -> sqlite.Connection:
    """Opens the database in the existing file `path`, with a busy timeout in seconds. Raises sqlite.Error, and OSError for a
    symbolic link in the path.

    Callers run `check_tables` before other statements: until then a statement that takes long is interrupted.
    """
    if path == IN_MEMORY:
        return sqlite.connect(path, isolation_level=None, check_same_thread=False)
    connection = beneath.open_database(path, _BUSY_SECONDS if timeout is None else timeout)
    connection.set_progress_handler(lambda: True, _MOST_STEPS)
    return connection


def copy(source: str, target: str) -> None:
    """Copies the database at `source` to `target`; does nothing on errors, as a new index is only slower to build."""
    temp = f"{target}.{os.getpid()}"
    with suppress(sqlite.Error, OSError):
        if os.path.islink(source) or not os.path.isfile(source):
            return
        beneath.own_file(temp)
        with closing(open_database(source, 0)) as old, closing(open_database(temp)) as new:
            old.backup(new)
        beneath.replace(temp, target)
    with suppress(OSError):
        beneath.unlink(temp)


def _open(path: str) -> sqlite.Connection | None:
    """The database, whose tables are created in an empty file; None if it is of another version, which is no damage."""
    connection = open_database(path)
    try:
        # NORMAL adds a row in a quarter of the time of FULL; what a power failure takes is made again. The journal is
        # SQLite's default, since a WAL can be corrupted by a race in SQLite before 3.51.3.
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute("PRAGMA secure_delete = ON")  # so that `erasing` need not overwrite free pages
        if not connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
            connection.execute("BEGIN IMMEDIATE")
            # Another process may have created the tables while this one waited for the lock.
            if not connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
                for statement in _STATEMENTS:
                    connection.execute(statement)
                connection.execute("INSERT INTO meta VALUES ('version', ?)", (VERSION,))
            connection.execute("COMMIT")
        if connection.execute(_META).fetchone() is None:
            raise sqlite.DatabaseError("it is not ours")
        row = connection.execute("SELECT value FROM meta WHERE key = 'version'").fetchone()
        if row is None:
            raise sqlite.DatabaseError("it is not ours")
        if row[0] != VERSION:
            connection.close()
            return None
        check_tables(connection)
    except BaseException:
        connection.close()
        raise
    return connection


def check_tables(connection: sqlite.Connection, statements: Sequence[str] = ()) -> None:
    """Raises sqlite.DatabaseError unless the database has exactly the tables of these statements; by default those of an index.
    A view or a trigger instead of a table could run forever."""
    wanted = {statement.replace("IF NOT EXISTS ", "") for statement in statements or _STATEMENTS}
    found = {sql for (sql,) in connection.execute("SELECT sql FROM sqlite_master WHERE sql <> ''")}
    if wanted - found or not all(sql.startswith(_OF_SQLITE) for sql in found - wanted):
        raise sqlite.DatabaseError("it has other tables")
    connection.set_progress_handler(None, 0)


def identity(path: str | None) -> tuple[int, int] | None:
    """The device and inode of the file at `path`; None if there is none."""
    try:
        status = os.stat(path or "")
    except OSError:
        return None
    return status.st_dev, status.st_ino


def is_outdated(path: str, snapshot: Snapshot) -> bool:
    """Whether the snapshot precedes the last erasure, so that the index at `path` must not be built from it."""
    stamp = f"{path.removesuffix('.index')}.erased"
    try:
        with open(beneath.open_file(stamp, os.O_RDONLY), encoding="ascii") as file:
            return snapshot.is_before(int(file.read(32)))
    except (OSError, ValueError):
        return False


def leave_stamp(path: str, written_at: int) -> None:
    """Stores next to the index at `path` the time, in nanoseconds, at which its space was written without the erased memories."""
    stamp = f"{path.removesuffix('.index')}.erased"
    fd = beneath.open_file(stamp, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    try:
        os.write(fd, str(written_at).encode())
    finally:
        os.close(fd)
