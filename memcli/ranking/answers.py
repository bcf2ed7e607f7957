"""How well single passages answer: words and meaning on one scale for documents, messages and changes alike.

The cosines of rows are arrays: of ten thousand rows only the nearest are looked at one by one. Every number was chosen
by measurement: see bench/README.md.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Mapping, Sequence

from memcli.model.recall import FIELDS, Nearness, PassageTerms, Query, RowSet, TermStats
from memcli.ranking.lexical import FIELD_WEIGHTS, LENGTHS, idf, most, saturated, weighed
from memcli.record import NamedTuple, Record
from memcli.text.passages import CONTENT, CONTEXT, HUNK, MARKUP, MESSAGE
from memcli.text.words import exact_terms

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Cosines(Record):
    """The cosine of each of some rows: int64 [n], ascending, and float64 [n]. Without rows NumPy is not needed."""

    rows: Any = ()
    values: Any = ()

    def among(self, visible: RowSet) -> Cosines:
        """Those of the rows that are visible."""
        if not len(self.rows) or (visible.only is None and not visible.hidden):
            return self
        import numpy

        listed = visible.hidden if visible.only is None else visible.only
        is_listed = numpy.isin(self.rows, numpy.fromiter(listed, numpy.int64, len(listed)))
        chosen = ~is_listed if visible.only is None else is_listed
        return Cosines(self.rows[chosen], self.values[chosen])

    def of(self, rows: Collection[int]) -> dict[int, float]:
        """The cosines of these rows, without those that have none."""
        if not len(self.rows):
            return {}
        import numpy

        wanted = numpy.fromiter(rows, numpy.int64, len(rows))
        places = numpy.searchsorted(self.rows, wanted).clip(max=len(self.rows) - 1)
        is_known = self.rows[places] == wanted
        return dict(zip(wanted[is_known].tolist(), self.values[places[is_known]].tolist(), strict=True))

    def nearest(self, count: int) -> list[int]:
        """The `count` rows with the best cosines; those that tie with the last one too, so that row numbers decide nothing."""
        if len(self.rows) <= count:
            return [int(row) for row in self.rows]
        import numpy

        last = len(self.rows) - count
        least = round(float(numpy.partition(self.values, last)[last]), 6)
        near = numpy.flatnonzero(self.values >= least - 1e-6)  # spares most rows the rounding
        found = zip(self.rows[near].tolist(), self.values[near].tolist(), strict=True)
        return [row for row, cosine in found if round(cosine, 6) >= least]


NONE = Cosines()

APART, ANSWERS = -0.15, 0.6
"""The cosines of what has nothing in common, and of what answers well."""


def closeness(cosine: float) -> float:
    """A cosine on the scale of words: 0 where nothing is in common, 1 where it answers well."""
    return max(0.0, (cosine - APART) / (ANSWERS - APART))


def mixed(near: Sequence[tuple[float, Nearness]]) -> Cosines:
    """The cosine of each row by one text or several, each with its share."""
    (share, first), *others = near
    values = first.best if share == 1 else share * first.best
    for share, other in others:
        values = values + share * other.best
    return Cosines(first.rows, values)


FORM_WEIGHTS: Mapping[str, float] = {HUNK: 0.55, MESSAGE: 0.8, MARKUP: 0.6}
"""What a passage of a form counts beside one of prose: at equal words a document answers, a hunk only shows."""
LEXICAL_SHARE = 0.3
TOLD_LEXICAL_SHARE = 0.5
"""The share of words in the score of a passage, 0..1; the rest is meaning. A memory that was told in a few words is found by
them."""
K1, B = 1.2, 0.75
LENGTH = 70
"""How many terms a passage of common length has, with its heading."""
SINCE_WEIGHT = 0.15
"""What the heading of a version adds where the topic asks since when."""
EXACT_WEIGHT = 0.5
"""What a passage with all the rare names of the topic gets: identifiers, versions, options, file names."""
RARE_SHARE, RARE = 0.02, 3
"""A name in at most this share of the memories, or in so few, says which one is meant."""

_SINCE = re.compile(
    r"\b(?:since|from|as of|in|until|before|after|by)\s+(?:which|what)\s+(?:version|release)"
    r"|\b(?:which|what)\s+(?:version|release)|\bwhen\s+(?:was|were|did|has|have|is|are)\b|\bhow long (?:has|have)\b|\Awhen\b",
    re.IGNORECASE,
)
_RAW_FIELD, _CONTENT_FIELD = FIELDS.index("raw"), FIELDS.index("content")
_NO_TERM = (0, 0)


class Scored(NamedTuple):
    """A passage by its number, its score, 0..1, the parts that the score is the sum of, and its form."""

    n: int
    score: float
    why: Mapping[str, float]
    form: str


Near = Sequence[tuple[float, Nearness]]
"""The nearness of all passages to the topic, in parts with their shares."""

Answers = Mapping[int, Sequence[Scored]]
"""For each row its passages, best first."""


Signs = Mapping[int, Sequence[tuple[float, float]]]
"""For each passage of each row its BM25F score by words, and its cosine, NaN where it has no vector."""


def measure(
    stats: TermStats,
    passages: Mapping[int, Sequence[PassageTerms]],
    read: Collection[int],
    near: Near,
    read_near: Near,
) -> dict[int, list[tuple[float, float]]]:
    """For every passage its BM25F score by words and its cosine with the topic (-1..1, NaN without a vector).

    `read` are the rows of documents and changes; `near`, and `read_near` for these rows, is the nearness to the topic, in
    parts with their shares, empty without an embedder.
    """
    weights = {term: idf(stats.size, frequency) for term, frequency in stats.frequencies.items()}
    signs = {}
    for row, found in passages.items():
        told = {} if row in read else stats.counts.get(row, {})
        words = [_words(one, stats, weights, row, told) for one in found]
        signs[row] = list(zip(words, cosines_of(read_near if row in read else near, row, len(found)), strict=True))
    return signs


def answers(
    query: Query,
    stats: TermStats,
    passages: Mapping[int, Sequence[PassageTerms]],
    read: Collection[int],
    signs: Signs,
) -> Answers:
    """The score of every passage (0..1), of the values that `measure` returns for it; best first in each row."""
    high = most(stats)
    asks_since = bool(_SINCE.search(query.topic))
    names = _rare_names(query.topic, stats)
    keyword, semantic = query.weights.get("keyword"), query.weights.get("semantic")

    def scored(one: PassageTerms, is_told: bool, words: float, cosine: float) -> Scored:
        weight = FORM_WEIGHTS.get(one.form, 1.0)
        lexical = TOLD_LEXICAL_SHARE if is_told else LEXICAL_SHARE
        lexical = 1.0 if math.isnan(cosine) else lexical
        why = {"words": weight * (lexical if keyword is None else keyword) * words / high}
        if not math.isnan(cosine):
            share = 1 - lexical if semantic is None else semantic
            why["meaning"] = weight * share * closeness(cosine)
        if asks_since and one.is_versioned:
            why["since"] = SINCE_WEIGHT
        if names and one.counts and (exact := sum(share for name, share in names.items() if name in one.counts)):
            why["exact"] = EXACT_WEIGHT * exact
        return Scored(one.n, sum(why.values()), why, one.form)

    best_first = {}
    for row, found in passages.items():
        every = [scored(one, row not in read, *sign) for one, sign in zip(found, signs[row], strict=True)]
        best_first[row] = every if len(every) < 2 else sorted(every, key=lambda one: (-round(one.score, 6), one.n))
    return best_first


def _rare_names(topic: str, stats: TermStats) -> dict[str, float]:
    """The names in the topic that stand in few memories, each with its share."""
    most = max(RARE, RARE_SHARE * stats.size)
    known = {name: stats.frequencies.get(name, 0) for name in exact_terms(topic)}
    rare = {name: idf(stats.size, n) for name, n in known.items() if 0 < n <= most}
    return {name: weight / sum(rare.values()) for name, weight in rare.items()}


def _words(
    one: PassageTerms,
    stats: TermStats,
    weights: Mapping[str, float],
    row: int,
    told: Mapping[str, Sequence[int]],
) -> float:
    """BM25F over the passage with its heading and, where its memory was `told`, the other fields of that. `weights` are those
    of the terms."""
    counts = {} if one.form == CONTEXT else told
    if not counts and not one.counts:
        return 0.0
    own = 1 / (1 - B + B * one.length / LENGTH)
    norms = _norms(stats, row, one.form) if counts else ()
    score = 0.0
    for term, weight in weights.items():
        above, inside = one.counts.get(term, _NO_TERM)
        found = own * (above + inside)
        if term in counts:
            found += weighed(counts[term], norms)
        if found:
            score += weight * saturated(found, K1)
    return score


def _norms(stats: TermStats, row: int, form: str) -> list[float]:
    """What one occurrence in each field of a memory counts for a passage of it of this form, which is none of its own."""
    own = (_RAW_FIELD, _CONTENT_FIELD if form == CONTENT else _RAW_FIELD)
    return [
        0.0 if field in own else weight / (1 - B + B * length / common)
        for field, (weight, length, common) in enumerate(zip(FIELD_WEIGHTS, stats.lengths[row], LENGTHS, strict=True))
    ]


def cosines_of(near: Near, row: int, count: int) -> list[float]:
    """How near each of the `count` passages of a row is to the topic; NaN where it has no vector."""
    if not near:
        return [math.nan] * count
    parts = [[share * cosine for cosine in nearness.of(row, count)] for share, nearness in near]
    return parts[0] if len(parts) == 1 else [sum(several) for several in zip(*parts, strict=True)]
