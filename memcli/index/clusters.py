"""Clusters of the memories of a space by their vectors, kept in its index until the space changes."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from memcli.model.clusters import Clusters
from memcli.model.memory import Memory
from memcli.retrieval.clusters import MOST, find, from_json, to_json

if TYPE_CHECKING:
    from memcli.index.meaning import Meaning

_FINGERPRINT = "SELECT value FROM meta WHERE key = 'fingerprint'"


def kept_clusters(db: sqlite3.Connection, model: str) -> Clusters | None:
    """The clusters that were found in this state of the space with this model; None when none were looked for."""
    stored = db.execute(f"SELECT data FROM clusters WHERE model = ? AND fingerprint = ({_FINGERPRINT})", (model,))
    row = stored.fetchone()
    return None if row is None else from_json(row[0])


def find_clusters(
    db: sqlite3.Connection, meaning: Meaning, model: str, fetch: Callable[[Sequence[int]], list[Memory]]
) -> Clusters:
    """The clusters of the memories that are neither forgotten nor superseded. Raises ProviderError, CorruptError."""
    before = db.execute(_FINGERPRINT).fetchone()
    rows = dict(db.execute("SELECT row, id FROM memory WHERE NOT hidden"))
    if len(rows) > MOST:
        return Clusters(reason=f"clusters are found among at most {MOST} memories, not {len(rows)}")
    means = meaning.means(rows)
    if means is None:
        return Clusters(reason="vectors are missing; `memcli store index embed` computes them")
    found = find(*means, rows, fetch)
    with suppress(sqlite3.Error):  # a cache that cannot be written is done without
        db.execute(
            f"INSERT OR REPLACE INTO clusters SELECT ?, ?, ? WHERE ? = ({_FINGERPRINT})",
            (model, *before, to_json(found), *before),
        )
    return found
