"""Erasing: takes memories that are gone for good out of the cache, so that no byte of their text is left in it."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Collection, Sequence
from contextlib import closing, suppress

from memcli.errors import LockedError, StoreError
from memcli.index.database import remove
from memcli.index.vectors import NOFOLLOW, parts
from memcli.ports import Snapshot

_WAIT_SECONDS = 10.0
_PER_STATEMENT = 500


def erase(folder: str, path: str, ids: Collection[str], written_at: int) -> None:
    """Takes the memories of `ids`, which their space no longer has, out of its index at `path` and the cache in `folder`.

    The index of the space is removed, to be built anew; of the vectors, which cost more, those of the memories are
    overwritten. `written_at` is when the space was written without them, in nanoseconds: an index is no longer built
    of an earlier version. Raises LockedError when a reader holds a file for too long, StoreError.
    """
    import shutil

    if not os.path.isdir(folder):
        return
    try:
        with suppress(FileExistsError):  # the index of a private space lies elsewhere, and may be the first there
            os.mkdir(os.path.dirname(path), 0o700)
        keys = _remove_index(path, ids, written_at)
        shutil.rmtree(os.path.join(folder, "revisions"), ignore_errors=True)
        for name in sorted(os.listdir(folder)):
            if name.endswith(".places"):
                erase_vectors(os.path.join(folder, name), keys, _WAIT_SECONDS)
    except sqlite3.OperationalError as error:
        raise LockedError(
            f"the memories are deleted, but {os.path.basename(path)} in the cache is in use ({error})",
            f"`memcli index rebuild -s {os.path.basename(path).removesuffix('.index')}` removes what it holds of them",
        ) from None
    except OSError as error:
        raise StoreError(
            f"the memories are deleted, but the cache still holds them: {error.strerror}", f"delete {folder}"
        ) from None


def is_outdated(path: str, snapshot: Snapshot) -> bool:
    """Whether the snapshot was taken before something was erased, so that the index at `path` must not be built of it."""
    try:
        with open(_stamp(path), encoding="ascii") as file:
            return snapshot.is_before(int(file.read(32)))
    except (OSError, ValueError):
        return False


def _stamp(path: str) -> str:
    return f"{path.removesuffix('.index')}.erased"


def _remove_index(path: str, ids: Collection[str], written_at: int) -> set[bytes]:
    """Removes the index while nobody else can write it; returns the keys of the vectors of `ids`."""
    keys: set[bytes] = set()
    if not os.path.exists(path):
        _leave_stamp(path, written_at)
        return keys
    with closing(sqlite3.connect(path, timeout=_WAIT_SECONDS, isolation_level=None)) as connection:
        try:
            connection.execute("PRAGMA locking_mode = EXCLUSIVE")
            connection.execute("BEGIN EXCLUSIVE")
            keys = _keys(connection, sorted(ids))
        except sqlite3.OperationalError as error:
            if "no such table" not in str(error):
                raise
        except sqlite3.DatabaseError:
            pass  # damaged: it goes all the same
        _leave_stamp(path, written_at)
        remove(path)
    return keys


def _keys(connection: sqlite3.Connection, ids: Sequence[str]) -> set[bytes]:
    keys: set[bytes] = set()
    for start in range(0, len(ids), _PER_STATEMENT):
        part = ids[start : start + _PER_STATEMENT]
        rows = f"SELECT row FROM memory WHERE id IN ({','.join('?' * len(part))})"
        groups = f"SELECT grp FROM memory WHERE grp <> '' AND row IN ({rows})"
        keys.update(key for (key,) in connection.execute(f"SELECT key FROM passage WHERE row IN ({rows})", part))
        keys.update(key for (key,) in connection.execute(f"SELECT key FROM window WHERE grp IN ({groups})", part))
    return keys


def _leave_stamp(path: str, written_at: int) -> None:
    stamp = _stamp(path)
    fd = os.open(stamp, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | getattr(os, "O_NOFOLLOW", 0), 0o600)
    try:
        os.write(fd, str(written_at).encode())
    finally:
        os.close(fd)


def erase_vectors(places: str, keys: Collection[bytes], wait: float) -> None:
    """Overwrites the vectors of these keys in the file that belongs to the table at `places`, and forgets the keys.

    `wait`: seconds to wait for another process. A damaged table is removed, with its file: vectors can be made again.
    Raises sqlite3.OperationalError, OSError.
    """
    try:
        _erase_vectors(places, keys, wait)
    except sqlite3.OperationalError as error:
        if "no such table" not in str(error):
            raise
        _remove_both(places)
    except (sqlite3.DatabaseError, FileNotFoundError):
        _remove_both(places)


def _remove_both(places: str) -> None:
    remove(places)
    with suppress(FileNotFoundError):
        os.unlink(_vectors_of(places))


def _vectors_of(places: str) -> str:
    return f"{places.removesuffix('.places')}.vectors"


def _erase_vectors(places: str, keys: Collection[bytes], wait: float) -> None:
    with closing(sqlite3.connect(places, timeout=wait, isolation_level=None)) as connection:
        connection.execute("PRAGMA secure_delete = ON")
        connection.execute("BEGIN EXCLUSIVE")
        slots: list[int] = []
        for part in parts(sorted(keys)):
            marks = ",".join("?" * len(part))
            slots += [n for (n,) in connection.execute(f"SELECT slot FROM vector WHERE key IN ({marks})", part)]
            connection.execute(f"DELETE FROM vector WHERE key IN ({marks})", part)
        if slots:
            record = connection.execute("PRAGMA user_version").fetchone()[0]
            _overwrite(_vectors_of(places), slots, record)
            connection.execute("DELETE FROM birth")  # whoever knows their slots asks for them anew
        connection.execute("COMMIT")


def _overwrite(path: str, slots: Sequence[int], record: int) -> None:
    fd = os.open(path, os.O_WRONLY | os.O_CLOEXEC | NOFOLLOW)
    try:
        for slot in slots:
            os.lseek(fd, slot * record, os.SEEK_SET)
            os.write(fd, bytes(record))
        os.fsync(fd)
    finally:
        os.close(fd)
