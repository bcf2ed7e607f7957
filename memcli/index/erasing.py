"""Erasing: removes purged memories from the cache, so that no byte of their text is left in it."""

from __future__ import annotations

import os
from collections.abc import Collection
from contextlib import closing, suppress

from memcli import beneath, sqlite
from memcli.errors import LockedError, StoreError
from memcli.index.database import VERSION, check_tables, leave_stamp, open_database, remove, select
from memcli.index.update import delete
from memcli.index.vectors import TABLES

_WAIT_SECONDS = 10.0


def erase(folder: str, path: str, ids: Collection[str], written_at: int) -> None:
    """Removes the memories of `ids`, which their space no longer has, from its index at `path` and the cache in `folder`.

    Deleted rows of the index and the vectors of the memories are overwritten; if rows of other memories contain parts of them,
    the index is removed and rebuilt later. `written_at` is the time of the write that removed them, in nanoseconds: from then on
    no index is built from an earlier version. Raises LockedError if a reader holds a file for too long, StoreError.
    """
    if not os.path.isdir(folder):
        return
    try:
        with suppress(FileExistsError):  # the index of a private space is in another folder, which may not exist yet
            beneath.make(os.path.dirname(path), 0o700)
        # Rows are erased in place, as a removed index of 100,000 memories would have to be rebuilt by the next recall.
        keys = _take_out(path, ids, written_at)
        # The indexes of commits may have the memories too; they are rebuilt when they are needed.
        beneath.remove_tree(os.path.join(folder, "revisions"), ignore_errors=True)
        for name in sorted(os.listdir(folder)):
            if name.endswith(".places"):
                erase_vectors(os.path.join(folder, name), keys, _WAIT_SECONDS)
    except sqlite.OperationalError as error:
        raise LockedError(
            f"the memories are deleted, but {os.path.basename(path)} in the cache is in use ({error})",
            f"`memcli store index rebuild -s {os.path.basename(path).removesuffix('.index')}` removes what it holds of them",
        ) from None
    except OSError as error:
        raise StoreError(
            f"the memories are deleted, but the cache still holds them: {error.strerror}", f"delete {folder}"
        ) from None


def _take_out(path: str, ids: Collection[str], written_at: int) -> set[bytes]:
    """Removes the memories from the index under an exclusive lock; returns the keys of their vectors."""
    keys: set[bytes] = set()
    if not os.path.exists(path):
        leave_stamp(path, written_at)
        return keys
    with closing(open_database(path, _WAIT_SECONDS)) as connection:
        is_clean = False
        try:
            connection.execute("PRAGMA secure_delete = ON")
            connection.execute("BEGIN EXCLUSIVE")
            check_tables(connection)
            # A window contains the text of two memories, so its vector must go with either.
            rows = "SELECT row FROM memory WHERE id IN ?"
            groups = f"SELECT grp FROM memory WHERE grp <> '' AND row IN ({rows})"
            found = list(select(connection, f"SELECT key FROM passage WHERE row IN ({rows})", sorted(ids)))
            found += select(connection, f"SELECT key FROM window WHERE grp IN ({groups})", sorted(ids))
            keys = {key for (key,) in found}
            is_clean = _delete(connection, sorted(ids))
        except sqlite.OperationalError as error:
            if "no such table" not in str(error):
                raise
        except sqlite.DatabaseError:
            pass  # a damaged index is removed below
        # Before the lock is released, so that no process builds the index again from an earlier version.
        leave_stamp(path, written_at)
        if is_clean:
            connection.execute("COMMIT")
        else:
            remove(path)
    return keys


def _delete(connection: sqlite.Connection, ids: list[str]) -> bool:
    """Deletes the rows of the memories; returns False if rows of other memories may contain parts of them, or the index is of
    another version, which may have left texts in free pages."""
    if connection.execute("SELECT value FROM meta WHERE key = 'version'").fetchone() != (VERSION,):
        return False
    found = list(select(connection, "SELECT row, grp, commit_hash FROM memory WHERE id IN ?", ids))
    if any(group or commit for _, group, commit in found):
        return False
    if found:
        delete(connection, [row for row, _, _ in found])
        connection.execute(
            "UPDATE OR REPLACE meta SET key = 'erased' WHERE key = 'fingerprint'"
        )  # the index now matches no file
    connection.execute("DELETE FROM clusters")  # their names contain words of members
    # The option `secure-delete` of FTS5 needs SQLite 3.42.
    connection.execute("INSERT INTO term (term) VALUES ('optimize')")  # otherwise FTS5 keeps words until its next merge
    return True


def erase_vectors(places: str, keys: Collection[bytes], wait: float) -> None:
    """Overwrites the vectors of these keys in the file of the table at `places`, and deletes the keys.

    `wait`: seconds to wait for another process. A damaged table is removed with its file, as vectors can be computed again.
    Raises sqlite.OperationalError, OSError.
    """
    vectors = f"{places.removesuffix('.places')}.vectors"
    try:
        with closing(open_database(places, wait)) as connection:
            connection.execute("PRAGMA secure_delete = ON")
            connection.execute("BEGIN EXCLUSIVE")
            check_tables(connection, TABLES)
            slots = [n for (n,) in select(connection, "SELECT slot FROM vector WHERE key IN ?", sorted(keys))]
            select(connection, "DELETE FROM vector WHERE key IN ?", sorted(keys))
            if slots:
                record = connection.execute("PRAGMA user_version").fetchone()[0]
                fd = beneath.open_file(vectors, os.O_WRONLY)
                try:
                    for slot in slots:
                        os.lseek(fd, slot * record, os.SEEK_SET)
                        os.write(fd, bytes(record))
                    # Synced before the keys are deleted: after a crash the next erasure must find the slots again.
                    os.fsync(fd)
                finally:
                    os.close(fd)
                connection.execute("DELETE FROM birth")  # plans with these slots become invalid
            connection.execute("COMMIT")
    except (sqlite.DatabaseError, FileNotFoundError) as error:
        if isinstance(error, sqlite.OperationalError) and "no such table" not in str(error):
            raise
        remove(places)
        with suppress(FileNotFoundError):
            beneath.unlink(vectors)
