"""What `doctor` says of a server: its version, schema and extension, what this role may do, and how far away it is.

What is wrong with the spaces on a server: nothing is changed, since its backups are what mends it.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from statistics import median
from typing import TypeAlias

from psycopg import Connection

from memcli.codec.run import decode_run
from memcli.errors import MemcliError
from memcli.extras.postgres.connection import applied
from memcli.extras.postgres.server import Server
from memcli.extras.postgres.snapshot import ORDER, file_of, memory_of, where_of
from memcli.model.findings import OUTDATED, Damage
from memcli.record import replace
from memcli.safety.injection import quotable
from memcli.wiring import extra

_OLDEST = 140000
_EXTENSION = """SELECT installed_version, default_version FROM pg_available_extensions WHERE name = 'vector'"""
_LEVELS = """SELECT pg_has_role(session_user, relowner, 'member'), spaces_of('admin'), spaces_of('writer'), spaces_of('reader')
    FROM pg_class WHERE oid = 'space'::regclass"""
_ROUNDS = 5
_LONGEST = 400


HealthRow: TypeAlias = "tuple[str, bool, str, str]"
"""A name, whether it is as it must be, what was found, and what to do otherwise."""


def examine(server: Server) -> list[HealthRow]:
    """What there is to say of the server. Raises StoreError, RefusedError."""
    with server.connected("examine the server") as connection:
        number, schema = connection.info.server_version, server.address.schema
        version = f"PostgreSQL {number // 10000}.{number % 10000} at {server.address.shown}"
        encrypted = "with TLS" if connection.pgconn.ssl_in_use else "without TLS"
        times = []
        for _ in range(_ROUNDS):
            begun = time.perf_counter()
            connection.execute("SELECT 1")
            times.append(time.perf_counter() - begun)
        found = [
            ("server", number >= _OLDEST, f"{version}, {encrypted}", "memcli needs PostgreSQL 14"),
            ("schema", True, f"{schema}, version {max(applied(connection, schema))}", ""),
            _extension(connection),
            _rights(connection),
            ("latency", True, f"{median(times) * 1000:.1f} ms a round trip", ""),
        ]
    return [(name, ok, quotable(told, _LONGEST), fix) for name, ok, told, fix in found]


def _extension(connection: Connection) -> HealthRow:
    installed, offered = connection.execute(_EXTENSION).fetchone() or (None, None)
    if installed:
        return "pgvector", True, f"version {installed}", ""
    if offered:
        return "pgvector", True, f"version {offered} is available", ""
    return "pgvector", False, "not installed on the server", "install pgvector there"


def _rights(connection: Connection) -> HealthRow:
    owns, *levels = connection.execute(_LEVELS).fetchone() or (False, [], [], [])
    if owns:
        return "role", True, f"{connection.info.user}: owner of the schema", ""
    said, known = [], set[str]()
    for name, spaces in zip(("admin", "writer", "reader"), levels, strict=True):
        if spaces is None:
            said.append(f"{name} of all spaces")
            break
        if new := sorted(set(spaces) - known):  # a writer is a reader, too
            said.append(f"{name} of {', '.join(new)}")
            known.update(new)
    found = f"{connection.info.user}: {'; '.join(said) or 'no access'}"
    return "role", bool(said), found, "ask the owner of the schema to admit your role"


_ROWS = f"SELECT id, path, hash, updated_at, body FROM memory WHERE space = %s {ORDER}"
_UNINDEXED = """SELECT count(*) FROM (SELECT id FROM memory WHERE space = %(space)s) AS kept
    FULL JOIN (SELECT id FROM entry WHERE space = %(space)s) AS known USING (id) WHERE kept.id IS NULL OR known.id IS NULL"""


def check_spaces(server: Server) -> Iterator[Damage]:
    """Every finding, space by space. Raises StoreError, RefusedError."""
    with server.connected("check the spaces") as connection:
        connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
        headers = connection.execute("SELECT space, header FROM space ORDER BY space").fetchall()
        ids = "SELECT id FROM memory WHERE space = %s"
        known = {
            space: frozenset(name for (name,) in connection.execute(ids, [space]).fetchall()) for space, _ in headers
        }
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
        examined = extra("check.soundness").examine(file, space, where, known, mend=False)
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
    if found := extra("check.soundness").check_chain(b"".join(line + b"\n" for (line,) in lines), where_of(space)):
        yield found
    for name, body in connection.execute("SELECT name, body FROM trash WHERE space = %s ORDER BY name", [space]):
        try:
            decode_run(name, body, f"run {name}")
        except MemcliError as error:
            yield Damage(where_of(space), "trash", error.message)
