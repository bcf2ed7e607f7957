"""The terms of an indexed space: which rows hold them, how often, and in which passages."""

from __future__ import annotations

import sqlite3
from bisect import bisect_left
from collections.abc import Sequence

from memcli.index.database import each
from memcli.model.passages import CONTENT, CONTEXT, MESSAGE
from memcli.model.recall import FIELDS, PassageTerms, TermStats

COMMON_SHARE = 0.1
"""A term in more than this share of a space finds no candidates while there are rarer ones; it still counts in scores."""

_WEIGHTS = "4.0, 3.0, 1.5, 1.0, 1.0"  # of FIELDS, for the choice of candidates
_BARE = (MESSAGE, CONTEXT)
"""Forms of passages that stand for themselves, without what is around them."""
_PASSAGES = "SELECT row, n, form, first, last, heading, is_versioned FROM passage WHERE row"


class IndexedWords:
    """The terms that a database keeps of `size` memories. See `ports.views.Words` for the promises."""

    def __init__(self, connection: sqlite3.Connection, size: int) -> None:
        self._db = connection
        self._size = size

    def lexical(self, terms: Sequence[str], limit: int) -> TermStats:
        frequencies = {t: self._frequency(t) for t in terms}
        known = [t for t in terms if frequencies[t]]
        rare = [t for t in known if frequencies[t] <= COMMON_SHARE * self._size]
        rows = self._candidates(rare or known, limit)
        counts: dict[int, dict[str, tuple[int, ...]]] = {}
        lengths: dict[int, tuple[int, ...]] = {}
        wanted = frozenset(known)
        for row, *texts in each(self._db, f"SELECT rowid, {', '.join(FIELDS)} FROM term WHERE rowid", rows):
            fields = [text.split() for text in texts]
            lengths[row] = tuple(map(len, fields))
            counts[row] = _count(fields, wanted)
        return TermStats(
            size=self._size,
            averages=self._averages(),
            frequencies=frequencies,
            counts=counts,
            lengths=lengths,
        )

    def passages(self, terms: Sequence[str], rows: Sequence[int]) -> dict[int, list[PassageTerms]]:
        raw: dict[int, list[tuple[int, str]]] = {}
        wanted = frozenset(terms)
        content: dict[int, list[str]] = {}
        for row, text, other in each(self._db, "SELECT rowid, raw, content FROM term WHERE rowid", rows):
            raw[row] = [(n, term) for n, term in enumerate(text.split()) if term in wanted]
            content[row] = other.split()
        found: dict[int, list[PassageTerms]] = {row: [] for row in rows}
        for row, n, form, first, last, heading, is_versioned in each(self._db, _PASSAGES, rows):
            above = heading.split()
            if form == CONTENT and not first < last:
                inside, size = [term for term in content[row] if term in wanted], len(content[row])
            else:
                places, size = raw[row], last - first
                inside = [t for _, t in places[bisect_left(places, (first,)) : bisect_left(places, (last,))]]
            counts = {t: (above.count(t), inside.count(t)) for t in {*inside, *wanted.intersection(above)}}
            found[row].append(
                PassageTerms(n, form, bool(above) or form in _BARE, bool(is_versioned), counts, len(above) + size)
            )
        return found

    def passage_length(self) -> float:
        found = self._db.execute("SELECT passages, terms FROM total").fetchone()
        return found[1] / found[0] if found and found[0] else 0.0

    def terms(self) -> dict[int, tuple[tuple[str, ...], ...]]:
        # A text that is its own summary is not kept as one.
        found = self._db.execute(
            "SELECT memory.row, term.path, term.tags, source, iif(summary = '', raw, summary)"
            " FROM memory JOIN term ON term.rowid = memory.row"
        )
        return {row: tuple(tuple(text.split()) for text in texts) for row, *texts in found}

    def _candidates(self, terms: Sequence[str], limit: int) -> list[int]:
        """The best rows by FTS5's own score. Rows that tie at the end of the list are all left out, or, when
        nothing else is there, taken in order of id: what is cut off must not depend on the history of the index."""
        if not terms:
            return []
        asked = " OR ".join(f'"{t}"' for t in terms)
        found = self._db.execute(
            f"SELECT rowid, bm25(term, {_WEIGHTS}) AS score FROM term WHERE term MATCH ? ORDER BY score LIMIT ?",
            (asked, limit + 1),
        ).fetchall()
        if len(found) <= limit:
            return [row for row, _ in found]
        cut = found[-1][1]
        better = [row for row, score in found if score < cut]
        if better:
            return better
        tied = self._db.execute(
            "SELECT term.rowid FROM term JOIN memory ON memory.row = term.rowid WHERE term MATCH ? ORDER BY id LIMIT ?",
            (asked, limit),
        )
        return [row for (row,) in tied]

    def _frequency(self, term: str) -> int:
        row = self._db.execute("SELECT doc FROM vocabulary WHERE term = ?", (term,)).fetchone()
        return int(row[0]) if row else 0

    def _averages(self) -> tuple[float, ...]:
        found = self._db.execute(f"SELECT {', '.join(FIELDS)} FROM total").fetchone() or [0] * len(FIELDS)
        return tuple(total / max(1, self._size) for total in found)


def _count(fields: Sequence[Sequence[str]], wanted: frozenset[str]) -> dict[str, tuple[int, ...]]:
    counts: dict[str, list[int]] = {}
    for n, field in enumerate(fields):
        for term in field:
            if term in wanted:
                counts.setdefault(term, [0] * len(fields))[n] += 1
    return {term: tuple(numbers) for term, numbers in counts.items()}
