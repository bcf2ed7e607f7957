"""The local state of a store: `state.db` of its private state, one SQLite file with a table for each kind of record.

Every connection lasts for one transaction. Deleted rows are overwritten. A file that cannot be written is only read; a
damaged one is moved to the quarantine, and a new one is begun.
"""

from __future__ import annotations

import os
from _thread import get_ident
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress

from memcli import beneath
from memcli.errors import LockedError, MemcliError, StoreError
from memcli.record import Record
from memcli.store.atomic import make_folder, move_file, remove_quietly
from memcli.store.lock import locked
from memcli.store.private import STATE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeAlias

    from memcli import sqlite
    from memcli.store.layout import Layout

NOTE_SECONDS = 0.25
"""How long `note` waits for other processes before it drops the note."""
WAIT_SECONDS = 10.0
"""How long other changes wait for other processes before they raise LockedError."""
LOST = "ledger.lost"
"""The name of the value with the day on which a damaged ledger was lost; `UNKNOWN` until the next call is booked."""
UNKNOWN = "?"
_VERSION = 1


class StateTable(Record):
    """A table of the state: its columns, and a condition of SQL for rows that have `expired`.

    `key` are the columns that identify a row. When two copies of the state are merged, the changes of both sides are added up
    in the columns `sums`, and a new row whose `number` (a column of the key) is taken gets the next free one.
    """

    name: str
    columns: str
    key: tuple[str, ...]
    expired: str = ""
    sums: tuple[str, ...] = ()
    number: str = ""


TABLES = (
    StateTable("value", "name TEXT NOT NULL, value TEXT NOT NULL", ("name",)),
    StateTable("tally", "name TEXT NOT NULL, amount INTEGER NOT NULL", ("name",), sums=("amount",)),
    StateTable(
        "counter", "key TEXT NOT NULL, space TEXT NOT NULL, amount INTEGER NOT NULL", ("key",), sums=("amount",)
    ),
    StateTable(
        "gap",
        "space TEXT NOT NULL, key TEXT NOT NULL, topic TEXT NOT NULL, count INTEGER NOT NULL, first_at TEXT NOT NULL, "
        "last_at TEXT NOT NULL",
        ("space", "key"),
        sums=("count",),
    ),
    StateTable("build", "space TEXT NOT NULL, head TEXT NOT NULL", ("space",)),
    StateTable("collection", "space TEXT NOT NULL, at TEXT NOT NULL", ("space",)),
    StateTable(
        "agent_session",
        "name TEXT NOT NULL, number INTEGER NOT NULL, record TEXT NOT NULL",
        ("name",),
        "number <= (SELECT max(number) FROM agent_session) - 100",
    ),
    StateTable("topic", "session TEXT NOT NULL, at TEXT NOT NULL, topic TEXT NOT NULL", ("session",)),
    StateTable(
        "spool",
        "id INTEGER PRIMARY KEY AUTOINCREMENT, entry TEXT NOT NULL",
        ("id",),
        "id <= (SELECT max(id) FROM spool) - 2000",
        number="id",
    ),
    StateTable(
        "usage",
        "id INTEGER PRIMARY KEY AUTOINCREMENT, key TEXT NOT NULL, space TEXT NOT NULL, use TEXT NOT NULL",
        ("id",),
        number="id",
    ),
    StateTable(
        "access",
        "space TEXT NOT NULL, id TEXT NOT NULL, count INTEGER NOT NULL, last_at TEXT NOT NULL",
        ("space", "id"),
        sums=("count",),
    ),
    StateTable(
        "bundle",
        "session TEXT NOT NULL, number INTEGER NOT NULL, uses TEXT NOT NULL",
        ("session",),
        "number <= (SELECT max(number) FROM bundle) - 50",
    ),
    StateTable(
        "charge",
        "day TEXT NOT NULL, number INTEGER NOT NULL, at TEXT NOT NULL, space TEXT NOT NULL, provider TEXT NOT NULL, "
        "model TEXT NOT NULL, task TEXT NOT NULL, tokens_in INTEGER NOT NULL, tokens_out INTEGER NOT NULL, "
        "nano_usd INTEGER, is_settled INTEGER NOT NULL",
        ("day", "number"),
        number="number",
    ),
    StateTable(
        "spent",
        "provider TEXT NOT NULL, tokens_in INTEGER NOT NULL, tokens_out INTEGER NOT NULL, nano_usd INTEGER NOT NULL",
        ("provider",),
        sums=("tokens_in", "tokens_out", "nano_usd"),
    ),
    StateTable(
        "answer",
        "key TEXT NOT NULL, kind TEXT NOT NULL, number INTEGER NOT NULL, answer TEXT NOT NULL",
        ("key",),
        "number <= (SELECT max(number) FROM answer) - 8192",
    ),
)


