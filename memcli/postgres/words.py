"""The terms of a space, found by PostgreSQL's text search and scored as SQLite's FTS5 does."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from memcli.index.words import RowTerms, StoredWords
from memcli.model.recall import FIELDS, RowSet
from memcli.postgres.totals import frequencies, totals

if TYPE_CHECKING:
    from memcli.postgres.reading import Read

EXACT = 20_000
"""Up to so many memories with one of the terms, the candidates are the best of them all. Among more, a memory is a candidate
only if it has one of the rarest terms."""

_LEAST_IDF = 1e-6
_SCORED = """
SELECT row, -({score}) AS score FROM (
    SELECT row, lexemes, weights, 1.2::float8 * (0.25::float8 + 0.75::float8 * size::float8 / %(average)s::float8) AS norm
    FROM {matching}
) AS found ORDER BY score LIMIT %(most)s
"""
_BY_ID = "SELECT row FROM (SELECT space, row FROM {matching}) AS found JOIN entry USING (space, row) ORDER BY id"
_DIRECT = "term WHERE lexemes_of(space, lexemes) @@ %(query)s::tsquery"
_TRUSTED = "matching(%(space)s, %(query)s)"
"""What has any of the terms, for those whom row-level security lets see only some spaces."""
_FOUND = "coalesce(weights[array_position(lexemes, %(term{n})s)], 0) / 2.0::float8"
_PART = f"%(idf{{n}})s::float8 * (({_FOUND}) * 2.2::float8 / (({_FOUND}) + norm))"
"""BM25 with k1 = 1.2 and b = 0.75, each operation in the order of FTS5, so that what ties there ties here."""


class PostgresWords(StoredWords):
    """The terms of a space. See `ports.views.SpaceView` for the promises."""

    def __init__(self, read: Read, space: str) -> None:
        self._db = read
        self._space = space
        self._totals = totals(read, space)
        super().__init__(RowTerms(self._fields, self._passages), self._totals.memories)

    @property
    def size(self) -> int:
        """How many memories the space has."""
        return self._size

    def best(self, terms: Sequence[str], limit: int, among: RowSet) -> Iterator[tuple[int, float]]:
        """By the score of FTS5."""
        values: dict[str, Any] = {"average": self._totals.tokens / self._size}
        for n, term in enumerate(terms):
            values |= {f"idf{n}": self._idf(term), f"term{n}": term}
        score = " + ".join(_PART.format(n=n) for n in range(len(terms)))
        values["most"] = limit + len(among.hidden) if among.only is None else None
        return iter(self._matching(_SCORED.replace("{score}", score), terms, values))

    def by_id(self, terms: Sequence[str]) -> Iterator[int]:
        return (row for (row,) in self._matching(_BY_ID, terms, {}))

    def _matching(self, select: str, terms: Sequence[str], values: Mapping[str, Any]) -> list[Any]:
        """What a statement finds among the memories with any of the terms."""
        ((is_limited,),) = self._db("SELECT row_security_active('term'::regclass)", ())
        matching = _TRUSTED if is_limited else _DIRECT
        given = {**values, "space": self._space, "query": self._finding(terms)}
        return self._db(select.replace("{matching}", matching), given)

    def read_frequencies(self, terms: Sequence[str]) -> Mapping[str, int]:
        return frequencies(self._db, self._space, terms)

    @property
    def passage_count(self) -> int:
        """How many passages the space has."""
        return self._totals.passages

    def terms(self) -> dict[int, tuple[tuple[str, ...], ...]]:
        # A text that is its own summary is not kept as one.
        found = self._db(
            "SELECT row, field.path, field.tags, source, CASE summary WHEN '' THEN raw ELSE summary END"
            " FROM entry JOIN field USING (space, row) WHERE space = %s",
            (self._space,),
        )
        return {row: tuple(tuple(text.split()) for text in texts) for row, *texts in found}

    def _idf(self, term: str) -> float:
        n = self._frequencies_of([term])[term]
        found = math.log((self._size - n + 0.5) / (n + 0.5))
        return found if found > 0 else _LEAST_IDF

    def _finding(self, terms: Sequence[str]) -> str:
        """The query for memories with any of the terms: of the rarest only, when more than EXACT could have one."""
        known = self._frequencies_of(terms)
        chosen = list(terms)
        if min(self._size, sum(known.values())) > EXACT:
            ordered = sorted(terms, key=lambda t: (known[t], t))
            chosen = [t for n, t in enumerate(ordered) if not n or sum(known[t] for t in ordered[: n + 1]) <= EXACT]
        return " | ".join(_quoted(f"{self._space}/{t}") for t in chosen)

    def _fields(self, rows: Sequence[int]) -> list[tuple[Any, ...]]:
        select = f"SELECT row, {', '.join(FIELDS)} FROM field WHERE space = %s AND row = ANY(%s)"
        return self._read(select, rows)

    def _passages(self, rows: Sequence[int]) -> list[tuple[Any, ...]]:
        columns = "row, n, form, first, last, heading, is_versioned"
        return self._read(f"SELECT {columns} FROM passage WHERE space = %s AND row = ANY(%s) ORDER BY row, n", rows)

    def _read(self, select: str, rows: Sequence[int]) -> list[tuple[Any, ...]]:
        return self._db(select, (self._space, list(rows))) if rows else []


def _quoted(lexeme: str) -> str:
    """The lexeme as a query has it."""
    escaped = lexeme.replace("\\", "\\\\").replace("'", "''")
    return f"'{escaped}'"
