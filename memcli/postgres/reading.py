"""Reads what a snapshot sees."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeAlias

from psycopg.sql import SQL

from memcli.model.memory import Memory
from memcli.postgres.bodies import memory_of, where_of

if TYPE_CHECKING:
    from psycopg import Connection

    from memcli.postgres.server import Server
    from memcli.postgres.snapshot import ServerSnapshot

Values: TypeAlias = "Sequence[Any] | Mapping[str, Any]"
Read: TypeAlias = "Callable[[str, Values], list[tuple[Any, ...]]]"
"""The rows that a statement with these values finds."""


def reader(snapshot: ServerSnapshot) -> Read:
    """Reads in the transaction of the snapshot. Raises StoreError, LockedError, RefusedError."""
    return lambda statement, values: snapshot.query(lambda connection: rows(connection, statement, values))


def rows(connection: Connection, statement: str, values: Values) -> list[tuple[Any, ...]]:
    """What the statement finds, numbers and bytes as they are on the wire."""
    given = {k: _sent(v) for k, v in values.items()} if isinstance(values, Mapping) else [_sent(v) for v in values]
    return connection.execute(statement.encode(), given, binary=True).fetchall()


def clean(text: str) -> str:
    """The text without what a column cannot hold: NUL, and halves of characters."""
    if "\0" in text or not text.isascii():
        return text.replace("\0", "\ufffd").encode("utf-8", "replace").decode()
    return text


def _sent(value: Any) -> Any:
    """A value as it is compared with columns."""
    if isinstance(value, str):
        return clean(value)
    return [clean(one) if isinstance(one, str) else one for one in value] if isinstance(value, list) else value


def memories(read: Read, space: str, ids: Sequence[str]) -> dict[str, Memory]:
    """The memories of these ids, for those that there are. Raises CorruptError."""
    found = read("SELECT id, body FROM memory WHERE space = %s AND id = ANY(%s)", (space, list(ids)))
    return {name: memory_of(body, where_of(space)) for name, body in found}


@contextmanager
def beside(server: Server, space: str, token: str) -> Iterator[Read]:
    """Reads on a connection of its own what the snapshot sees that was exported as `token`."""
    with server.connected(f"read space {space!r}") as connection:
        connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
        connection.execute(SQL("SET TRANSACTION SNAPSHOT {}").format(token))
        yield lambda statement, values: rows(connection, statement, values)