class _LostError(StoreError):
    """The file was damaged, and has been moved to the quarantine."""


class State:
    """The state of the store at `layout`. `warn` is called about a damaged file; `note` waits for other processes for at most
    `note_seconds`. If it `is_empty`, as for the store as of a commit, nothing is read or noted."""

    def __init__(
        self,
        layout: Layout,
        warn: Callable[[str], None] = lambda _: None,
        note_seconds: float = NOTE_SECONDS,
        *,
        is_empty: bool = False,
    ) -> None:
        self.layout, self.warn, self._note_seconds, self._is_empty = layout, warn, note_seconds, is_empty
        self._joined: dict[int, sqlite.Connection] = {}
        self._held: list[Callable[[sqlite.Connection], object]] | None = None

    @contextmanager
    def change(self, wait: float = WAIT_SECONDS, *, sync: bool = True) -> Iterator[sqlite.Connection]:
        """A transaction that writes; one within it, in the same thread, joins it. With `sync` it is on disk when the block ends.

        Raises LockedError if another process writes for longer than `wait` seconds, StoreError.
        """
        joined = self._joined.get(get_ident())
        if joined is not None:
            yield joined
            return
        path = self._path
        try:
            connection = self._begun(path, wait, sync=sync)
        except _LostError:
            connection = self._begun(path, wait, sync=sync)
        with self._guarded(path), closing(connection):
            self._joined[get_ident()] = connection
            try:
                for write in self._held or ():
                    write(connection)
                yield connection
                connection.execute("COMMIT")
                self._held = None if self._held is None else []
            finally:
                del self._joined[get_ident()]

    def note(self, write: Callable[[sqlite.Connection], object]) -> None:
        """Makes a change that may be dropped if the state cannot be written or is locked. Never raises."""
        if self._is_empty:
            return
        if self._held is not None and get_ident() not in self._joined:
            self._held.append(write)
            return
        with suppress(MemcliError, OSError), self.change(self._note_seconds, sync=False) as connection:
            write(connection)

    def hold(self) -> None:
        """Delays all notes until the next `change`, in whose transaction they are made, or until `release`."""
        # A recall makes four notes, each of which would be a transaction of its own.
        self._held = self._held or []

    def release(self) -> None:
        """Makes the delayed notes, and ends the delay. Never raises."""
        if self._held:
            with suppress(MemcliError, OSError), self.change(self._note_seconds, sync=False):
                pass  # a change makes them
        self._held = None

    def rows(self, statement: str, *values: object, strict: bool = False) -> list[tuple[Any, ...]]:
        """The rows that a query returns; none if there is no state yet, or it cannot be read. With `strict`, a state that cannot
        be read raises StoreError, LockedError."""
        if self._is_empty:
            return []
        joined = self._joined.get(get_ident())
        if joined is not None:
            return joined.execute(statement, values).fetchall()
        wait = WAIT_SECONDS if strict else self._note_seconds
        try:
            try:
                return self._found(statement, values, wait)
            except _LostError:
                return self._found(statement, values, wait)
        except (MemcliError, OSError) as error:
            if strict:
                raise error if isinstance(error, MemcliError) else _unusable(error) from None
            return []

    def _found(self, statement: str, values: tuple[object, ...], wait: float) -> list[tuple[Any, ...]]:
        path = self._path
        if not os.path.lexists(path):
            return []
        with self._guarded(path), closing(_open(path, wait)) as connection:
            # A process that was killed before its first commit leaves a file without tables.
            has_tables = connection.execute("PRAGMA user_version").fetchone()[0]
            return connection.execute(statement, values).fetchall() if has_tables else []

    def value(self, name: str) -> str:
        """The value of this name; empty if there is none."""
        found = self.rows("SELECT value FROM value WHERE name = ?", name)
        return str(found[0][0]) if found else ""

    def erase(self, write: Callable[[sqlite.Connection], object]) -> None:
        """Changes or deletes rows so that no byte of their old contents is left. Raises StoreError, LockedError."""
        if not os.path.lexists(self._path):
            return
        with self.change() as connection:
            before = connection.total_changes
            write(connection)
            has_changed = connection.total_changes > before
        if has_changed:
            self.compact()

    def compact(self) -> None:
        """Rewrites the file without free space. Raises StoreError, LockedError."""
        # `secure_delete` overwrites deleted rows, but a page that was split keeps copies of the rows that moved.
        with self._guarded(self._path), closing(_open(self._path, WAIT_SECONDS)) as connection:
            _prepare_to_write(connection)
            connection.execute("VACUUM")

    @property
    def _path(self) -> str:
        return self.layout.private(STATE)

    def _begun(self, path: str, wait: float, *, sync: bool) -> sqlite.Connection:
        """A new connection in which a transaction has begun. Raises StoreError, LockedError."""
        make_folder(os.path.dirname(path))
        try:
            with self._guarded(path):
                # A snapshot by hard links shares the file under another name: write to a copy.
                with suppress(FileNotFoundError):
                    if os.lstat(path).st_nlink > 1:
                        copy_state(path, temp := f"{path}.{os.getpid()}")
                        beneath.replace(temp, path)
                beneath.own_file(path)
                connection = _open(path, wait)
                try:
                    _prepare_to_write(connection)
                    # A note may be lost in a power failure, so it waits for the disk once less. With OFF it would not wait at
                    # all, but a power failure could damage the file, and the costs in it would be lost.
                    connection.execute(f"PRAGMA synchronous = {'FULL' if sync else 'NORMAL'}")
                    # A deferred transaction that has read does not wait for the lock when it begins to write.
                    connection.execute("BEGIN IMMEDIATE")
                    prepare(connection)
                except BaseException:
                    connection.close()
                    raise
                return connection
        except OSError as error:
            raise _unusable(error) from None

    @contextmanager
    def _guarded(self, path: str) -> Iterator[None]:
        """Turns errors of SQLite into LockedError and StoreError, and moves a damaged file to the quarantine."""
        from memcli import sqlite

        try:
            yield
        except sqlite.Error as error:
            # Extended codes have the basic one in their lowest byte.
            code = getattr(error, "sqlite_errorcode", sqlite.SQLITE_ERROR) & 0xFF
            if code in (sqlite.SQLITE_BUSY, sqlite.SQLITE_LOCKED):
                raise LockedError("the local state is locked by another process", "try again in a moment") from None
            # Only these two codes mean damage: a busy or unreadable file is healthy and must not be moved away.
            if code in (sqlite.SQLITE_CORRUPT, sqlite.SQLITE_NOTADB):
                self._put_aside(path)
                raise _LostError(f"{path} was damaged", "run the command again") from None
            raise StoreError(f"cannot use {path}: {error}", "run the command again") from None

    def _put_aside(self, path: str) -> None:
        """Moves a damaged file to the quarantine."""
        from memcli import sqlite

        with locked(f"{path}.lock", "the local state"):
            # Another process may have moved the damaged file before this one got the lock: never move its successor.
            try:
                with closing(_open(path, WAIT_SECONDS)) as connection:
                    if connection.execute("PRAGMA quick_check(1)").fetchone()[0] == "ok":
                        return
            except sqlite.DatabaseError as error:
                if getattr(error, "sqlite_errorcode", 0) & 0xFF not in (sqlite.SQLITE_CORRUPT, sqlite.SQLITE_NOTADB):
                    return
            aside = move_file(path, self.layout.private("quarantine"))
            remove_quietly(f"{path}-journal")
        self.note(lambda connection: set_value(connection, LOST, UNKNOWN))
        self.warn(
            f"{path} was damaged and is now {aside}; usage, counters and the costs of today's model calls are lost"
        )


