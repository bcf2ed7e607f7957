"""Migrations: numbered SQL files that make the schema of a store, each once, whoever comes first."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import resources

from psycopg import Connection
from psycopg.sql import SQL, Identifier

from memcli.errors import StoreError
from memcli.postgres.address import Address
from memcli.postgres.connection import unhurried

_LOCK = 0x6D656D63  # 'memc', the first half of the advisory lock under which the table of migrations is made

_TABLE = """SELECT 1 FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
    WHERE nspname = %s AND relname = 'migration'"""  # not to_regclass, which may not see what another client just made


@cache
def migrations() -> Mapping[int, str]:
    """The SQL of each migration by its number, in order."""
    folder = resources.files(__package__) / "migrations"
    found = {int(file.name[:4]): file.read_text() for file in folder.iterdir() if file.name.endswith(".sql")}
    return dict(sorted(found.items()))


def applied(connection: Connection, schema: str) -> set[int]:
    """The migrations that the schema has had; none where there is no such schema."""
    if connection.execute(_TABLE, [schema]).fetchone() is None:
        return set()
    rows = connection.execute(SQL("SELECT number FROM {}.migration").format(Identifier(schema)))
    return {number for (number,) in rows}


def migrate(connection: Connection, address: Address) -> None:
    """Brings the schema up to this version of memcli. Raises StoreError when it is of a newer one."""
    known = migrations()
    found = applied(connection, address.schema)
    _check(found, address)
    if known.keys() <= found:
        return
    with unhurried(connection), connection.transaction():
        connection.execute("SET LOCAL lock_timeout = '60s'")  # another client's migration is worth waiting for
        _lock(connection, address.schema)
        found = applied(connection, address.schema)  # another client may have been at it
        _check(found, address)
        for number in (number for number in known if number not in found):
            connection.execute(known[number].encode())
            connection.execute("INSERT INTO migration (number) VALUES (%s)", [number])


def _check(found: set[int], address: Address) -> None:
    latest = max(migrations())
    if found and max(found) > latest:
        raise StoreError(
            f"the store at {address.shown} has schema version {max(found)}, and this memcli supports {latest}",
            "upgrade memcli; nothing was changed",
        )


def _lock(connection: Connection, schema: str) -> None:
    """Waits for other clients' migrations, with a lock on the table of migrations that its readers cannot take."""
    if connection.execute(_TABLE, [schema]).fetchone() is None:
        connection.execute("SELECT pg_advisory_xact_lock(%s, hashtext(%s))", [_LOCK, schema])
        if connection.execute("SELECT 1 FROM pg_namespace WHERE nspname = %s", [schema]).fetchone() is None:
            connection.execute(SQL("CREATE SCHEMA {}").format(Identifier(schema)))
        connection.execute(
            "CREATE TABLE IF NOT EXISTS migration (number int PRIMARY KEY, at timestamptz NOT NULL DEFAULT now())"
        )
    connection.execute("LOCK TABLE migration IN SHARE ROW EXCLUSIVE MODE")
