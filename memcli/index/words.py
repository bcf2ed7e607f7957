"""The terms of an indexed space: which rows hold them, how often, and in which passages."""

from __future__ import annotations

import sqlite3
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from itertools import islice

from memcli.index.row_terms import Passage, RowTerms, Terms
from memcli.model.analysis import is_compound
from memcli.model.recall import FIELDS, PassageTerms, Rows, TermStats

COMMON_SHARE = 0.1
"""A term in more than this share of a space finds no candidates while there are rarer ones; it still counts in scores."""

_WEIGHTS = "4.0, 3.0, 1.5, 1.0, 1.0"  # of FIELDS, for the choice of candidates
_RAW = FIELDS.index("raw")
_MOST_FREQUENCIES = 10_000
"""How many terms of questions are kept with their frequencies."""

_Counts = Mapping[str, tuple[int, ...]]
"""How often each term of a question stands in each of FIELDS; terms that a memory does not have are left out."""
_NONE: _Counts = {}


class IndexedWords:
    """The terms that a database keeps of `size` memories. See `ports.views.Words` for the promises."""

    def __init__(self, connection: sqlite3.Connection, size: int) -> None:
        self._db = connection
        self._size = size
        self._rows = RowTerms(connection)
        self._frequencies: dict[str, int] = {}
        self._asked: tuple[str, ...] = ()
        self._known: list[str] = []
        self._counts: dict[int, _Counts] = {}

    def lexical(self, terms: Sequence[str], limit: int, among: Rows | None = None) -> TermStats:
        frequencies = {t: self._frequency(t) for t in terms}
        # What nobody writes as one word is asked for by its parts.
        frequencies = {t: found for t, found in frequencies.items() if found or not is_compound(t)}
        known = [t for t in frequencies if frequencies[t]]
        rare = [t for t in known if frequencies[t] <= COMMON_SHARE * self._size]
        seen = Rows(self._size) if among is None else among
        rows = self._candidates(rare, limit, seen) or self._candidates(known, limit, seen)
        read = self._rows.terms(rows)
        return TermStats(
            size=self._size,
            averages=self._averages(),
            frequencies=frequencies,
            counts=self._count(terms, read),
            lengths={row: one.lengths for row, one in read.items()},
        )

    def passages(self, terms: Sequence[str], rows: Sequence[int]) -> dict[int, list[PassageTerms]]:
        read = self._rows.terms(rows)
        counts = self._count(terms, read)
        return {
            row: _counted(passages, read[row], counts[row], terms)
            for row, passages in self._rows.passages(read).items()
        }

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

    def _count(self, terms: Sequence[str], rows: Mapping[int, Terms]) -> dict[int, _Counts]:
        """How often the terms stand in each of the rows. That of the last question is kept: its passages are asked next."""
        if tuple(terms) != self._asked:
            self._asked, self._counts = tuple(terms), {}
            self._known = [t for t in terms if self._frequency(t)]
        words = [(t, f" {t} ") for t in self._known]
        for row in rows.keys() - self._counts.keys():
            one = rows[row]
            self._counts[row] = {t: one.by_field(one.find(t)) for t, word in words if word in one.text} or _NONE
        return {row: self._counts[row] for row in rows}

    def _candidates(self, terms: Sequence[str], limit: int, among: Rows) -> list[int]:
        """The best rows by FTS5's own score. Rows that tie at the end of the list are all left out, or, when
        nothing else is there, taken in order of id: what is cut off must not depend on the history of the index."""
        if not terms:
            return []
        asked = " OR ".join(f'"{t}"' for t in terms)
        most = limit + 1 + len(among.hidden) if among.only is None else -1
        best = self._db.execute(
            f"SELECT rowid, bm25(term, {_WEIGHTS}) AS score FROM term WHERE term MATCH ? ORDER BY score LIMIT ?",
            (asked, most),
        )
        found = list(islice((one for one in best if one[0] in among), limit + 1))
        if len(found) <= limit:
            return [row for row, _ in found]
        cut = found[-1][1]
        better = [row for row, score in found if score < cut]
        if better:
            return better
        tied = self._db.execute(
            "SELECT term.rowid FROM term JOIN memory ON memory.row = term.rowid WHERE term MATCH ? ORDER BY id",
            (asked,),
        )
        return list(islice((row for (row,) in tied if row in among), limit))

    def _frequency(self, term: str) -> int:
        if term not in self._frequencies:
            if len(self._frequencies) >= _MOST_FREQUENCIES:
                self._frequencies.clear()
            row = self._db.execute("SELECT doc FROM vocabulary WHERE term = ?", (term,)).fetchone()
            self._frequencies[term] = int(row[0]) if row else 0
        return self._frequencies[term]

    def _averages(self) -> tuple[float, ...]:
        found = self._db.execute(f"SELECT {', '.join(FIELDS)} FROM total").fetchone() or [0] * len(FIELDS)
        return tuple(total / max(1, self._size) for total in found)


def _counted(passages: Sequence[Passage], terms: Terms, counts: _Counts, asked: Sequence[str]) -> list[PassageTerms]:
    """The passages of a memory with how often the terms that are asked for, of which it has those of `counts`, are in each."""
    if not counts and not any(one.above for one in passages):
        return [one.bare for one in passages]
    ordinals: dict[str, list[int]] = {}
    found = []
    for one in passages:
        if one.field is not None:
            told = {t: numbers[one.field] for t, numbers in counts.items() if numbers[one.field]}
        else:
            ordinals = ordinals or {t: terms.ordinals(t, _RAW) for t in counts}
            inside = {t: bisect_left(at, one.last) - bisect_left(at, one.first) for t, at in ordinals.items()}
            told = {t: n for t, n in inside.items() if n}
        above = one.above
        if above:
            both = {t: (above.count(t), told.get(t, 0)) for t in asked if t in told or t in above}
        else:
            both = {t: (0, n) for t, n in told.items()}
        found.append(one.bare._replace(counts=both) if both else one.bare)
    return found
