"""The terms of single memories and of their passages, read once and kept for the next question."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import accumulate, pairwise
from sys import intern
from typing import Any, NamedTuple

from memcli.model.passages import CONTENT
from memcli.model.recall import FIELDS, PassageTerms

_MOST_KEPT = 12_000_000
"""Characters; a memory has about 1,500 of them."""
_RAW, _CONTENT = FIELDS.index("raw"), FIELDS.index("content")
_NEXT_FIELD = " \n "

_NO_COUNTS: Mapping[str, tuple[int, int]] = {}


class Terms(NamedTuple):
    """The terms of a memory: each with a blank before and after it, field by field. A field begins at one of `starts` and
    has as many terms as `lengths` says."""

    text: str
    starts: tuple[int, ...]
    lengths: tuple[int, ...]

    def find(self, term: str) -> list[int]:
        """Where in the text the term stands."""
        found = []
        word = f" {term} "
        at = self.text.find(word)
        while at >= 0:
            found.append(at)
            at = self.text.find(word, at + len(word) - 1)
        return found

    def by_field(self, places: Sequence[int]) -> tuple[int, ...]:
        """How many of the places are in each field."""
        counts = [0] * len(self.starts)
        for at in places:
            counts[bisect_right(self.starts, at) - 1] += 1
        return tuple(counts)

    def ordinals(self, term: str, field: int) -> list[int]:
        """For each time that the term stands in the field how many terms of the field come before it."""
        first = self.starts[field]
        inside = [at for at in self.find(term) if bisect_right(self.starts, at) - 1 == field]
        return list(accumulate(self.text.count(" ", *two) for two in pairwise([first, *inside])))


class AnalysedPassage(NamedTuple):
    """A passage: what holds of it whatever is asked, the terms of its heading, and which terms of the text it is made of, or
    the `field` that it is all of."""

    bare: PassageTerms
    above: tuple[str, ...]
    first: int
    last: int
    field: int | None


Read = Callable[[Sequence[int]], Iterable[tuple[Any, ...]]]
"""Reads what a database has of these rows: each record begins with its row."""


class RowTerms:
    """The terms that a database keeps of each memory. Those that were read last are kept, up to a number of characters.

    `texts` reads FIELDS as terms with blanks between them, `passages` the number, form, first and last term, heading and
    `is_versioned` of each passage, in order.
    """

    def __init__(self, texts: Read, passages: Read) -> None:
        self._read_texts, self._read_passages = texts, passages
        self._terms: dict[int, Terms] = {}
        self._passages: dict[int, tuple[AnalysedPassage, ...]] = {}
        self._kept = 0

    def terms(self, rows: Sequence[int]) -> dict[int, Terms]:
        """The terms of each of the rows."""
        for row, *texts in self._read_texts([row for row in rows if row not in self._terms]):
            self._terms[row] = made = read_terms(texts)
            self._kept += len(made.text)
        found = {row: self._terms[row] for row in rows}
        while self._kept > _MOST_KEPT:
            row = next(iter(self._terms))
            self._kept -= len(self._terms.pop(row).text)
            self._passages.pop(row, None)
        return found

    def passages(self, terms: Mapping[int, Terms]) -> dict[int, tuple[AnalysedPassage, ...]]:
        """The passages of the rows whose terms these are."""
        new = [row for row in terms if row not in self._passages]
        read: dict[int, list[AnalysedPassage]] = {row: [] for row in new}
        for row, *values in self._read_passages(new):
            read[row].append(_passage(terms[row], *values))
        found = {row: tuple(read[row]) if row in read else self._passages[row] for row in terms}
        self._passages |= {row: found[row] for row in new if row in self._terms}
        return found


def read_terms(texts: Sequence[str]) -> Terms:
    """The terms of a memory whose FIELDS, as terms with blanks between them, these are."""
    starts = [0]
    for text in texts[:-1]:
        starts.append(starts[-1] + len(text) + len(_NEXT_FIELD))
    lengths = [text.count(" ") + 1 if text else 0 for text in texts]
    return Terms(f" {_NEXT_FIELD.join(texts)} ", tuple(starts), tuple(lengths))


def _passage(
    terms: Terms, n: int, form: str, first: int, last: int, heading: str, is_versioned: int
) -> AnalysedPassage:
    above = tuple(heading.split())
    field: int | None
    if form == CONTENT and not first < last:
        field, size = _CONTENT, terms.lengths[_CONTENT]
    else:
        field, size = _RAW if (first, last) == (0, terms.lengths[_RAW]) else None, last - first
    bare = PassageTerms(n, intern(form), bool(is_versioned), _NO_COUNTS, len(above) + size)
    return AnalysedPassage(bare, above, first, last, field)
