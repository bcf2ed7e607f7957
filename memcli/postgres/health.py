"""What `doctor` says of a server: its version, schema and extension, what this role may do, and how far away it is."""

from __future__ import annotations

import time
from statistics import median
from typing import NamedTuple

from psycopg import Connection

from memcli.postgres.migrating import applied
from memcli.postgres.server import Server
from memcli.safety.injection.reasons import quotable

_OLDEST = 140000
_EXTENSION = """SELECT installed_version, default_version FROM pg_available_extensions WHERE name = 'vector'"""
_LEVELS = """SELECT pg_has_role(session_user, relowner, 'member'), spaces_of('admin'), spaces_of('writer'), spaces_of('reader')
    FROM pg_class WHERE oid = 'space'::regclass"""
_ROUNDS = 5
_LONGEST = 400


class HealthRow(NamedTuple):
    """One row: whether it is as it must be, what was found, and what to do otherwise."""

    name: str
    ok: bool
    found: str
    fix: str = ""


def examine(server: Server) -> list[HealthRow]:
    """What there is to say of the server. Raises StoreError, RefusedError."""
    with server.connected("examine the server") as connection:
        found = [
            _version(connection, server.address.shown),
            _schema(connection, server.address.schema),
            _extension(connection),
            _rights(connection),
            _latency(connection),
        ]
    return [one._replace(found=quotable(one.found, _LONGEST)) for one in found]


def _version(connection: Connection, shown: str) -> HealthRow:
    number = connection.info.server_version
    said = f"PostgreSQL {number // 10000}.{number % 10000} at {shown}"
    encrypted = "with TLS" if connection.pgconn.ssl_in_use else "without TLS"
    return HealthRow("server", number >= _OLDEST, f"{said}, {encrypted}", "memcli needs PostgreSQL 14")


def _schema(connection: Connection, schema: str) -> HealthRow:
    return HealthRow("schema", True, f"{schema}, version {max(applied(connection, schema))}")


def _extension(connection: Connection) -> HealthRow:
    installed, offered = connection.execute(_EXTENSION).fetchone() or (None, None)
    if installed:
        return HealthRow("pgvector", True, f"version {installed}")
    if offered:
        return HealthRow("pgvector", True, f"version {offered} is available")
    return HealthRow("pgvector", False, "not installed on the server", "install pgvector there")


def _rights(connection: Connection) -> HealthRow:
    owns, *levels = connection.execute(_LEVELS).fetchone() or (False, [], [], [])
    if owns:
        return HealthRow("role", True, f"{connection.info.user}: owner of the schema")
    said, known = [], set[str]()
    for name, spaces in zip(("admin", "writer", "reader"), levels, strict=True):
        if spaces is None:
            said.append(f"{name} of all spaces")
            break
        if new := sorted(set(spaces) - known):  # a writer is a reader, too
            said.append(f"{name} of {', '.join(new)}")
            known.update(new)
    found = f"{connection.info.user}: {'; '.join(said) or 'no access'}"
    return HealthRow("role", bool(said), found, "ask the owner of the schema to admit your role")


def _latency(connection: Connection) -> HealthRow:
    times = []
    for _ in range(_ROUNDS):
        begun = time.perf_counter()
        connection.execute("SELECT 1")
        times.append(time.perf_counter() - begun)
    return HealthRow("latency", True, f"{median(times) * 1000:.1f} ms a round trip")
