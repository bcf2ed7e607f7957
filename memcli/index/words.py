"""Search by words: which rows contain the terms of a query, how often, and in which passages."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from itertools import accumulate, islice, pairwise
from sys import intern

from memcli.model.recall import FIELDS, PassageTerms, RowSet, TermStats
from memcli.record import NamedTuple
from memcli.text.passages import CONTENT
from memcli.text.words import without_absent

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memcli.index.tables import SpaceTables

_MOST_CACHED = 12_000_000
"""The most characters of terms that are cached; a memory has about 1,500."""
_RAW, _CONTENT = FIELDS.index("raw"), FIELDS.index("content")
_NEXT_FIELD = " \n "

_NO_COUNTS: Mapping[str, tuple[int, int]] = {}


class Terms(NamedTuple):
    """The terms of a memory, field by field, each between two blanks. `starts` are the offsets of the fields in `text`, `lengths`
    their numbers of terms."""

    text: str
    starts: tuple[int, ...]
    lengths: tuple[int, ...]

    def find(self, term: str) -> list[int]:
        """The offsets of the term in the text."""
        # Searching in the text is faster than splitting it: that took most of the time of a second query.
        found = []
        word = f" {term} "
        at = self.text.find(word)
        while at >= 0:
            found.append(at)
            at = self.text.find(word, at + len(word) - 1)
        return found

    def by_field(self, term: str) -> tuple[int, ...]:
        """The number of times that the term occurs in each field."""
        counts = [0] * len(self.starts)
        for at in self.find(term):
            counts[bisect_right(self.starts, at) - 1] += 1
        return tuple(counts)

    def ordinals(self, term: str, field: int) -> list[int]:
        """The number of terms of the field before each occurrence of the term in it."""
        first = self.starts[field]
        inside = [at for at in self.find(term) if bisect_right(self.starts, at) - 1 == field]
        return list(accumulate(self.text.count(" ", *two) for two in pairwise([first, *inside])))


class AnalysedPassage(NamedTuple):
    """A passage prepared for scoring: `bare` does not depend on the query, `above` are the terms of its heading. Its own terms
    are those from `first` up to `last` of the raw text, or all of one `field`."""

    bare: PassageTerms
    above: tuple[str, ...]
    first: int
    last: int
    field: int | None


_TEXTS = f"SELECT rowid, {', '.join(FIELDS)} FROM term WHERE rowid IN ?"
_PASSAGES = "SELECT row, n, form, first, last, heading, is_versioned FROM passage WHERE row IN ? ORDER BY row, n"


class RowTerms:
    """Reads the terms of memories from the index, and caches the last ones."""

    def __init__(self, tables: SpaceTables) -> None:
        self._tables = tables
        self._terms: dict[int, Terms] = {}
        self._passages: dict[int, tuple[AnalysedPassage, ...]] = {}
        self._characters = 0

    def terms(self, rows: Sequence[int]) -> dict[int, Terms]:
        """The terms of these rows."""
        for row, *texts in self._tables.select(_TEXTS, [row for row in rows if row not in self._terms]):
            self._terms[row] = made = read_terms(texts)
            self._characters += len(made.text)
        found = {row: self._terms[row] for row in rows}
        while self._characters > _MOST_CACHED:
            row = next(iter(self._terms))
            self._characters -= len(self._terms.pop(row).text)
            self._passages.pop(row, None)
        return found

    def passages(self, terms: Mapping[int, Terms]) -> dict[int, tuple[AnalysedPassage, ...]]:
        """The passages of the rows of `terms`."""
        new = [row for row in terms if row not in self._passages]
        read: dict[int, list[AnalysedPassage]] = {row: [] for row in new}
        for row, *values in self._tables.select(_PASSAGES, new):
            n, form, first, last, heading, is_versioned = values
            lengths = terms[row].lengths
            field: int | None
            if form == CONTENT and not first < last:
                field, size = _CONTENT, lengths[_CONTENT]
            else:
                field, size = _RAW if (first, last) == (0, lengths[_RAW]) else None, last - first
            above = tuple(heading.split())
            bare = PassageTerms(n, intern(form), bool(is_versioned), _NO_COUNTS, len(above) + size)
            read[row].append(AnalysedPassage(bare, above, first, last, field))
        found = {row: tuple(read[row]) if row in read else self._passages[row] for row in terms}
        self._passages |= {row: found[row] for row in new if row in self._terms}
        return found


def read_terms(texts: Sequence[str]) -> Terms:
    """The terms of a memory, given its FIELDS as stored: terms with blanks between them."""
    starts = [0]
    for text in texts[:-1]:
        starts.append(starts[-1] + len(text) + len(_NEXT_FIELD))
    lengths = [text.count(" ") + 1 if text else 0 for text in texts]
    return Terms(f" {_NEXT_FIELD.join(texts)} ", tuple(starts), tuple(lengths))


# FTS5 answers a query over 100,000 memories in a seventh of the time without a term that every sixth of them has.
COMMON_SHARE, COMMON = 0.1, 1_000
"""A term in more than this share of a space finds no candidates if the query has a rarer one; it still counts in scores. With
`with_common`, it must also be in more memories than COMMON."""
_MOST_FREQUENCIES = 10_000
"""The most terms whose frequencies are cached."""

_Counts = Mapping[str, tuple[int, ...]]
"""The number of occurrences of each term of a query in each of FIELDS; terms that a memory lacks are left out."""
_NONE: _Counts = {}


class IndexedWords:
    """The part of a view that finds memories by words."""

    def __init__(self, tables: SpaceTables) -> None:
        self._tables = tables
        self._rows = RowTerms(tables)
        self._frequencies: dict[str, int] = {}
        self._last_terms: tuple[str, ...] = ()
        self._known: list[str] = []
        self._counts: dict[int, _Counts] = {}

    def terms(self) -> dict[int, tuple[tuple[str, ...], ...]]:
        """The terms of each row's path, tags, source and summary, as four tuples."""
        # The index stores no summary of a text that is its own summary.
        found = self._tables.select(
            "SELECT memory.row, term.path, term.tags, source, CASE summary WHEN '' THEN raw ELSE summary END"
            " FROM memory JOIN term ON term.rowid = memory.row"
        )
        return {row: tuple(tuple(text.split()) for text in texts) for row, *texts in found}

    def lexical(
        self, terms: Sequence[str], limit: int, among: RowSet | None = None, *, with_common: bool = False
    ) -> TermStats:
        """At most `limit` of the best rows (of `among`, if given) that contain any of the terms, with the number of
        occurrences in each field. Rows that contain only common terms of the space are left out, unless `with_common`: then
        memories about another matter, which make a term common, remove no row."""
        frequencies = without_absent(self._frequencies_of(terms))
        known = [t for t in frequencies if frequencies[t]]
        most = max(COMMON if with_common else 0.0, COMMON_SHARE * self._tables.size)
        rare = [t for t in known if frequencies[t] <= most]
        seen = RowSet(self._tables.size) if among is None else among
        rows = self._candidates(rare, limit, seen) or self._candidates(known, limit, seen)
        read = self._rows.terms(rows)
        return TermStats(
            size=self._tables.size,
            frequencies=frequencies,
            counts=self._count(terms, read),
            lengths={row: one.lengths for row, one in read.items()},
        )

    def passages(self, terms: Sequence[str], rows: Sequence[int]) -> dict[int, list[PassageTerms]]:
        """The passages of these rows, in order, with the occurrences of the terms in each."""
        read = self._rows.terms(rows)
        counts = self._count(terms, read)
        return {
            row: _counted(passages, read[row], counts[row], terms)
            for row, passages in self._rows.passages(read).items()
        }

    def _count(self, terms: Sequence[str], rows: Mapping[int, Terms]) -> dict[int, _Counts]:
        """The frequencies of the terms in each of the rows. Those of the last query are cached, since its passages are
        scored next."""
        if tuple(terms) != self._last_terms:
            self._last_terms, self._counts = tuple(terms), {}
            found = self._frequencies_of(terms)
            self._known = [t for t in terms if found[t]]
        words = [(t, f" {t} ") for t in self._known]
        for row in rows.keys() - self._counts.keys():
            one = rows[row]
            self._counts[row] = {t: one.by_field(t) for t, word in words if word in one.text} or _NONE
        return {row: self._counts[row] for row in rows}

    def _candidates(self, terms: Sequence[str], limit: int, among: RowSet) -> list[int]:
        """At most `limit` of the best rows. Rows that tie at the end of the list are all left out, or, if there are no others,
        taken in order of id: the choice must not depend on the history of the index."""
        if not terms:
            return []
        given = self._frequencies_of(terms)
        most = limit + 1 + len(among.hidden) if among.only is None else None
        found = list(islice((one for one in self._tables.best(given, most) if one[0] in among), limit + 1))
        if len(found) <= limit:
            return [row for row, _ in found]
        cut = found[-1][1]
        better = [row for row, score in found if score < cut]
        return better or list(islice((row for row in self._tables.by_id(given) if row in among), limit))

    def _frequencies_of(self, terms: Sequence[str]) -> dict[str, int]:
        new = [t for t in dict.fromkeys(terms) if t not in self._frequencies]
        if len(self._frequencies) + len(new) > _MOST_FREQUENCIES:
            self._frequencies.clear()
            new = list(dict.fromkeys(terms))
        if new:
            found = self._tables.frequencies(new)
            self._frequencies |= {t: found.get(t, 0) for t in new}
        return {t: self._frequencies[t] for t in terms}


def _counted(
    passages: Sequence[AnalysedPassage], terms: Terms, counts: _Counts, query: Sequence[str]
) -> list[PassageTerms]:
    """The passages of a memory, each with the frequencies of the query's terms in it; `counts` has those of the whole
    memory."""
    if not counts and not any(one.above for one in passages):
        return [one.bare for one in passages]
    ordinals: dict[str, list[int]] = {}
    found = []
    for one in passages:
        if one.field is not None:
            inside = {t: numbers[one.field] for t, numbers in counts.items() if numbers[one.field]}
        else:
            ordinals = ordinals or {t: terms.ordinals(t, _RAW) for t in counts}
            inside = {t: bisect_left(at, one.last) - bisect_left(at, one.first) for t, at in ordinals.items()}
            inside = {t: n for t, n in inside.items() if n}
        above = one.above
        if above:
            both = {t: (above.count(t), inside.get(t, 0)) for t in query if t in inside or t in above}
        else:
            both = {t: (0, n) for t, n in inside.items()}
        bare = one.bare
        found.append(PassageTerms(bare.n, bare.form, bare.is_versioned, both, bare.length) if both else bare)
    return found