def set_value(connection: sqlite.Connection, name: str, value: str) -> None:
    """Sets the value of this name."""
    connection.execute("INSERT OR REPLACE INTO value VALUES (?, ?)", (name, value))


def count_up(connection: sqlite.Connection, name: str) -> None:
    """Adds one to the tally of this name."""
    connection.execute("INSERT INTO tally VALUES (?, 1) ON CONFLICT DO UPDATE SET amount = amount + 1", (name,))


def trim(connection: sqlite.Connection, table: str) -> None:
    """Deletes the expired rows of a table."""
    expired = next(one.expired for one in TABLES if one.name == table)
    connection.execute(f"DELETE FROM {table} WHERE {expired}")


def prepare(connection: sqlite.Connection) -> None:
    """Creates the tables of a new file. Raises StoreError for a file of a newer version."""
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    if version > _VERSION:
        raise StoreError("the local state was written by a newer memcli", "upgrade memcli")
    if not version:
        for table in TABLES:
            is_numbered = table.number == "id"  # whose columns name the primary key
            primary = "" if is_numbered else f", PRIMARY KEY ({', '.join(table.key)})"
            end = "" if is_numbered else " WITHOUT ROWID"
            connection.execute(f"CREATE TABLE {table.name} ({table.columns}{primary}){end}")
        connection.execute(f"PRAGMA user_version = {_VERSION}")


def copy_state(source: str, target: str) -> None:
    """Copies the state at `source` to the file at `target`, between two transactions. Raises OSError."""
    from memcli import sqlite

    try:
        # By SQLite's backup: a copy of the file's bytes could contain half of a transaction.
        beneath.own_file(target)
        with closing(_open(source, WAIT_SECONDS)) as old, closing(beneath.open_database(target, 0)) as new:
            old.backup(new)
    except sqlite.Error as error:
        raise OSError(str(error)) from None


