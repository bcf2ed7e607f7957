"""A write of a space on a server, in one transaction: its lock, the lookups under the lock, and the changes of its rows; and the
rewriting of tables after an erasure.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from uuid import UUID

import psycopg
from psycopg import Connection

from memcli.codec.audit import Link
from memcli.codec.canonical import decode
from memcli.codec.space import decode_space, encode_full, encode_memory, may_have, new_space
from memcli.errors import MemcliError, RefusedError, StoreError
from memcli.extras.postgres import audit, indexing
from memcli.extras.postgres.connection import unhurried
from memcli.extras.postgres.mail import BARRIER, IF_HELD, new_mark, take
from memcli.extras.postgres.server import Server
from memcli.extras.postgres.snapshot import ORDER, memory_of, space_of, where_of
from memcli.model.links import refers_to
from memcli.model.memory import Json, Memory
from memcli.model.space import Change, Space
from memcli.policy.draft import Draft
from memcli.record import Record, replace

_OF_SPACE = "SELECT id, body FROM memory WHERE space = %(space)s"
# '0' follows '/' in the order of bytes, so that the range has all paths below the prefix and can be read from the index.
_UNDER = """SELECT id, body FROM memory WHERE space = %(space)s AND path = ANY(%(paths)s)
    UNION SELECT id, body FROM unnest(%(paths)s::text[]) prefix
    JOIN memory ON space = %(space)s AND path > prefix || '/' AND path < prefix || '0'"""
_FIND = "SELECT id, updated_at, path, hash, body FROM memory WHERE space = %s AND {} = ANY(%s)"


class ServerShelf:
    """A locked space, looked up by SQL. See `ports.Shelf` for the promises. Rows that were read are cached: under the lock
    no other writer changes them."""

    def __init__(self, connection: Connection, space: str, header: bytes, size: int) -> None:
        self._connection = connection
        self._space = space
        self._frame = header
        self._where = where_of(space)
        self.header = replace(decode_space(header, self._where), objects=())
        self.size = size
        self._known: dict[str, Memory | None] = {}
        self.lengths: dict[str, int] = {}  # of the bodies that were read, in bytes
        self._paths: dict[str, str | None] = {}
        self._hashes: dict[str, list[str]] = {}

    def get(self, name: str) -> Memory | None:
        if name not in self._known:
            self.prefetch([name])
        return self._known[name]

    def prefetch(self, ids: Iterable[str], paths: Iterable[str] = (), hashes: Iterable[str] = ()) -> None:
        """Reads the memories of these ids, paths and text hashes in one round trip, for later lookups."""
        names = [name for name in dict.fromkeys(ids) if name not in self._known]
        places = [path for path in dict.fromkeys(paths) if path not in self._paths]
        texts = [digest for digest in dict.fromkeys(hashes) if digest not in self._hashes]
        found = []
        for column, values in (("id", names), ("path", places), ("hash", texts)):
            if values:
                found.append(self._connection.execute(_FIND.format(column), [self._space, values]))
        self._known.update(dict.fromkeys(names))
        self._paths.update(dict.fromkeys(places))
        self._hashes.update((digest, []) for digest in texts)
        rows = {name: row for cursor in found for name, *row in cursor}
        # In the order of a file: of two memories at one path the first is found.
        for name, (_, path, digest, body) in sorted(rows.items(), key=lambda row: (row[1][0], row[0])):
            self._take(name, body)
            if path in places:
                self._paths[path] = self._paths[path] or name
            if digest in texts:
                self._hashes[digest].append(name)

    def at(self, path: str) -> Memory | None:
        if path not in self._paths:
            self.prefetch((), [path])
        name = self._paths[path]
        return None if name is None else self._known[name]

    def find_by_hash(self, digest: str) -> list[Memory]:
        if digest not in self._hashes:
            self.prefetch((), (), [digest])
        found = (self._known[name] for name in self._hashes[digest])
        return [memory for memory in found if memory is not None]

    def ids_with_prefix(self, text: str) -> list[str]:
        found = self._connection.execute(
            "SELECT id FROM memory WHERE space = %s AND id ^@ %s ORDER BY id", [self._space, text]
        )
        return [name for (name,) in found]

    def under(self, *prefixes: str) -> list[Memory]:
        wanted = sorted({prefix.strip("/") for prefix in prefixes})
        statement = _OF_SPACE if "" in wanted else _UNDER
        found = self._connection.execute(statement, {"space": self._space, "paths": wanted})
        return sorted((self._take(*row) for row in found), key=lambda m: (m.path, m.id))

    def memories(self, *keys: str) -> Iterator[Memory]:
        found = self._connection.execute(f"SELECT body FROM memory WHERE space = %s {ORDER}", [self._space])
        return (memory_of(body, self._where) for (body,) in found if may_have(body, keys))

    def referring(self, ids: Collection[str]) -> list[Memory]:
        found = (memory for memory in self.memories("links", "superseded_by") if refers_to(memory, ids))
        return sorted(found, key=lambda memory: memory.order)

    def load(self) -> Space:
        found = self._connection.execute(f"SELECT body FROM memory WHERE space = %s {ORDER}", [self._space])
        return space_of(self._frame, (body for (body,) in found), self._space)

    def _take(self, name: str, body: bytes) -> Memory:
        known = self._known.get(name)
        if known is None:
            known = self._known[name] = memory_of(body, self._where)
            self.lengths[name] = len(body)
        return known


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
    """A locked space: its shelf, the last link of its audit log, the mark of the write, and the waiting requests by token.

    `is_new`: the space does not exist until this write creates it.
    """

    space: str
    shelf: ServerShelf
    last: Link
    mark: UUID
    waiting: Sequence[tuple[UUID, Json]] = ()
    is_new: bool = False


def hold(connection: Connection, space: str, *, may_wait: bool) -> LockedSpace:
    """Locks a space, whether it exists or not, until the end of the transaction.

    If another writer holds it and this one may not wait, ends the transaction and raises BusyError.
    """
    free = connection.execute(BARRIER if may_wait else _TRY, [space])
    locked = connection.execute(_LOCK, [space]) if may_wait else connection.execute(_LOCK_IF, [space, space])
    last = connection.execute(audit.LAST, [space])  # a statement after the lock, so that it sees the last write
    waiting = take(connection, space)
    row = locked.fetchone()
    if row is None and free.fetchone() == (False,):
        connection.execute("COMMIT")  # a rollback would make psycopg discard its prepared statements
        raise BusyError
    header, objects = row or (encode_full(new_space(space)), 0)
    shelf = ServerShelf(connection, space, header, objects)
    end = Link(*(last.fetchone() or ()))
    requests = [(token, decode(body, "a request")) for token, body in waiting]
    return LockedSpace(space, shelf, end, new_mark(), requests, is_new=row is None)


def put(connection: Connection, held: LockedSpace, change: Change, draft: Draft) -> None:
    """Writes the rows that a change puts and drops, the header of the space and its index."""
    space, shelf = held.space, held.shelf
    bodies = [encode_memory(memory) for memory in change.put]
    dropped = sorted(change.drop)
    header = encode_full(replace(change.header or shelf.header, name=shelf.header.name, objects=()))
    touched = [*dropped, *(memory.id for memory in change.put)]
    grown = sum(map(len, bodies)) - sum(shelf.lengths.get(name, 0) for name in touched)
    if dropped:
        connection.execute(_DROP, [space, dropped])
    if change.put:
        columns = ([getattr(memory, name) for memory in change.put] for name in ("id", "path", "hash", "updated_at"))
        connection.execute(_PUT, [space, *columns, bodies])
    # After the memories: a write that changes nothing leaves no empty space behind.
    if held.is_new:
        connection.execute(_MAKE, [space, header])
    connection.execute(_SET, [header, draft.grown, grown, space])
    indexing.write(connection, space, change.put, dropped)


def remove(connection: Connection, space: str) -> None:
    """Deletes a locked space with its memories and its index. Raises RefusedError."""
    indexing.clear(connection, space)
    for table in ("embedding", "embedded"):
        connection.execute(f"DELETE FROM {table} WHERE space = %s", [space])
    connection.execute("DELETE FROM memory WHERE space = %s", [space])
    # Row-level security does not refuse to delete a row: it hides it from the statement.
    if not connection.execute("DELETE FROM space WHERE space = %s RETURNING 1", [space]).fetchone():
        raise RefusedError(
            f"cannot delete space {space!r}: the server does not allow it", "ask an administrator of the store"
        )


_TABLES = (
    "memory", "trash", "audit", "request", "entry", "field", "term", "frequency", "pending", "passage", "turn", "link",
    "anchor", "embedding", "clustering",
)  # fmt: skip
"""The tables with texts, or with data derived from texts."""
_SIZE = "SELECT sum(pg_total_relation_size(to_regclass(one))) FROM unnest(%s::text[]) AS every (one)"
_BYTES_A_SECOND = 10_000_000
_LONG = 5
_PAUSE = 0.2


def check_admin(connection: Connection, space: str) -> None:
    """Raises psycopg's InsufficientPrivilege for a role that may not erase memories of the space."""
    if connection.execute("SELECT may('admin', %s)", [space]).fetchone() != (True,):
        raise psycopg.errors.InsufficientPrivilege(f"to purge memories of space {space!r} takes an admin")


