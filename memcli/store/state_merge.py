"""Joining two copies of the local state that both changed: what one of them added, changed or deleted holds."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from contextlib import closing
from typing import Any

from memcli import beneath
from memcli.errors import StoreError
from memcli.store.state import TABLES, WAIT_SECONDS, StateTable, contents, prepare

_Row = dict[str, Any]


def merge_state(path: str, target: str, base: str) -> None:
    """Makes the changes between the copy `base`, which may be missing, and that at `path` in the state at `target`.

    Raises StoreError. What is damaged of the copies is not taken.
    """
    try:
        before, after = _tables(base), _tables(path)
        if not after:
            return
        with closing(beneath.open_database(target, WAIT_SECONDS)) as connection:
            connection.execute("PRAGMA journal_mode = TRUNCATE")
            connection.execute("PRAGMA secure_delete = ON")
            connection.execute("BEGIN IMMEDIATE")
            prepare(connection)
            for table in TABLES:
                _merge(connection, table, before.get(table.name, {}), after.get(table.name, {}))
            connection.execute("COMMIT")
    except (sqlite3.Error, OSError) as error:
        raise StoreError(f"cannot join {path} with {target}: {error}", "remove the former") from None


def _tables(path: str) -> dict[str, dict[tuple[Any, ...], _Row]]:
    """The rows of each table by their keys."""
    found: dict[str, dict[tuple[Any, ...], _Row]] = {}
    try:
        with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
            connection.executescript("\n".join(contents(path)))
            connection.row_factory = sqlite3.Row
            for table in TABLES:
                rows = [dict(row) for row in connection.execute(f"SELECT * FROM {table.name}")]
                found[table.name] = {tuple(row[name] for name in table.key): row for row in rows}
    except (sqlite3.DatabaseError, OSError):
        return {}
    return found


def _merge(
    connection: sqlite3.Connection,
    table: StateTable,
    before: Mapping[tuple[Any, ...], _Row],
    after: Mapping[tuple[Any, ...], _Row],
) -> None:
    is_key = " AND ".join(f"{name} = ?" for name in table.key)
    for key in before.keys() - after.keys():
        connection.execute(f"DELETE FROM {table.name} WHERE {is_key}", key)
    for key in sorted(key for key in after if after[key] != before.get(key)):
        row, old = dict(after[key]), before.get(key)
        cursor = connection.execute(f"SELECT * FROM {table.name} WHERE {is_key}", key)
        names = [column[0] for column in cursor.description]
        found = cursor.fetchone()
        ours: _Row = dict(zip(names, found, strict=True)) if found else {}
        if ours and old is None and table.number:  # the same number for another row
            rest = [name for name in table.key if name != table.number]
            is_rest = " AND ".join(f"{name} = ?" for name in rest) or "1"
            query = f"SELECT 1 + max({table.number}) FROM {table.name} WHERE {is_rest}"
            row[table.number] = connection.execute(query, [row[name] for name in rest]).fetchone()[0]
        for name in table.sums:
            row[name] += ours.get(name, 0) - (old[name] if old else 0)
        connection.execute(
            f"INSERT OR REPLACE INTO {table.name} VALUES ({', '.join('?' * len(names))})", [row[n] for n in names]
        )