def contents(path: str) -> Iterator[str]:
    """The rows of the state at `path` as text. Raises OSError."""
    from memcli import sqlite

    try:
        with closing(_open(path, WAIT_SECONDS)) as connection:
            yield from connection.iterdump()
    except sqlite.Error as error:
        raise OSError(str(error)) from None


def _prepare_to_write(connection: sqlite.Connection) -> None:
    """Sets how a connection writes. Raises sqlite.Error."""
    # Not WAL, which SQLite of current distributions can lose or corrupt when a process is killed. A rollback journal also
    # leaves no second file with rows of the state between two transactions.
    connection.execute("PRAGMA journal_mode = TRUNCATE")
    connection.execute("PRAGMA secure_delete = ON")


def _open(path: str, wait: float) -> sqlite.Connection:
    """A connection to the database at `path`, for one transaction; read-only if the file cannot be written. Raises
    sqlite.Error, OSError."""
    is_writable = os.access(path, os.W_OK) and os.access(os.path.dirname(path), os.W_OK)
    # A file that this process cannot write counts as unchanged while it is read, so that no lock and no journal is needed.
    connection = beneath.open_database(path, wait, "mode=rw" if is_writable else "mode=ro&immutable=1")
    # VACUUM writes all rows to a temporary database, which would be a file outside of the store.
    connection.execute("PRAGMA temp_store = MEMORY")
    return connection


def _unusable(error: OSError) -> StoreError:
    return StoreError(f"cannot use the local state: {error.strerror or error}", "check its permissions")


_Row: TypeAlias = "dict[str, Any]"


def merge_state(path: str, target: str, base: str) -> None:
    """Applies the changes between the state at `base`, which may be missing, and its changed copy at `path` to the state at
    `target`. A damaged copy is ignored. Raises StoreError.
    """
    from memcli import sqlite

    try:
        before, after = _tables(base), _tables(path)
        if not after:
            return
        with closing(beneath.open_database(target, WAIT_SECONDS)) as connection:
            _prepare_to_write(connection)
            connection.execute("BEGIN IMMEDIATE")
            prepare(connection)
            for table in TABLES:
                _merge(connection, table, before.get(table.name, {}), after.get(table.name, {}))
            connection.execute("COMMIT")
    except (sqlite.Error, OSError) as error:
        raise StoreError(f"cannot join {path} with {target}: {error}", "remove the former") from None


def _tables(path: str) -> dict[str, dict[tuple[Any, ...], _Row]]:
    """The rows of each table by their keys; empty for a missing or damaged file."""
    from memcli import sqlite

    found: dict[str, dict[tuple[Any, ...], _Row]] = {}
    try:
        with closing(sqlite.connect(":memory:", isolation_level=None)) as connection:
            connection.executescript("\n".join(contents(path)))
            connection.row_factory = sqlite.Row
            for table in TABLES:
                rows = [dict(row) for row in connection.execute(f"SELECT * FROM {table.name}")]
                found[table.name] = {tuple(row[name] for name in table.key): row for row in rows}
    except (sqlite.DatabaseError, OSError):
        return {}
    return found


def _merge(
    connection: sqlite.Connection,
    table: StateTable,
    before: Mapping[tuple[Any, ...], _Row],
    after: Mapping[tuple[Any, ...], _Row],
) -> None:
    is_key = " AND ".join(f"{name} = ?" for name in table.key)
    for key in before.keys() - after.keys():
        connection.execute(f"DELETE FROM {table.name} WHERE {is_key}", key)
    for key in sorted(key for key in after if after[key] != before.get(key)):
        row, old = dict(after[key]), before.get(key)
        cursor = connection.execute(f"SELECT * FROM {table.name} WHERE {is_key}", key)
        names = [column[0] for column in cursor.description]
        found = cursor.fetchone()
        ours: _Row = dict(zip(names, found, strict=True)) if found else {}
        if ours and old is None and table.number:  # both sides gave the same number to different new rows
            rest = [name for name in table.key if name != table.number]
            is_rest = " AND ".join(f"{name} = ?" for name in rest) or "1"
            query = f"SELECT 1 + max({table.number}) FROM {table.name} WHERE {is_rest}"
            row[table.number] = connection.execute(query, [row[name] for name in rest]).fetchone()[0]
        for name in table.sums:
            row[name] += ours.get(name, 0) - (old[name] if old else 0)
        connection.execute(
            f"INSERT OR REPLACE INTO {table.name} VALUES ({', '.join('?' * len(names))})", [row[n] for n in names]
        )
