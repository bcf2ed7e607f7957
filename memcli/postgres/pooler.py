"""A pooler between here and the server: it may lend a connection's session to others, and with it the schema that is set."""

from __future__ import annotations

import psycopg
from psycopg import Connection

from memcli.errors import StoreError
from memcli.postgres.address import Address
from memcli.postgres.connection import BoundedConnection

_TRIES = 4
_PROCESS = "SELECT pg_backend_pid()"


def check_pooler(connection: Connection, address: Address) -> None:
    """Raises StoreError for a pooler that gives the session of an open connection to another: it pools transactions.

    There a statement could meet the schema of another store.
    """
    try:
        other = BoundedConnection.connect(address.conninfo, autocommit=True)
    except psycopg.Error:  # none is left for a second one, so that each has its own
        return
    try:
        is_shared = any(_process(connection) == _process(other) for _ in range(_TRIES))
    finally:
        other.close()
    if is_shared:
        raise StoreError(
            f"the pooler at {address.shown} shares sessions between connections",
            "set its pool_mode to session, or use the address of the server itself",
        )


def _process(connection: Connection) -> int:
    found = connection.execute(_PROCESS).fetchone()
    return int(found[0]) if found else 0
