"""The tables of the index of one space on a server, read in the transaction of a snapshot.

PostgreSQL's text search finds the words, and SQL computes the scores of SQLite's FTS5.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from functools import cached_property, lru_cache, partial
from typing import TYPE_CHECKING, Any

from psycopg.sql import SQL

from memcli.errors import MemcliError
from memcli.extras.postgres.snapshot import memories_of, reader, rows
from memcli.extras.postgres.totals import Tally, totals
from memcli.index.tables import LAST
from memcli.model.memory import Memory
from memcli.model.recall import FIELDS
from memcli.model.space import Policy

if TYPE_CHECKING:
    from memcli.extras.postgres.server import Server
    from memcli.extras.postgres.snapshot import Read, ServerSnapshot
    from memcli.extras.postgres.vectors import ServerMeaning
    from memcli.index.vectors import VectorFile
    from memcli.ports import Embedder, Progress


# So a question by words reads no more rows in a space of a million memories.
EXACT = 20_000
"""Up to so many memories with any of the terms, all of them are scored; of more, only those with one of the rarest terms."""

_LEAST_IDF = 1e-6  # of a term in at least half of the memories, as in FTS5
_SCORED = """
SELECT row, -({score}) AS score FROM (
    SELECT row, lexemes, weights, 1.2::float8 * (0.25::float8 + 0.75::float8 * size::float8 / %(average)s::float8) AS norm
    FROM {matching}
) AS found ORDER BY score LIMIT %(most)s
"""
_BY_ID = "SELECT row FROM (SELECT space, row FROM {matching}) AS found JOIN entry USING (space, row) ORDER BY id"
_DIRECT = "term WHERE lexemes_of(space, lexemes) @@ %(query)s::tsquery"
_TRUSTED = "matching(%(space)s, %(query)s)"
"""The memories with any of the terms, for roles under row-level security: a function of the owner, which can use the index."""
_FOUND = "coalesce(weights[array_position(lexemes, %(term{n})s)], 0) / 2.0::float8"
# In the order of operations of FTS5, so that the same scores tie.
_PART = f"%(idf{{n}})s::float8 * (({_FOUND}) * 2.2::float8 / (({_FOUND}) + norm))"
"""BM25 with k1 = 1.2 and b = 0.75, as FTS5 computes it."""

_TABLES: Mapping[str, str] = {
    "memory": "* FROM entry",
    "place": "row, id, 0 AS start, 0 AS length FROM entry",
    "term": f"row AS rowid, {', '.join(FIELDS)} FROM field",
    "passage": "* FROM passage",
    "window": "* FROM turn",
    "link": "* FROM link",
    "anchor": "* FROM anchor",
    "clusters": "* FROM clustering",
}
"""How the tables of `index/database.py` are selected from those of the server."""
_TABLE = re.compile(rf"\b(FROM|JOIN) ({'|'.join(_TABLES)})\b(?: AS (\w+))?")
_OPERATORS = (("NOT IN ?", "<> ALL(?)"), ("IN ?", "= ANY(?)"), ("instr(", "strpos("))


@lru_cache(maxsize=100)
def translated(statement: str) -> str:
    """A statement of `index/` for SQLite, translated for PostgreSQL: the tables are those of the space `%(space)s`, and the
    values are `%(p0)s`, `%(p1)s`, ..."""

    def table(match: re.Match[str]) -> str:
        return f'{match[1]} (SELECT {_TABLES[match[2]]} WHERE space = %(space)s) AS "{match[3] or match[2]}"'

    for other, own in _OPERATORS:
        statement = statement.replace(other, own)
    first, *rest = _TABLE.sub(table, statement).split("?")
    return first + "".join(f"%(p{n})s{part}" for n, part in enumerate(rest))


class ServerTables:
    """The tables of a space as a snapshot sees them, or `read`, which sees the same version. See `index.tables.SpaceTables`."""

    def __init__(self, snapshot: ServerSnapshot, server: Server, read: Read | None = None) -> None:
        self.snapshot = snapshot
        self.server = server
        self.space = snapshot.space
        self.fingerprint = snapshot.fingerprint
        self.read_rows = read or reader(snapshot)

    @cached_property
    def totals(self) -> Tally:
        """The tally of the whole space."""
        return totals(self.read_rows, self.space)

    @property
    def size(self) -> int:
        return self.totals.memories

    @property
    def policy(self) -> Policy:
        return self.snapshot.header().policy

    def select(self, statement: str, *values: Any) -> Sequence[tuple[Any, ...]]:
        if any(isinstance(value, list) and not value for value in values):
            return ()
        given = {"space": self.space, **{f"p{n}": value for n, value in enumerate(values)}}
        return self.read_rows(translated(statement), given)

    def end_of_branch(self, depth: int) -> str:
        deep = f"'^(([^/]*/){{{int(depth)}}}).*$'"
        end = f"substring(step.path FROM {deep}) || '{LAST}'"
        return f'(CASE WHEN step.path ~ {deep} THEN {end} ELSE step.path END) COLLATE "C"'

    def best(self, frequencies: Mapping[str, int], most: int | None) -> Iterator[tuple[int, float]]:
        values: dict[str, Any] = {"average": self.totals.tokens / self.size, "most": most}
        for n, (term, count) in enumerate(frequencies.items()):
            idf = math.log((self.size - count + 0.5) / (count + 0.5))
            values |= {f"idf{n}": idf if idf > 0 else _LEAST_IDF, f"term{n}": term}
        score = " + ".join(_PART.format(n=n) for n in range(len(frequencies)))
        return iter(self._matching(_SCORED.replace("{score}", score), frequencies, values))

    def by_id(self, frequencies: Mapping[str, int]) -> Iterator[int]:
        return (row for (row,) in self._matching(_BY_ID, frequencies, {}))

    def _matching(self, select: str, frequencies: Mapping[str, int], values: Mapping[str, Any]) -> list[Any]:
        """The rows of a query over the memories with any of the terms, or, if there may be more than EXACT, any of the rarest."""
        chosen = list(frequencies)
        if min(self.size, sum(frequencies.values())) > EXACT:
            rarest = sorted(chosen, key=lambda term: (frequencies[term], term))
            chosen = [
                term
                for n, term in enumerate(rarest)
                if not n or sum(frequencies[one] for one in rarest[: n + 1]) <= EXACT
            ]
        # Operators of text search are not leakproof: under row-level security PostgreSQL evaluates them for every row, which
        # takes 5 s for 100,000 memories.
        ((is_limited,),) = self.read_rows("SELECT row_security_active('term'::regclass)", ())
        matching = _TRUSTED if is_limited else _DIRECT
        lexemes = (f"{self.space}/{term}".replace("\\", "\\\\").replace("'", "''") for term in chosen)
        query = " | ".join(f"'{lexeme}'" for lexeme in lexemes)
        return self.read_rows(select.replace("{matching}", matching), {**values, "space": self.space, "query": query})

    def frequencies(self, terms: Sequence[str]) -> Mapping[str, int]:
        found = self.read_rows(
            "SELECT term, sum(n)::bigint FROM ("
            "  SELECT term, memories AS n FROM frequency WHERE space = %(space)s AND term = ANY(%(terms)s)"
            "  UNION ALL"
            "  SELECT term, n FROM pending, unnest(lexemes, counts) AS change (term, n)"
            "  WHERE space = %(space)s AND lexemes && %(terms)s::text[] AND term = ANY(%(terms)s)"
            ") AS every GROUP BY term",
            {"space": self.space, "terms": list(terms)},
        )
        return {term: n for term, n in found if n > 0}

    def count_terms(self) -> int:
        ((count,),) = self.read_rows(
            "SELECT count(*) FROM (SELECT term FROM ("
            "  SELECT term, memories AS n FROM frequency WHERE space = %(space)s"
            "  UNION ALL"
            "  SELECT term, n FROM pending, unnest(lexemes, counts) AS change (term, n) WHERE space = %(space)s"
            ") AS every GROUP BY term HAVING sum(n) > 0) AS known",
            {"space": self.space},
        )
        return int(count)

    def read(self, ids: Sequence[str]) -> list[Memory]:
        return memories_of(self.read_rows, self.space, ids)

    def fetch(self, rows: Sequence[int]) -> list[Memory]:
        ids: dict[int, str] = dict(self.select("SELECT row, id FROM memory WHERE row IN ?", list(rows)))
        return self.read([ids[row] for row in rows])

    def keep_clusters(self, model: str, data: str) -> None:
        with (
            suppress(MemcliError),
            self.server.connected("keep clusters") as connection,
        ):  # a role of readers may not write
            connection.execute(
                "INSERT INTO clustering VALUES (%s, %s, %s, %s) ON CONFLICT (space, model)"
                " DO UPDATE SET fingerprint = excluded.fingerprint, data = excluded.data",
                (self.space, model, self.fingerprint, data),
            )

    def meaning(self, embedder: Embedder, vectors: VectorFile, progress: Progress | None) -> ServerMeaning:
        from memcli.extras.postgres.vectors import ServerMeaning

        return ServerMeaning(self, embedder, vectors, progress)

    def count_vectors(self, embedder: Embedder, vectors: VectorFile) -> int:  # noqa: ARG002 - of questions alone
        from memcli.extras.postgres.vectors import ServerVectors

        ((texts,),) = self.select("SELECT count(*) FROM (SELECT key FROM passage UNION SELECT key FROM window) AS text")
        known = ServerVectors(self.read_rows, self.space, embedder.model, embedder.dimensions)
        return int(texts) - len(known.missing())

    def beside(self) -> Callable[[], AbstractContextManager[ServerTables | None]]:
        ((token,),) = self.read_rows("SELECT pg_export_snapshot()", ())

        @contextmanager
        def opened() -> Iterator[ServerTables | None]:
            with self.server.connected(f"read space {self.space!r}") as connection:
                connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
                connection.execute(SQL("SET TRANSACTION SNAPSHOT {}").format(token))
                yield ServerTables(self.snapshot, self.server, partial(rows, connection))

        return opened

    def close(self) -> None:
        """Does nothing: closing the snapshot releases the connection."""
