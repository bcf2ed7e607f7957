"""The memories of an indexed space by id and path."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from memcli.index.tables import LAST
from memcli.model.catalogue import CatalogueFilter, Counts, tag_counts
from memcli.model.memory import Memory

if TYPE_CHECKING:
    from memcli.index.tables import SpaceTables

_BLOCK = 1000


class IndexedCatalogue:
    """The part of a view that finds memories by id and path. See `ports.views.SpaceView` for the promises."""

    _tables: SpaceTables

    def find(self, ref: str) -> Memory | None:
        for column in ("id", "path"):
            found = f"SELECT id FROM memory WHERE {column} = ? ORDER BY updated_at, id LIMIT 1"
            for (name,) in self._tables.select(found, ref):
                return self.read([name])[0]
        return None

    def ids_with_prefix(self, text: str) -> list[str]:
        found = "SELECT id FROM memory WHERE id >= ? AND id < ? ORDER BY id"
        return [name for (name,) in self._tables.select(found, text, text + LAST)]

    def count(self, wanted: CatalogueFilter) -> int:
        where, values = _conditions(wanted)
        ((count,),) = self._tables.select(f"SELECT count(*) FROM memory WHERE {where}", *values)
        return int(count)

    def places(self, wanted: CatalogueFilter) -> Iterator[tuple[str, str]]:
        if wanted.depth is not None:
            yield from self._branches(wanted, wanted.depth)
            return
        after = (wanted.under.strip("/"), "")
        block = None
        while block is None or len(block) == _BLOCK:
            where, values = _conditions(wanted, after)
            found = f"SELECT path, id FROM memory WHERE {where} ORDER BY path, id LIMIT {_BLOCK}"
            block = [(path, name) for path, name in self._tables.select(found, *values)]
            yield from block
            after = block[-1] if block else after

    def _branches(self, wanted: CatalogueFilter, depth: int) -> Iterator[tuple[str, str]]:
        """As `places`; the memories below a branch are skipped, not read."""
        where, values = _conditions(wanted)
        steps = self._tables.select(
            f"""
            WITH RECURSIVE step (path) AS (
                SELECT (SELECT path FROM memory WHERE {where} ORDER BY path LIMIT 1)
                UNION ALL
                SELECT (
                    SELECT memory.path FROM memory WHERE {where} AND memory.path > {self._tables.end_of_branch(depth)}
                    ORDER BY memory.path LIMIT 1
                ) FROM step WHERE step.path IS NOT NULL
            ) SELECT path FROM step WHERE path IS NOT NULL
            """,
            *values,
            *values,
        )
        here = f"SELECT path, id FROM memory WHERE {where} AND path = ? ORDER BY id"
        for (path,) in list(steps):
            branch = wanted.branch(path)
            if branch is not None:
                yield branch, ""
            else:
                yield from [(own, name) for own, name in self._tables.select(here, *values, path)]

    def read(self, ids: Sequence[str]) -> list[Memory]:
        return self._tables.read(ids)

    def counts(self) -> Counts:
        ((*sums, oldest, newest),) = self._tables.select(
            "SELECT count(*), count(*) FILTER (WHERE active), count(*) FILTER (WHERE superseded_by <> ''),"
            " count(*) FILTER (WHERE pinned), coalesce(sum(characters), 0),"
            " coalesce(min(created_at), ''), coalesce(max(updated_at), '') FROM memory"
        )
        objects, active, superseded, pinned, characters = map(int, sums)
        return Counts(
            objects, active, superseded, pinned, characters, oldest, newest,
            self._by("kind"), self._by("relevance"), tag_counts(self._by("tags").items()),
        )  # fmt: skip

    def _by(self, column: str) -> Counter[str]:
        found = self._tables.select(f"SELECT {column}, count(*) FROM memory GROUP BY {column}")
        return Counter(dict(found))


def _conditions(wanted: CatalogueFilter, after: tuple[str, str] | None = None) -> tuple[str, list[Any]]:
    """SQL for the memories that pass the filter, or for those of them that come after a path and an id; with its values."""
    prefix = wanted.under.strip("/")
    where: list[str] = []
    values: list[Any] = []
    if after is not None:  # instead of the lower bound of the prefix, else a database may begin there for every block
        where.append("(path, id) > (?, ?)")
        values += after
    elif prefix:
        where.append("path >= ?")
        values.append(prefix)
    if prefix:
        # The character after the slash ends all that lies below the prefix.
        where.append("path < ? AND (path = ? OR path >= ?)")
        values += [f"{prefix}0", prefix, f"{prefix}/"]
    if wanted.kinds:
        where.append("kind IN ?")
        values.append(list(wanted.kinds))
    for tag in wanted.tags:
        where.append("instr(tags, ?) > 0")
        values.append(f" {tag} ")
    if not wanted.inactive:
        where.append("NOT hidden")
    return " AND ".join(where) or "true", values
