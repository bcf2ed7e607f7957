"""The memories of an indexed space by id and path."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from memcli.index.database import each
from memcli.model.catalogue import CatalogueFilter, Counts, tag_counts
from memcli.model.memory import Memory
from memcli.ports import Snapshot

_LAST = "\U0010ffff"
_BLOCK = 1000


class IndexedCatalogue:
    """A catalogue of one snapshot, whose ids are unique. See `ports.views.Catalogue` for the promises."""

    def __init__(self, connection: sqlite3.Connection, snapshot: Snapshot) -> None:
        self._db = connection
        self._snapshot = snapshot

    def find(self, ref: str) -> Memory | None:
        for condition in ("id = ?", "path = ?"):
            select = f"SELECT id FROM memory WHERE {condition} ORDER BY updated_at, id LIMIT 1"
            if found := self._db.execute(select, (ref,)).fetchone():
                return self.read(found)[0]
        return None

    def ids_with_prefix(self, text: str) -> list[str]:
        select = "SELECT id FROM memory WHERE id >= ? AND id < ? ORDER BY id"
        return [name for (name,) in self._db.execute(select, (text, text + _LAST))]

    def count(self, wanted: CatalogueFilter) -> int:
        where, values = _conditions(wanted)
        return int(self._db.execute(f"SELECT count(*) FROM memory{where}", values).fetchone()[0])

    def places(self, wanted: CatalogueFilter) -> Iterator[tuple[str, str]]:
        if wanted.depth is not None:
            yield from self._branches(wanted, wanted.depth)
            return
        where, values = _conditions(wanted)
        found = self._db.execute(f"SELECT path, id FROM memory{where} ORDER BY path, id", values)
        while block := found.fetchmany(_BLOCK):
            yield from block

    def _branches(self, wanted: CatalogueFilter, depth: int) -> Iterator[tuple[str, str]]:
        """As `places`; what lies below a branch is skipped, not read."""
        where, values = _conditions(wanted)
        after, _ = _conditions(wanted, "path > behind(step.path)")
        self._db.create_function("behind", 1, partial(_behind, depth), deterministic=True)
        steps = self._db.execute(
            f"""
            WITH RECURSIVE step (path) AS (
                SELECT (SELECT path FROM memory{where} ORDER BY path LIMIT 1)
                UNION ALL
                SELECT (SELECT path FROM memory{after} ORDER BY path LIMIT 1) FROM step WHERE step.path IS NOT NULL
            ) SELECT path FROM step WHERE path IS NOT NULL
            """,
            (*values, *values),
        ).fetchall()
        here = _conditions(wanted, "path = ?")[0]
        for (path,) in steps:
            branch = wanted.branch(path)
            if branch is not None:
                yield branch, ""
            else:
                yield from self._db.execute(
                    f"SELECT path, id FROM memory{here} ORDER BY id", (*values, path)
                ).fetchall()

    def read(self, ids: Sequence[str]) -> list[Memory]:
        select = "SELECT id, start, length FROM place WHERE id"
        places = {place[0]: (place[0], place[1], place[2]) for place in each(self._db, select, ids)}
        return self._snapshot.fetch([places[name] for name in ids])

    def counts(self) -> Counts:
        *sums, oldest, newest = self._db.execute(
            "SELECT count(*), total(active), total(superseded_by <> ''), total(pinned), total(characters),"
            " coalesce(min(created_at), ''), coalesce(max(updated_at), '') FROM memory"
        ).fetchone()
        objects, active, superseded, pinned, characters = map(int, sums)
        return Counts(
            objects, active, superseded, pinned, characters, oldest, newest,
            self._by("kind"), self._by("relevance"), tag_counts(self._by("tags").items()),
        )  # fmt: skip

    def _by(self, column: str) -> Counter[str]:
        return Counter(dict(self._db.execute(f"SELECT {column}, count(*) FROM memory GROUP BY {column}").fetchall()))

    def close(self) -> None:
        self._db.close()


def _behind(depth: int, path: str) -> str:
    """The end of all that lies below the branch that a path is cut to at `depth`, or of the path if it is not cut."""
    parts = path.split("/", depth)
    return path[: len(path) - len(parts[-1])] + _LAST if len(parts) > depth else path


def _conditions(wanted: CatalogueFilter, *more: str) -> tuple[str, list[Any]]:
    where: list[str] = []
    values: list[Any] = []
    if prefix := wanted.under.strip("/"):
        # The character after the slash ends all that lies below the prefix.
        where.append("path >= ? AND path < ? AND (path = ? OR path >= ?)")
        values += [prefix, f"{prefix}0", prefix, f"{prefix}/"]
    if wanted.kinds:
        where.append(f"kind IN ({','.join('?' * len(wanted.kinds))})")
        values += wanted.kinds
    for tag in wanted.tags:
        where.append("instr(tags, ?)")
        values.append(f" {tag} ")
    if not wanted.inactive:
        where.append("NOT hidden")
    where += more
    return f" WHERE {' AND '.join(where)}" if where else "", values
