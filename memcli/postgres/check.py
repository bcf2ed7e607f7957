"""What is wrong with the spaces on a server: nothing is changed, since its backups are what mends it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from psycopg import Connection

from memcli.codec.check import OUTDATED, Damage, check_chain, examine
from memcli.codec.run import decode_run
from memcli.errors import MemcliError
from memcli.postgres.bodies import ORDER, file_of, memory_of, where_of
from memcli.postgres.server import Server
from memcli.record import replace

_ROWS = f"SELECT id, path, hash, updated_at, body FROM memory WHERE space = %s {ORDER}"
_UNINDEXED = """SELECT count(*) FROM (SELECT id FROM memory WHERE space = %(space)s) AS kept
    FULL JOIN (SELECT id FROM entry WHERE space = %(space)s) AS known USING (id) WHERE kept.id IS NULL OR known.id IS NULL"""


def check_spaces(server: Server) -> Iterator[Damage]:
    """Every finding, space by space. Raises StoreError, RefusedError."""
    with server.connected("check the spaces") as connection:
        connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
        headers = connection.execute("SELECT space, header FROM space ORDER BY space").fetchall()
        known = {space: _ids(connection, space) for space, _ in headers}
        for space, header in headers:
            yield from _memories(connection, space, header, known)
            yield from _records(connection, space)


def _memories(
    connection: Connection, space: str, header: bytes, known: Mapping[str, frozenset[str]]
) -> Iterator[Damage]:
    where = where_of(space)
    rows = connection.execute(_ROWS, [space]).fetchall()
    found: list[Damage] = []
    try:
        file = file_of(header, (body for *_, body in rows), where)
    except MemcliError as error:
        found.append(Damage(where, "header", error.message))
    else:
        examined = examine(file, space, where, known, mend=False)
        found += [replace(one, repair="") for one in examined.findings if one.kind != OUTDATED]
    yield from found
    is_told = any(one.is_damage for one in found)
    for name, path, digest, updated_at, body in rows:
        try:
            memory = memory_of(body, where)
        except MemcliError:
            if not is_told:  # side by side in a file, two memories of one row look sound
                yield Damage(where, "row", "it does not hold one memory", name)
            continue
        if (memory.id, memory.path, memory.hash, memory.updated_at) != (name, path, digest, updated_at):
            yield Damage(where, "row", "its columns are not those of its memory", name)
    ((missing,),) = connection.execute(_UNINDEXED, {"space": space}).fetchall()
    if missing:
        told = f"{missing} memories are not in the index as they are (`memcli store index rebuild -s {space}` makes it anew)"
        yield Damage(where, "index", told)


def _records(connection: Connection, space: str) -> Iterator[Damage]:
    """What is wrong with the audit log and the trash of a space."""
    lines = connection.execute("SELECT line FROM audit WHERE space = %s ORDER BY n", [space]).fetchall()
    if found := check_chain(b"".join(line + b"\n" for (line,) in lines), where_of(space)):
        yield found
    for name, body in connection.execute("SELECT name, body FROM trash WHERE space = %s ORDER BY name", [space]):
        try:
            decode_run(name, body, f"run {name}")
        except MemcliError as error:
            yield Damage(where_of(space), "trash", error.message)


def _ids(connection: Connection, space: str) -> frozenset[str]:
    return frozenset(name for (name,) in connection.execute("SELECT id FROM memory WHERE space = %s", [space]))
