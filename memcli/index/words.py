"""The terms of an indexed space, kept in FTS5."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping, Sequence

from memcli.index.database import each
from memcli.model.recall import FIELDS, RowSet
from memcli.retrieval.row_terms import RowTerms
from memcli.retrieval.words import WEIGHTS, StoredWords

_TERMS = f"SELECT rowid, {', '.join(FIELDS)} FROM term WHERE rowid"
_PASSAGES = "SELECT row, n, form, first, last, heading, is_versioned FROM passage WHERE row"


class IndexedWords(StoredWords):
    """The terms that a database keeps of `size` memories. See `ports.views.Words` for the promises."""

    def __init__(self, connection: sqlite3.Connection, size: int) -> None:
        self._db = connection
        super().__init__(row_terms(connection), size)

    def best(self, terms: Sequence[str], limit: int, among: RowSet) -> Iterator[tuple[int, float]]:
        """By FTS5's own score."""
        most = limit + len(among.hidden) if among.only is None else -1
        weights = ", ".join(map(str, WEIGHTS))
        return self._db.execute(
            f"SELECT rowid, bm25(term, {weights}) AS score FROM term WHERE term MATCH ? ORDER BY score LIMIT ?",
            (_any(terms), most),
        )

    def by_id(self, terms: Sequence[str]) -> Iterator[int]:
        tied = self._db.execute(
            "SELECT term.rowid FROM term JOIN memory ON memory.row = term.rowid WHERE term MATCH ? ORDER BY id",
            (_any(terms),),
        )
        return (row for (row,) in tied)

    def read_frequencies(self, terms: Sequence[str]) -> Mapping[str, int]:
        select = "SELECT term, doc FROM vocabulary WHERE term = ?"
        found = (self._db.execute(select, (term,)).fetchone() for term in terms)
        return dict(row for row in found if row is not None)

    def terms(self) -> dict[int, tuple[tuple[str, ...], ...]]:
        # A text that is its own summary is not kept as one.
        found = self._db.execute(
            "SELECT memory.row, term.path, term.tags, source, iif(summary = '', raw, summary)"
            " FROM memory JOIN term ON term.rowid = memory.row"
        )
        return {row: tuple(tuple(text.split()) for text in texts) for row, *texts in found}


def row_terms(connection: sqlite3.Connection) -> RowTerms:
    """The terms of the rows of a database."""
    return RowTerms(lambda rows: each(connection, _TERMS, rows), lambda rows: each(connection, _PASSAGES, rows))


def _any(terms: Sequence[str]) -> str:
    return " OR ".join(f'"{t}"' for t in terms)
