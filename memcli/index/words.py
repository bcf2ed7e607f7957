"""The terms of an indexed space: which rows hold them, how often, and in which passages."""

from __future__ import annotations

import sqlite3
from bisect import bisect_left
from collections.abc import Sequence
from typing import NamedTuple

from memcli.index.database import each
from memcli.model.analysis import is_compound
from memcli.model.passages import CONTENT, CONTEXT, MESSAGE
from memcli.model.recall import FIELDS, PassageTerms, TermStats

COMMON_SHARE = 0.1
"""A term in more than this share of a space finds no candidates while there are rarer ones; it still counts in scores."""

_WEIGHTS = "4.0, 3.0, 1.5, 1.0, 1.0"  # of FIELDS, for the choice of candidates
_BARE = (MESSAGE, CONTEXT)
"""Forms of passages that stand for themselves, without what is around them."""
_PASSAGES = "SELECT row, n, form, first, last, heading, is_versioned FROM passage WHERE row"


_RAW, _CONTENT = FIELDS.index("raw"), FIELDS.index("content")
_MOST_KEPT = 1000

_Places = Sequence[tuple[int, str]]


class _Row(NamedTuple):
    """Where the terms of a question stand in each field of a memory, and how many terms the fields have."""

    places: tuple[_Places, ...]
    lengths: tuple[int, ...]


class IndexedWords:
    """The terms that a database keeps of `size` memories. See `ports.views.Words` for the promises."""

    def __init__(self, connection: sqlite3.Connection, size: int) -> None:
        self._db = connection
        self._size = size
        self._wanted = frozenset[str]()
        self._kept: dict[int, _Row] = {}

    def lexical(self, terms: Sequence[str], limit: int) -> TermStats:
        frequencies = {t: self._frequency(t) for t in terms}
        # What nobody writes as one word is asked for by its parts.
        frequencies = {t: found for t, found in frequencies.items() if found or not is_compound(t)}
        known = [t for t in frequencies if frequencies[t]]
        rare = [t for t in known if frequencies[t] <= COMMON_SHARE * self._size]
        rows = self._candidates(rare or known, limit)
        read = self._read(terms, rows)
        wanted = frozenset(known)
        return TermStats(
            size=self._size,
            averages=self._averages(),
            frequencies=frequencies,
            counts={row: _count(one.places, wanted) for row, one in read.items()},
            lengths={row: one.lengths for row, one in read.items()},
        )

    def passages(self, terms: Sequence[str], rows: Sequence[int]) -> dict[int, list[PassageTerms]]:
        wanted = frozenset(terms)
        read = self._read(terms, rows)
        found: dict[int, list[PassageTerms]] = {row: [] for row in rows}
        for row, n, form, first, last, heading, is_versioned in each(self._db, _PASSAGES, rows):
            above = heading.split()
            if form == CONTENT and not first < last:
                inside, size = read[row].places[_CONTENT], read[row].lengths[_CONTENT]
            else:
                places, size = read[row].places[_RAW], last - first
                inside = places[bisect_left(places, (first,)) : bisect_left(places, (last,))]
            told = [term for _, term in inside]
            counts = {t: (above.count(t), told.count(t)) for t in {*told, *wanted.intersection(above)}}
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

    def _read(self, terms: Sequence[str], rows: Sequence[int]) -> dict[int, _Row]:
        """Where the terms stand in each of the rows. Those of the last question are kept: its passages are asked next."""
        wanted = frozenset(terms)
        kept = self._kept if wanted == self._wanted else {}
        new = [row for row in rows if row not in kept]
        read = {row: kept[row] for row in rows if row in kept}
        for row, *texts in each(self._db, f"SELECT rowid, {', '.join(FIELDS)} FROM term WHERE rowid", new):
            fields = [text.split() for text in texts]
            read[row] = _Row(tuple([_places(field, wanted) for field in fields]), tuple(map(len, fields)))
        self._wanted, self._kept = wanted, read if len(read) <= _MOST_KEPT else {}
        return read

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


def _places(field: Sequence[str], wanted: frozenset[str]) -> _Places:
    if wanted.isdisjoint(field):
        return ()
    return [(n, term) for n, term in enumerate(field) if term in wanted]


def _count(fields: Sequence[_Places], wanted: frozenset[str]) -> dict[str, tuple[int, ...]]:
    counts: dict[str, list[int]] = {}
    for n, places in enumerate(fields):
        for term in (term for _, term in places if term in wanted):
            counts.setdefault(term, [0] * len(fields))[n] += 1
    return {term: tuple(numbers) for term, numbers in counts.items()}
