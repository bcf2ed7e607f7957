"""One version of a space on a server: a read-only transaction that does not see later writes.

The body of a row is a memory in full form (see `codec/memory.py`), byte for byte.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, TypeAlias, TypeVar

import psycopg
from psycopg import Connection

from memcli.codec.canonical import decode
from memcli.codec.memory import memory_from_json
from memcli.codec.space import END, INDENT, OBJECTS, decode_space, may_have, new_space
from memcli.errors import CorruptError, LockedError, RefusedError
from memcli.extras.postgres.connection import SilentError, failure, is_lost
from memcli.extras.postgres.server import Server
from memcli.model.memory import Memory
from memcli.model.space import Space
from memcli.record import replace

ORDER = "ORDER BY updated_at, id"
_MEND = "restore the server from a backup, or delete the row"


def memory_of(body: bytes, where: str) -> Memory:
    """Decodes the memory in a body. Raises CorruptError."""
    tree = decode(body, where, _MEND)
    if not isinstance(tree, dict):
        raise CorruptError(f"{where}: a memory is not a JSON object", _MEND)
    return memory_from_json(tree, where)


def space_of(header: bytes, bodies: Iterable[bytes], name: str) -> Space:
    """Decodes a space from its header and the bodies of its memories. Raises CorruptError."""
    where, rows = where_of(name), list(bodies)
    space = decode_space(file_of(header, rows, where), where)
    if len(space.objects) != len(rows):
        raise CorruptError(f"{where}: a row does not hold one memory", _MEND)
    if space.name != name:
        raise CorruptError(f"{where} has the header of space {space.name!r}", _MEND)
    return space


def file_of(header: bytes, bodies: Iterable[bytes], where: str) -> bytes:
    """The canonical file of a space, composed of its header and its bodies in order. Raises CorruptError."""
    items = (b"," + INDENT).join(bodies)
    if items and OBJECTS + b"]" not in header:  # the replacement below would leave all memories out
        raise CorruptError(f"{where} has a header that memcli did not write", _MEND)
    return header.replace(OBJECTS + b"]", OBJECTS + INDENT + items + END, 1) if items else header


def where_of(space: str) -> str:
    """The name of a space on a server in messages."""
    return f"space {space!r} on the server"


_BATCH = 1000
_BEGIN = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
_STATE = "SELECT header, bytes + octet_length(header), version, epoch FROM space WHERE space = %s"
# From the last row on, not by OFFSET, which would read all rows before it each time.
_NEXT = """SELECT updated_at, id, body, row FROM memory WHERE space = %s AND (updated_at, id) > (%s, %s)
    ORDER BY updated_at, id LIMIT %s"""
_BY_ROW = "SELECT row, body FROM memory WHERE space = %s AND row = ANY(%s)"
_BY_ID = "SELECT id, body FROM memory WHERE space = %s AND id = ANY(%s)"
_T = TypeVar("_T")


class ServerSnapshot:
    """A space as it was when this was opened. See `ports.Snapshot` for the promises; the place of a memory is its row.

    If the connection is lost, or ended by the server because it was idle, the snapshot goes on with another one, as long as
    the space has not changed.
    """

    def __init__(self, server: Server, space: str) -> None:
        self._server = server
        self.space = space
        self._connection: Connection | None = None
        self._header = b""
        self.fingerprint = ""
        self.fingerprint = self._open()

    def __del__(self) -> None:
        self.close()

    def query(self, work: Callable[[Connection], _T]) -> _T:
        """Runs `work`, which reads in the transaction of this snapshot. Raises StoreError, LockedError, RefusedError."""
        try:
            try:
                return work(self._connected())
            except psycopg.Error as error:
                if not is_lost(error) or isinstance(error, SilentError):
                    raise
            self.close()
            return work(self._connected())
        except psycopg.Error as error:
            raise failure(error, self._server.address, f"read space {self.space!r}") from None

    def load(self) -> Space:
        if not self.fingerprint:
            return new_space(self.space)
        return space_of(self._header, (body for body, _ in self.records()), self.space)

    def header(self) -> Space:
        if not self.fingerprint:
            return new_space(self.space)
        return replace(decode_space(self._header, where_of(self.space)), objects=())

    def records(self, places: Iterable[tuple[int, int]] | None = None) -> Iterator[tuple[bytes, int]]:
        if not self.fingerprint:
            return
        if places is None:
            last, is_whole = ("", ""), False
            while not is_whole:
                batch = reader(self)(_NEXT, [self.space, *last, _BATCH])
                yield from ((body, row) for _, _, body, row in batch)
                is_whole = len(batch) < _BATCH
                last = (batch[-1][0], batch[-1][1]) if batch else last
            return
        for some in _parts([row for row, _ in places]):
            found: dict[int, bytes] = dict(reader(self)(_BY_ROW, [self.space, some]))
            yield from ((found[row], row) for row in some if row in found)

    def memories(self, *keys: str) -> Iterator[Memory]:
        return (self.decode(body) for body, _ in self.records() if may_have(body, keys))

    def decode(self, data: bytes) -> Memory:
        return memory_of(data, where_of(self.space))

    def fetch(
        self,
        places: Sequence[tuple[str, int, int]],
        are_vetted: Callable[[str, bytes], bool] | None = None,  # noqa: ARG002 - the server keeps no seals
    ) -> list[Memory]:
        return memories_of(reader(self), self.space, [name for name, _, _ in places])

    def is_before(self, time: int) -> bool:  # noqa: ARG002 - what a server erases it erases from its index, too
        return False

    def close(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            with suppress(psycopg.Error):
                if not connection.closed:
                    connection.execute("COMMIT")
            self._server.give_back(connection)

    def _connected(self) -> Connection:
        if self._connection is None:
            now = self._open()
            if now != self.fingerprint:
                self.close()
                raise LockedError(
                    f"space {self.space!r} was written to while the connection that read it was lost",
                    "run the command again",
                )
        assert self._connection is not None
        return self._connection

    def _open(self) -> str:
        """Begins the transaction, and returns the fingerprint of the space in it, "" if there is none. Raises StoreError,
        LockedError, RefusedError."""

        def attempt() -> tuple[Connection, tuple[bytes, int, int, int] | None]:
            connection = self._server.borrow()
            try:
                with connection.pipeline():
                    connection.execute(_BEGIN)
                    state = connection.execute(_STATE, [self.space])
                row = state.fetchone()
                if row is None:
                    _check_access(connection, self.space)
                return connection, row
            except BaseException:
                self._server.give_back(connection)
                raise

        self._connection, found = self._server.patiently(attempt, f"read space {self.space!r}")
        if found is None:
            return ""
        self._header, size, version, epoch = found
        return f"{size}-{version}-{epoch}"


def header_of(connection: Connection, space: str) -> bytes:
    """The header of a space; empty if there is no such space. Raises RefusedError."""
    row = connection.execute("SELECT header FROM space WHERE space = %s", [space]).fetchone()
    if row is None:
        _check_access(connection, space)
    return row[0] if row else b""


def _check_access(connection: Connection, space: str) -> None:
    """Raises RefusedError for a space that this role may not read."""
    # Row-level security hides its rows, so that the space looks missing.
    if connection.execute("SELECT may('reader', %s)", [space]).fetchone() != (True,):
        raise RefusedError(
            f"cannot read space {space!r}: this role of the server has no access to it",
            "ask the owner of the schema to admit your role",
        )


def _parts(values: list[_T]) -> Iterator[list[_T]]:
    return (values[n : n + _BATCH] for n in range(0, len(values), _BATCH))


Values: TypeAlias = "Sequence[Any] | Mapping[str, Any]"
Read: TypeAlias = "Callable[[str, Values], list[tuple[Any, ...]]]"
"""A function that returns the rows of a query with these values."""


def reader(snapshot: ServerSnapshot) -> Read:
    """A function that queries in the transaction of the snapshot. It raises StoreError, LockedError, RefusedError."""
    return lambda statement, values: snapshot.query(lambda connection: rows(connection, statement, values))


def rows(connection: Connection, statement: str, values: Values) -> list[tuple[Any, ...]]:
    """The rows of a query, fetched in the binary format, which needs no parsing of numbers and bytes."""
    given = {k: _sent(v) for k, v in values.items()} if isinstance(values, Mapping) else [_sent(v) for v in values]
    return connection.execute(statement.encode(), given, binary=True).fetchall()


def clean(text: str) -> str:
    """The text with replacements for characters that a column cannot store: NUL and surrogates."""
    if "\0" in text or not text.isascii():
        return text.replace("\0", "\ufffd").encode("utf-8", "replace").decode()
    return text


def _sent(value: Any) -> Any:
    """A value to compare with columns, whose texts were stored by `clean`."""
    if isinstance(value, str):
        return clean(value)
    return [clean(one) if isinstance(one, str) else one for one in value] if isinstance(value, list) else value


def memories_of(read: Read, space: str, ids: Sequence[str]) -> list[Memory]:
    """The memories of these ids, in the same order. Raises CorruptError, also for a missing id."""
    bodies: dict[str, bytes] = {}
    for some in _parts(list(ids)):
        bodies.update(read(_BY_ID, (space, some)))
    for name in ids:
        if name not in bodies:
            raise CorruptError(f"{where_of(space)}: memory {name} is missing", "run `memcli store index rebuild`")
    return [memory_of(bodies[name], where_of(space)) for name in ids]
