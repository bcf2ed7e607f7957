"""Filters: which rows of an indexed space a query may see."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from memcli.model.recall import Query, RowSet

if TYPE_CHECKING:
    from memcli.postgres.reading import Read

_NOT_HELD = """
SELECT row FROM (
    SELECT entry.row,
        CASE WHEN entry.valid_from <> '' OR entry.valid_until <> '' AND entry.superseded_by = ''
            THEN entry.valid_from ELSE entry.created_at END AS start,
        CASE WHEN entry.valid_until <> '' OR entry.superseded_by = '' THEN entry.valid_until
            ELSE coalesce(nullif(later.valid_from, ''), later.created_at, entry.updated_at) END AS until,
        CASE WHEN entry.active THEN '' ELSE entry.updated_at END AS since
    FROM entry LEFT JOIN entry AS later
        ON entry.superseded_by <> '' AND later.space = entry.space AND later.id = entry.superseded_by
    WHERE entry.space = %(space)s
) AS held
WHERE start > %(at)s OR (until <> '' AND until <= %(at)s) OR (since <> '' AND since <= %(at)s)
"""
"""What did not hold at a moment: from when and until when each memory held, and when it was forgotten. What was not known yet
was not valid yet, unless its own times say so. A memory that another space supersedes may not say until when it held."""

_OUT_OF_FORCE = """
SELECT row FROM entry WHERE space = %(space)s AND (hidden OR valid_from <> '' OR valid_until <> '')
AND (hidden OR valid_from > %(now)s OR (valid_until <> '' AND valid_until <= %(now)s))
"""

_OF_OTHER_SESSIONS = (
    "SELECT row FROM entry WHERE space = %s AND scope > 'session:' AND scope < 'session;' AND scope <> %s"
)


def visible(read: Read, space: str, size: int, query: Query) -> RowSet:
    """The rows that pass the filters of the query, of the `size` rows that there are."""
    hidden = _out_of_force(read, space, query) | _rows(read(_OF_OTHER_SESSIONS, (space, f"session:{query.session}")))
    where, values = _conditions(query)
    if not where:
        return RowSet(size - len(hidden), None, hidden)
    select = f"SELECT row FROM entry WHERE space = %s AND {' AND '.join(where)}"
    only = _rows(read(select, (space, *values))) - hidden
    return RowSet(len(only), only)


def _out_of_force(read: Read, space: str, query: Query) -> frozenset[int]:
    """The rows that did not hold at the moment of the query, unless it wants them too."""
    if query.at is not None:
        return _rows(read(_NOT_HELD, {"space": space, "at": query.at}))
    if query.include_inactive:
        return frozenset()
    return _rows(read(_OUT_OF_FORCE, {"space": space, "now": query.now}))


def _rows(found: Sequence[tuple[Any, ...]]) -> frozenset[int]:
    return frozenset(row for (row,) in found)


def _conditions(query: Query) -> tuple[list[str], list[Any]]:
    prefix = query.under.strip("/")
    given: list[tuple[str, tuple[Any, ...], bool]] = [
        ("kind = ANY(%s)", (list(query.kinds),), bool(query.kinds)),
        ("kind <> ALL(%s)", (list(query.without_kinds),), bool(query.without_kinds)),
        ("id = ANY(%s)", (list(query.ids),), bool(query.ids)),
        *(("strpos(tags, %s) > 0", (f" {tag} ",), True) for tag in query.tags),
        # The slash and the character after it bound all that lies below the prefix.
        ("(path = %s OR (path >= %s AND path < %s))", (prefix, f"{prefix}/", f"{prefix}0"), bool(query.under)),
        ("scope IN (%s, %s)", (query.scope, f"{query.scope}:{query.session}"), bool(query.scope)),
        ("created_at >= %s", (query.since,), bool(query.since)),
        ("created_at < %s", (query.until,), bool(query.until)),
        ("updated_at >= %s", (query.changed_since,), bool(query.changed_since)),
        ("importance >= %s::float8", (query.min_importance,), query.min_importance is not None),
        ("relevance = 'high'", (), query.require_high_relevance),
    ]
    where = [condition for condition, _, is_asked in given if is_asked]
    return where, [value for _, values, is_asked in given if is_asked for value in values]
