"""Filters: which rows of an indexed space a query may see."""

from __future__ import annotations

import sqlite3
from typing import Any

from memcli.model.recall import Query, RowSet

_HELD = """
SELECT memory.row,
    iif(memory.valid_from <> '' OR memory.valid_until <> '' AND memory.superseded_by = '',
        memory.valid_from, memory.created_at),
    iif(memory.valid_until <> '' OR memory.superseded_by = '', memory.valid_until,
        coalesce(nullif(later.valid_from, ''), later.created_at, memory.updated_at)),
    iif(memory.active, '', memory.updated_at)
FROM memory LEFT JOIN memory AS later ON memory.superseded_by <> '' AND later.id = memory.superseded_by
"""
"""From when and until when each memory held, and when it was forgotten. What was not known yet was not valid yet, unless
its own times say so. A memory of the space `repo` that a copy in `main` supersedes does not say until when it held."""


def visible(connection: sqlite3.Connection, size: int, query: Query) -> RowSet:
    """The rows that pass the filters of the query, of the `size` rows that there are."""
    hidden = _out_of_force(connection, query) | _of_other_sessions(connection, query)
    where, values = _conditions(query)
    if not where:
        return RowSet(size - len(hidden), None, hidden)
    found = connection.execute(f"SELECT row FROM memory WHERE {' AND '.join(where)}", values)
    only = frozenset(row for (row,) in found) - hidden
    return RowSet(len(only), only)


def _out_of_force(connection: sqlite3.Connection, query: Query) -> frozenset[int]:
    """The rows that did not hold at the moment of the query, unless it wants them too."""
    if query.at is not None:
        return _not_held(connection, query.at)
    return frozenset() if query.include_inactive else _hidden(connection, query.now)


def _hidden(connection: sqlite3.Connection, now: str) -> frozenset[int]:
    """The rows that are forgotten, superseded or not valid now."""
    limited = connection.execute(
        "SELECT row, hidden, valid_from, valid_until FROM memory WHERE hidden OR valid_from <> '' OR valid_until <> ''"
    )
    return frozenset(row for row, gone, start, end in limited if gone or start > now or (end and end <= now))


def _not_held(connection: sqlite3.Connection, moment: str) -> frozenset[int]:
    """The rows that did not hold at an earlier or later moment, whatever became of them since."""
    return frozenset(
        row
        for row, start, end, since in connection.execute(_HELD)
        if start > moment or any(until and until <= moment for until in (end, since))
    )


def _of_other_sessions(connection: sqlite3.Connection, query: Query) -> frozenset[int]:
    """The rows that live in another session than that of the query."""
    found = connection.execute(
        "SELECT row FROM memory WHERE scope > 'session:' AND scope < 'session;' AND scope <> ?",
        (f"session:{query.session}",),
    )
    return frozenset(row for (row,) in found)


def _conditions(query: Query) -> tuple[list[str], list[Any]]:
    where: list[str] = []
    values: list[Any] = []

    def add(condition: str, *given: Any) -> None:
        where.append(condition)
        values.extend(given)

    if query.kinds:
        add(f"kind IN ({','.join('?' * len(query.kinds))})", *query.kinds)
    if query.without_kinds:
        add(f"kind NOT IN ({','.join('?' * len(query.without_kinds))})", *query.without_kinds)
    if query.ids:
        add(f"id IN ({','.join('?' * len(query.ids))})", *query.ids)
    for tag in query.tags:
        add("instr(tags, ?)", f" {tag} ")
    if query.under:
        prefix = query.under.strip("/")
        # The slash and the character after it bound all that lies below the prefix.
        add("(path = ? OR (path >= ? AND path < ?))", prefix, f"{prefix}/", f"{prefix}0")
    if query.scope:
        add("scope IN (?, ?)", query.scope, f"{query.scope}:{query.session}")
    if query.since:
        add("created_at >= ?", query.since)
    if query.until:
        add("created_at < ?", query.until)
    if query.changed_since:
        add("updated_at >= ?", query.changed_since)
    if query.min_importance is not None:
        add("importance >= ?", query.min_importance)
    if query.require_high_relevance:
        add("relevance = 'high'")
    return where, values
