"""The memories of a space by id and path."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from memcli.model.catalogue import CatalogueFilter, Counts, tag_counts
from memcli.model.memory import Memory
from memcli.postgres.reading import reader

if TYPE_CHECKING:
    from memcli.postgres.snapshot import ServerSnapshot

_LAST = "\U0010ffff"
_BLOCK = 1000
_BRANCHES = """
WITH RECURSIVE step (path) AS (
    (SELECT path FROM entry {where} ORDER BY path LIMIT 1)
    UNION ALL
    SELECT (SELECT entry.path FROM entry {where} AND entry.path > {behind} ORDER BY path LIMIT 1)
    FROM step WHERE step.path IS NOT NULL
) SELECT path FROM step WHERE path IS NOT NULL
"""
_BEHIND = r"""(CASE WHEN step.path ~ %(deep)s THEN substring(step.path FROM %(deep)s) || %(last)s ELSE step.path END) COLLATE "C" """
"""The end of all that lies below the branch that a path is cut to, or of the path if it is not cut."""


class PostgresCatalogue:
    """A catalogue of one snapshot. See `ports.views.Catalogue` for the promises."""

    def __init__(self, snapshot: ServerSnapshot) -> None:
        self._db = reader(snapshot)
        self._snapshot = snapshot
        self._space = snapshot.space

    def find(self, ref: str) -> Memory | None:
        for column in ("id", "path"):
            select = f"SELECT id FROM entry WHERE space = %s AND {column} = %s ORDER BY updated_at, id LIMIT 1"
            if found := self._db(select, (self._space, ref)):
                return self.read(found[0])[0]
        return None

    def ids_with_prefix(self, text: str) -> list[str]:
        select = "SELECT id FROM entry WHERE space = %s AND id >= %s AND id < %s ORDER BY id"
        return [name for (name,) in self._db(select, (self._space, text, text + _LAST))]

    def count(self, wanted: CatalogueFilter) -> int:
        where, values = self._conditions(wanted)
        ((count,),) = self._db(f"SELECT count(*) FROM entry {where}", values)
        return int(count)

    def places(self, wanted: CatalogueFilter) -> Iterator[tuple[str, str]]:
        if wanted.depth is not None:
            yield from self._branches(wanted, wanted.depth)
            return
        where, values = self._conditions(wanted)
        after = ("", "")
        select = (
            f"SELECT path, id FROM entry {where} AND (path, id) > (%(path)s, %(id)s) ORDER BY path, id LIMIT {_BLOCK}"
        )
        while block := self._db(select, {**values, "path": after[0], "id": after[1]}):
            yield from block
            after = block[-1]

    def _branches(self, wanted: CatalogueFilter, depth: int) -> Iterator[tuple[str, str]]:
        """As `places`; what lies below a branch is skipped, not read."""
        where, values = self._conditions(wanted)
        values |= {"deep": f"^((?:[^/]*/){{{depth}}}).*$", "last": _LAST}
        select = _BRANCHES.format(where=where, behind=_BEHIND)
        here = f"SELECT path, id FROM entry {where} AND path = %(here)s ORDER BY id"
        for (path,) in self._db(select, values):
            branch = wanted.branch(path)
            if branch is not None:
                yield branch, ""
            else:
                yield from self._db(here, {**values, "here": path})

    def read(self, ids: Sequence[str]) -> list[Memory]:
        return self._snapshot.fetch([(name, 0, 0) for name in ids])

    def counts(self) -> Counts:
        ((*numbers, oldest, newest),) = self._db(
            "SELECT count(*), count(*) FILTER (WHERE active), count(*) FILTER (WHERE superseded_by <> ''),"
            " count(*) FILTER (WHERE pinned), coalesce(sum(characters), 0),"
            " coalesce(min(created_at), ''), coalesce(max(updated_at), '') FROM entry WHERE space = %s",
            (self._space,),
        )
        objects, active, superseded, pinned, characters = map(int, numbers)
        return Counts(
            objects, active, superseded, pinned, characters, oldest, newest,
            self._by("kind"), self._by("relevance"), tag_counts(self._by("tags").items()),
        )  # fmt: skip

    def _by(self, column: str) -> Counter[str]:
        select = f"SELECT {column}, count(*) FROM entry WHERE space = %s GROUP BY {column}"
        return Counter(dict(self._db(select, (self._space,))))

    def close(self) -> None:
        """Does nothing: the snapshot has what there is to close."""

    def _conditions(self, wanted: CatalogueFilter) -> tuple[str, dict[str, Any]]:
        where = ["space = %(space)s"]
        values: dict[str, Any] = {"space": self._space}
        if prefix := wanted.under.strip("/"):
            # The character after the slash ends all that lies below the prefix.
            where.append("path >= %(prefix)s AND path < %(end)s AND (path = %(prefix)s OR path >= %(below)s)")
            values |= {"prefix": prefix, "end": f"{prefix}0", "below": f"{prefix}/"}
        if wanted.kinds:
            where.append("kind = ANY(%(kinds)s)")
            values["kinds"] = list(wanted.kinds)
        for n, tag in enumerate(wanted.tags):
            where.append(f"strpos(tags, %(tag{n})s) > 0")
            values[f"tag{n}"] = f" {tag} "
        if not wanted.inactive:
            where.append("NOT hidden")
        return f"WHERE {' AND '.join(where)}", values
