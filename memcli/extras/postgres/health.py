"""The state of a server for `doctor` (version, schema, extension, rights of the role, latency), and damage of the spaces on it
for `check store`, which repairs nothing there: a damaged server is restored from a backup.
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
"""The name of a check, whether it passed, what was found, and what to do if it failed."""


def examine(server: Server) -> list[HealthRow]:
    """The checks of `doctor` for the server. Raises StoreError, RefusedError."""
    with server.connected("examine the server") as connection:
        number, schema = connection.info.server_version, server.address.schema
        version = f"PostgreSQL {number // 10000}.{number % 10000} at {server.address.shown}"
        encrypted = "with TLS" if connection.pgconn.ssl_in_use else "without TLS"
        times = []
        for _ in range(_ROUNDS):
            begun = time.perf_counter()
            connection.execute("SELECT 1")
            times.append(time.perf_counter() - begun)
        installed, offered = connection.execute(_EXTENSION).fetchone() or (None, None)
        extension = f"version {offered} is available" if offered else "not installed on the server"
        if installed:
            extension = f"version {installed}"
        found = [
            ("server", number >= _OLDEST, f"{version}, {encrypted}", "memcli needs PostgreSQL 14"),
            ("schema", True, f"{schema}, version {max(applied(connection, schema))}", ""),
            ("pgvector", bool(installed or offered), extension, "install pgvector there"),
            _rights(connection),
            ("latency", True, f"{median(times) * 1000:.1f} ms a round trip", ""),
        ]
    # The texts contain names that the server decides, which a model must not take for instructions.
    return [(name, ok, quotable(text, _LONGEST), fix) for name, ok, text, fix in found]


def _rights(connection: Connection) -> HealthRow:
    """The level of this role in each space; NULL for the list of a level means all spaces."""
    owns, *levels = connection.execute(_LEVELS).fetchone() or (False, [], [], [])
    if owns:
        return "role", True, f"{connection.info.user}: owner of the schema", ""
    rights, known = [], set[str]()
    for name, spaces in zip(("admin", "writer", "reader"), levels, strict=True):
        if spaces is None:
            rights.append(f"{name} of all spaces")
            break
        if new := sorted(set(spaces) - known):  # each level includes the lower ones
            rights.append(f"{name} of {', '.join(new)}")
            known.update(new)
    found = f"{connection.info.user}: {'; '.join(rights) or 'no access'}"
    return "role", bool(rights), found, "ask the owner of the schema to admit your role"


_ROWS = f"SELECT id, path, hash, updated_at, body FROM memory WHERE space = %s {ORDER}"
_UNINDEXED = """SELECT count(*) FROM (SELECT id FROM memory WHERE space = %(space)s) AS stored
    FULL JOIN (SELECT id FROM entry WHERE space = %(space)s) AS known USING (id)
    WHERE stored.id IS NULL OR known.id IS NULL"""


def check_spaces(server: Server) -> Iterator[Damage]:
    """The damage of all spaces on the server, space by space. Raises StoreError, RefusedError."""
    with server.connected("check the spaces") as connection:
        # In one state of all spaces: what is written between two queries would look like damage.
        connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
        headers = connection.execute("SELECT space, header FROM space ORDER BY space").fetchall()
        ids = "SELECT id FROM memory WHERE space = %s"
        known = {
            space: frozenset(name for (name,) in connection.execute(ids, [space]).fetchall()) for space, _ in headers
        }
        for space, header in headers:
            yield from _memories(connection, space, header, known)
            lines = connection.execute("SELECT line FROM audit WHERE space = %s ORDER BY n", [space]).fetchall()
            log = b"".join(line + b"\n" for (line,) in lines)
            if found := extra("check.soundness").check_chain(log, where_of(space)):
                yield found
            for name, body in connection.execute(
                "SELECT name, body FROM trash WHERE space = %s ORDER BY name", [space]
            ):
                try:
                    decode_run(name, body, f"run {name}")
                except MemcliError as error:
                    yield Damage(where_of(space), "trash", error.message)


def _memories(
    connection: Connection, space: str, header: bytes, known: Mapping[str, frozenset[str]]
) -> Iterator[Damage]:
    """The damage of the header, the memories and the index of a space; `known` has the ids of all spaces."""
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
    has_damage = any(one.is_damage for one in found)
    for name, path, digest, updated_at, body in rows:
        try:
            memory = memory_of(body, where)
        except MemcliError:
            if not has_damage:  # a row with two memories is sound as part of the file, which has them side by side
                yield Damage(where, "row", "it does not hold one memory", name)
            continue
        if (memory.id, memory.path, memory.hash, memory.updated_at) != (name, path, digest, updated_at):
            yield Damage(where, "row", "its columns are not those of its memory", name)
    ((missing,),) = connection.execute(_UNINDEXED, {"space": space}).fetchall()
    if missing:
        text = f"{missing} memories are not in the index as they are (`memcli store index rebuild -s {space}` makes it anew)"
        yield Damage(where, "index", text)
