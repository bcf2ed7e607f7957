"""A write of a space: what holds it, and what is written of it, in one transaction."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from psycopg import Connection

from memcli.codec.audit import Link
from memcli.codec.space import encode_full, encode_memory, new_space
from memcli.errors import RefusedError
from memcli.model.space import Change
from memcli.policy.draft import Draft
from memcli.postgres import audit, indexing
from memcli.postgres.mail import BARRIER, IF_HELD, WaitingRequest, new_mark, take, taken
from memcli.postgres.shelf import ServerShelf
from memcli.record import Record, replace

_TRY = BARRIER.replace("true", "false")
_LOCK = "SELECT header, objects FROM space WHERE space = %s FOR NO KEY UPDATE"
_LOCK_IF = f"{_LOCK.partition(' FOR ')[0]} {IF_HELD} FOR NO KEY UPDATE"
_MAKE = """INSERT INTO space (space, version, header, objects, bytes) VALUES (%s, 0, %s, 0, 0)
    ON CONFLICT (space) DO NOTHING"""
_PUT = """INSERT INTO memory (space, id, path, hash, updated_at, body)
    SELECT %s, * FROM unnest(%s::text[], %s::text[], %s::text[], %s::text[], %s::bytea[])
    ON CONFLICT (space, id) DO UPDATE
    SET path = excluded.path, hash = excluded.hash, updated_at = excluded.updated_at, body = excluded.body"""
_DROP = "DELETE FROM memory WHERE space = %s AND id = ANY(%s)"
_SET = """UPDATE space SET header = %s, objects = objects + %s, bytes = bytes + %s, version = version + 1
    WHERE space = %s"""


class BusyError(Exception):
    """Another writer holds the space."""


class LockedSpace(Record):
    """A space under its lock: its shelf, the end of its log, the mark of the write that holds it, and who waits for it.

    `is_new`: there is no such space until this write makes it.
    """

    space: str
    shelf: ServerShelf
    last: Link
    mark: UUID
    waiting: Sequence[WaitingRequest] = ()
    is_new: bool = False


def hold(connection: Connection, space: str, *, may_wait: bool) -> LockedSpace:
    """The space under its lock, which lasts as long as the transaction, whether it exists or not.

    Raises BusyError where another writer holds it, unless this one `may_wait`; then the transaction is over.
    """
    free = connection.execute(BARRIER if may_wait else _TRY, [space])
    locked = connection.execute(_LOCK, [space]) if may_wait else connection.execute(_LOCK_IF, [space, space])
    last = connection.execute(audit.LAST, [space])  # a statement of its own: it sees what the lock waited for
    waiting = take(connection, space)
    row = locked.fetchone()
    if row is None and free.fetchone() == (False,):
        connection.execute("COMMIT")  # a rollback makes the driver forget the statements that it has prepared
        raise BusyError
    header, objects = row or (encode_full(new_space(space)), 0)
    shelf = ServerShelf(connection, space, header, objects)
    return LockedSpace(space, shelf, audit.link_of(last.fetchone()), new_mark(), taken(waiting), is_new=row is None)


def put(connection: Connection, held: LockedSpace, change: Change, draft: Draft) -> None:
    """Writes what a change puts and drops, the header and the index."""
    space, shelf = held.space, held.shelf
    bodies = [encode_memory(memory) for memory in change.put]
    dropped = sorted(change.drop)
    header = encode_full(replace(change.header or shelf.header, name=shelf.header.name, objects=()))
    touched = [*dropped, *(memory.id for memory in change.put)]
    grown = sum(map(len, bodies)) - sum(shelf.length(name) for name in touched)
    if dropped:
        connection.execute(_DROP, [space, dropped])
    if change.put:
        connection.execute(_PUT, [space, *_columns(change, bodies)])
    if held.is_new:
        connection.execute(_MAKE, [space, header])
    connection.execute(_SET, [header, draft.grown, grown, space])
    indexing.write(connection, space, change.put, dropped)


def remove(connection: Connection, space: str) -> None:
    """Removes a space that is held, with its memories and its index. Raises RefusedError."""
    indexing.remove_space(connection, space)
    connection.execute("DELETE FROM memory WHERE space = %s", [space])
    if not connection.execute(
        "DELETE FROM space WHERE space = %s RETURNING 1", [space]
    ).fetchone():  # it is there, and stays
        raise RefusedError(
            f"cannot delete space {space!r}: the server does not allow it", "ask an administrator of the store"
        )


def _columns(change: Change, bodies: Sequence[bytes]) -> list[list[str] | list[bytes]]:
    kept = change.put
    return [
        [m.id for m in kept], [m.path for m in kept], [m.hash for m in kept], [m.updated_at for m in kept], list(bodies),
    ]  # fmt: skip
