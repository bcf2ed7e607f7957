"""How well single passages answer: words and meaning on one scale for documents, messages and changes alike.

Every number was chosen on measured ground: see bench/README.md.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from memcli.model.analysis import exact_terms
from memcli.model.passages import CONTENT, HUNK, MARKUP, MESSAGE
from memcli.model.recall import FIELDS, Nearness, PassageTerms, TermStats
from memcli.ranking.lexical import FIELD_WEIGHTS, idf, saturated

FORM_WEIGHTS: Mapping[str, float] = {HUNK: 0.55, MESSAGE: 0.8, MARKUP: 0.6}
"""What a passage of a form counts beside one of prose: at equal words a document answers, a hunk only shows."""
LEXICAL_SHARE = 0.3
TOLD_LEXICAL_SHARE = 0.5
"""The share of words in the score of a passage, 0..1; the rest is meaning. A memory that was told in a few words, without
a heading above it, is found by them."""
K1, B = 1.2, 0.75
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
    """A passage by its number, its score, 0..1, and the parts that the score is the sum of."""

    n: int
    score: float
    why: Mapping[str, float]


Near = Sequence[tuple[float, Nearness]]
"""The nearness of all passages to the topic, in parts with their shares."""

Answers = Mapping[int, Sequence[Scored]]
"""For each row its passages, best first."""


def answers(
    topic: str,
    stats: TermStats,
    passages: Mapping[int, Sequence[PassageTerms]],
    length: float,
    near: Near,
    weights: Mapping[str, float],
) -> Answers:
    """The score of every passage. `length` is that of a passage in the mean, in terms; `near` the
    nearness to the topic, in parts with their shares, none without an embedder; `weights` are those of the query.
    """
    words = {
        (row, n): _words(one, stats, row, length) for row, found in passages.items() for n, one in enumerate(found)
    }
    cosines = {place: cosine_of(near, *place) for place in words} if near else {}
    known = [cosine for cosine in cosines.values() if not math.isnan(cosine)]
    high, nearest, farthest = max(words.values(), default=0.0) or 1.0, max(known, default=0.0), min([0.0, *known])
    asks_since = bool(_SINCE.search(topic))
    names = _rare_names(topic, stats)
    scored: dict[int, list[Scored]] = {row: [] for row in passages}
    for (row, n), score in words.items():
        one = passages[row][n]
        cosine = cosines.get((row, n), math.nan)
        weight = FORM_WEIGHTS.get(one.form, 1.0)
        lexical = LEXICAL_SHARE if one.is_headed else TOLD_LEXICAL_SHARE
        lexical = 1.0 if math.isnan(cosine) else lexical
        why = {"words": weight * weights.get("keyword", lexical) * score / high}
        if not math.isnan(cosine):
            meaning = (cosine - farthest) / max(nearest - farthest, 1e-9)
            why["meaning"] = weight * weights.get("semantic", 1 - lexical) * meaning
        if asks_since and one.is_versioned:
            why["since"] = SINCE_WEIGHT
        if names and (exact := sum(weight for name, weight in names.items() if name in one.counts)):
            why["exact"] = EXACT_WEIGHT * exact
        scored[row].append(Scored(one.n, sum(why.values()), why))
    return {row: sorted(found, key=lambda one: (-round(one.score, 6), one.n)) for row, found in scored.items()}


def _rare_names(topic: str, stats: TermStats) -> dict[str, float]:
    """The names in the topic that stand in few memories, each with its share."""
    most = max(RARE, RARE_SHARE * stats.size)
    known = {name: stats.frequencies.get(name, 0) for name in exact_terms(topic)}
    rare = {name: idf(stats.size, n) for name, n in known.items() if 0 < n <= most}
    return {name: weight / sum(rare.values()) for name, weight in rare.items()}


def _words(one: PassageTerms, stats: TermStats, row: int, length: float) -> float:
    """BM25F over the passage with its heading or, where it has none, the other fields of its memory."""
    counts, lengths = stats.counts.get(row, {}), stats.lengths.get(row)
    if not counts and not one.counts:
        return 0.0
    own = 1 / (1 - B + B * one.length / length) if length else 0.0
    others = [
        (field, weight / (1 - B + B * lengths[field] / stats.averages[field]))
        for field, weight in enumerate(FIELD_WEIGHTS)
        if lengths and stats.averages[field] and field != _RAW_FIELD and (field, one.form) != (_CONTENT_FIELD, CONTENT)
    ]
    score = 0.0
    for term, frequency in stats.frequencies.items():
        above, inside = one.counts.get(term, _NO_TERM)
        found = own * (above + inside)
        if not one.is_headed and term in counts:
            found += sum(counts[term][field] * norm for field, norm in others)
        if found:
            score += idf(stats.size, frequency) * saturated(found, K1)
    return score


def cosine_of(near: Near, row: int, n: int) -> float:
    """How near a passage of a row is to the topic; NaN where it has no vector."""
    return sum(share * nearness.of(row, n) for share, nearness in near)