def _rewrite(connection: Connection, space: str, table: str) -> int:
    """Rewrites a table; returns the number of deleted rows that it still contains, for transactions that see them."""
    left = 0

    def note(notice: psycopg.errors.Diagnostic) -> None:
        nonlocal left
        # The number in "3 dead row versions cannot be removed yet", which the server sends in its language.
        found = re.search(r"\d+", notice.message_detail or "")
        left += int(found[0]) if found else 0

    connection.add_notice_handler(note)
    try:
        connection.execute("SELECT rewrite(%s, %s)", [space, table])
    finally:
        connection.remove_notice_handler(note)
    return left


def rewrite(server: Server, space: str, warn: Callable[[str], None]) -> None:
    """Rewrites all tables with texts, one after the other, and blocks each meanwhile, so that no deleted text is left in tables
    and indexes. Waits for transactions that still see deleted rows. Raises StoreError."""
    try:
        with server.connected("rewrite tables") as connection, unhurried(connection):
            (size,) = connection.execute(_SIZE, [list(_TABLES)]).fetchone() or (0,)
            if (seconds := round(int(size) / _BYTES_A_SECOND)) > _LONG:
                warn(
                    f"rewriting {int(size) >> 20} MB of tables on the server, which others wait for: about {seconds} s"
                )
            deadline = time.monotonic() + server.wait
            for table in _TABLES:
                while _rewrite(connection, space, table):
                    if time.monotonic() > deadline:
                        raise StoreError(f"a transaction that began before still reads table {table}")
                    time.sleep(_PAUSE)
    except MemcliError as error:
        raise StoreError(
            f"it was removed from space {space!r}, but its text is left in pages of the server: {error.message}",
            f"the owner of schema {server.address.schema} removes it with VACUUM FULL",
        ) from None
