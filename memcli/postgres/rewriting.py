"""What an erasure leaves in the pages of a server: rows that no query finds, until their tables are written anew."""

from __future__ import annotations

import re
import time
from collections.abc import Callable

import psycopg
from psycopg import Connection

from memcli.errors import MemcliError, StoreError
from memcli.postgres.connection import unhurried
from memcli.postgres.server import Server

_TABLES = (
    "memory", "trash", "audit", "request", "entry", "field", "term", "frequency", "pending", "passage", "turn", "link",
    "anchor", "embedding", "clustering",
)  # fmt: skip
"""The tables that have texts, or what is made of them."""
_SIZE = "SELECT sum(pg_total_relation_size(to_regclass(one))) FROM unnest(%s::text[]) AS every (one)"
_BYTES_A_SECOND = 10_000_000
_LONG = 5
_PAUSE = 0.2


def check_admin(connection: Connection, space: str) -> None:
    """Raises InsufficientPrivilege for a role that may not erase memories of the space."""
    if connection.execute("SELECT may('admin', %s)", [space]).fetchone() != (True,):
        raise psycopg.errors.InsufficientPrivilege(f"to purge memories of space {space!r} takes an admin")


def _rewrite(connection: Connection, space: str, table: str) -> int:
    """Writes a table anew; of how many removed rows it keeps copies for transactions that still see them."""
    left = 0

    def note(told: psycopg.errors.Diagnostic) -> None:
        nonlocal left
        found = re.search(
            r"\d+", told.message_detail or ""
        )  # "3 dead row versions cannot be removed yet", in any language
        left += int(found[0]) if found else 0

    connection.add_notice_handler(note)
    try:
        connection.execute("SELECT rewrite(%s, %s)", [space, table])
    finally:
        connection.remove_notice_handler(note)
    return left


def rewrite(server: Server, space: str, warn: Callable[[str], None]) -> None:
    """Writes all that has texts anew, one table after the other, each of which nobody else can use meanwhile; so none of what
    was removed is left in tables and indexes. Waits for transactions that still see it. Raises StoreError."""
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
