"""Windows: which memory of talk comes right after which, so that the two can be embedded together."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping
from itertools import pairwise

from memcli.index.reading import cleaned
from memcli.model.memory import TALK_KINDS
from memcli.ports import Snapshot
from memcli.retrieval.documents import text_key, window_text


def renew_windows(
    connection: sqlite3.Connection, snapshot: Snapshot, groups: Iterable[str], texts: Mapping[int, str]
) -> None:
    """Brings the windows of these groups up to date. `texts` holds the texts of rows that are at hand already.

    A changed memory has a new row, so a pair of rows that is known is known to be unchanged.
    """
    kinds = ",".join("?" * len(TALK_KINDS))
    for group in sorted(set(groups)):
        rows = connection.execute(
            f"SELECT row FROM memory WHERE grp = ? AND kind IN ({kinds}) ORDER BY position", (group, *TALK_KINDS)
        ).fetchall()
        known = set(connection.execute("SELECT row, before FROM window WHERE grp = ?", (group,)))
        pairs = [(row, before) for (before,), (row,) in pairwise(rows)]
        for row, _ in known.difference(pairs):
            connection.execute("DELETE FROM window WHERE row = ?", (row,))
        for row, before in pairs:
            if (row, before) not in known:
                text = window_text(*(texts[r] if r in texts else _read(connection, snapshot, r) for r in (before, row)))
                connection.execute(
                    "INSERT OR REPLACE INTO window VALUES (?, ?, ?, ?)", (row, before, group, text_key(text))
                )


def _read(connection: sqlite3.Connection, snapshot: Snapshot, row: int) -> str:
    place = connection.execute("SELECT id, start, length FROM place WHERE row = ?", (row,)).fetchone()
    return cleaned(snapshot, snapshot.fetch([place]))[0].raw
