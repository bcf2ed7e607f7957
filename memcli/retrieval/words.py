"""The words of a space as every index counts them: which rows hold the terms of a question, how often, in which passages."""

from __future__ import annotations

from abc import ABC, abstractmethod
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice

from memcli.model.analysis import is_compound
from memcli.model.recall import FIELDS, PassageTerms, RowSet, TermStats
from memcli.retrieval.row_terms import AnalysedPassage, RowTerms, Terms

COMMON_SHARE, COMMON = 0.1, 1_000
"""A term in more than this share of a space finds no candidates while there are rarer ones; it still counts in scores. Where
common terms are asked for too, it must be in more memories than this."""
WEIGHTS = (4.0, 3.0, 1.5, 1.0, 1.0)
"""What one occurrence in each of FIELDS counts in the choice of candidates."""

_RAW = FIELDS.index("raw")
_MOST_FREQUENCIES = 10_000
"""How many terms of questions are kept with their frequencies."""

_Counts = Mapping[str, tuple[int, ...]]
"""How often each term of a question stands in each of FIELDS; terms that a memory does not have are left out."""
_NONE: _Counts = {}


class StoredWords(ABC):
    """The terms that a database keeps of `size` memories. See `ports.views.Words` for the promises."""

    def __init__(self, rows: RowTerms, size: int) -> None:
        self._size = size
        self._rows = rows
        self._frequencies: dict[str, int] = {}
        self._asked: tuple[str, ...] = ()
        self._known: list[str] = []
        self._counts: dict[int, _Counts] = {}

    @abstractmethod
    def best(self, terms: Sequence[str], limit: int, among: RowSet) -> Iterator[tuple[int, float]]:
        """The rows that have any of the terms, with their scores, from the least: at least `limit` of those that are in
        `among`, if there are so many."""

    @abstractmethod
    def by_id(self, terms: Sequence[str]) -> Iterator[int]:
        """The rows that have any of the terms, in order of id."""

    @abstractmethod
    def read_frequencies(self, terms: Sequence[str]) -> Mapping[str, int]:
        """In how many memories each of the terms stands; those that stand in none may be left out."""

    @abstractmethod
    def terms(self) -> dict[int, tuple[tuple[str, ...], ...]]:
        """See `ports.views.Words`."""

    def lexical(
        self, terms: Sequence[str], limit: int, among: RowSet | None = None, *, with_common: bool = False
    ) -> TermStats:
        found = self._frequencies_of(terms)
        # What nobody writes as one word is asked for by its parts.
        frequencies = {t: n for t, n in found.items() if n or not is_compound(t)}
        known = [t for t in frequencies if frequencies[t]]
        most = max(COMMON if with_common else 0.0, COMMON_SHARE * self._size)
        rare = [t for t in known if frequencies[t] <= most]
        seen = RowSet(self._size) if among is None else among
        rows = self._candidates(rare, limit, seen) or self._candidates(known, limit, seen)
        read = self._rows.terms(rows)
        return TermStats(
            size=self._size,
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

    def _count(self, terms: Sequence[str], rows: Mapping[int, Terms]) -> dict[int, _Counts]:
        """How often the terms stand in each of the rows. That of the last question is kept: its passages are asked next."""
        if tuple(terms) != self._asked:
            self._asked, self._counts = tuple(terms), {}
            found = self._frequencies_of(terms)
            self._known = [t for t in terms if found[t]]
        words = [(t, f" {t} ") for t in self._known]
        for row in rows.keys() - self._counts.keys():
            one = rows[row]
            self._counts[row] = {t: one.by_field(one.find(t)) for t, word in words if word in one.text} or _NONE
        return {row: self._counts[row] for row in rows}

    def _candidates(self, terms: Sequence[str], limit: int, among: RowSet) -> list[int]:
        """The best rows by their scores. Rows that tie at the end of the list are all left out, or, when nothing else is
        there, taken in order of id: what is cut off must not depend on the history of the index."""
        if not terms:
            return []
        found = list(islice((one for one in self.best(terms, limit + 1, among) if one[0] in among), limit + 1))
        if len(found) <= limit:
            return [row for row, _ in found]
        cut = found[-1][1]
        better = [row for row, score in found if score < cut]
        return better or list(islice((row for row in self.by_id(terms) if row in among), limit))

    def _frequencies_of(self, terms: Sequence[str]) -> dict[str, int]:
        new = [t for t in dict.fromkeys(terms) if t not in self._frequencies]
        if len(self._frequencies) + len(new) > _MOST_FREQUENCIES:
            self._frequencies.clear()
            new = list(dict.fromkeys(terms))
        if new:
            found = self.read_frequencies(new)
            self._frequencies |= {t: found.get(t, 0) for t in new}
        return {t: self._frequencies[t] for t in terms}


def _counted(
    passages: Sequence[AnalysedPassage], terms: Terms, counts: _Counts, asked: Sequence[str]
) -> list[PassageTerms]:
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
