"""What the tables hold of spaces, as values: a body is a memory in full form, byte for byte."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from psycopg import Connection

from memcli.codec.canonical import decode
from memcli.codec.frame import END, INDENT, OBJECTS
from memcli.codec.memory import memory_from_json
from memcli.codec.space import decode_space
from memcli.errors import CorruptError
from memcli.model.memory import Memory
from memcli.model.space import Space

ORDER = "ORDER BY updated_at, id"
_MEND = "restore the server from a backup, or delete the row"


def memory_of(body: bytes, where: str) -> Memory:
    """The memory that a body holds. Raises CorruptError."""
    tree = decode(body, where, _MEND)
    if not isinstance(tree, dict):
        raise CorruptError(f"{where}: a memory is not a JSON object", _MEND)
    return memory_from_json(tree, where)


def space_of(header: bytes, bodies: Iterable[bytes], name: str) -> Space:
    """The space of a header and bodies. Raises CorruptError."""
    where, rows = where_of(name), list(bodies)
    space = decode_space(file_of(header, rows, where), where)
    if len(space.objects) != len(rows):
        raise CorruptError(f"{where}: a row does not hold one memory", _MEND)
    if space.name != name:
        raise CorruptError(f"{where} has the header of space {space.name!r}", _MEND)
    return space


def file_of(header: bytes, bodies: Iterable[bytes], where: str) -> bytes:
    """The canonical file of a space, of its header and its bodies in order. Raises CorruptError."""
    items = (b"," + INDENT).join(bodies)
    if items and OBJECTS + b"]" not in header:  # else the space would look as if it had no memories
        raise CorruptError(f"{where} has a header that memcli did not write", _MEND)
    return header.replace(OBJECTS + b"]", OBJECTS + INDENT + items + END, 1) if items else header


def where_of(space: str) -> str:
    """How messages name a space on a server."""
    return f"space {space!r} on the server"


def bodies_under(connection: Connection, space: str, prefixes: Sequence[str]) -> list[tuple[str, bytes]]:
    """The ids and bodies of the memories at these paths and below."""
    wanted = sorted({prefix.strip("/") for prefix in prefixes})
    if "" in wanted:
        return connection.execute("SELECT id, body FROM memory WHERE space = %s", [space]).fetchall()
    return connection.execute(
        """SELECT id, body FROM memory WHERE space = %(space)s AND path = ANY(%(paths)s)
        UNION SELECT id, body FROM unnest(%(paths)s::text[]) prefix
        JOIN memory ON space = %(space)s AND path > prefix || '/' AND path < prefix || '0'""",
        {"space": space, "paths": wanted},
    ).fetchall()
