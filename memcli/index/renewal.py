"""Renewal: an index is made that of a snapshot, in one transaction; from what writers noted, where that is known."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from memcli.beneath import open_file
from memcli.codec.canonical import encode_line
from memcli.codec.space import policy_to_json
from memcli.index.database import IN_MEMORY
from memcli.model.memory import Json
from memcli.ports import Snapshot
from memcli.safety.secrets.detector import Detector
from memcli.safety.secrets.redact_memory import find_in_memory

if TYPE_CHECKING:
    from memcli.codec.window import MoveStep


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
