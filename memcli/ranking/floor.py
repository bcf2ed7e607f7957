"""Abstention: how much must speak for a space before it answers at all.

The evidence for a question is the best share of its words (by weight) that one memory has, plus the best cosine
that one memory comes to. Neither alone tells an answer from noise: a cosine of 0.4 is much in a space of ten and
little in one of ten thousand, and rare words meet by chance. How the numbers were found: bench/README.md.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence

from memcli.model.analysis import terms
from memcli.model.recall import Evidence, Nearness, PassageTerms, TermStats
from memcli.ranking.lexical import idf
from memcli.ranking.mentions import is_calendar_word

COSINE_FLOOR = 0.4
"""Meaning alone is enough from here on, in a large space."""
EVIDENCE_FLOOR = 0.57
"""Words and meaning together are enough from here on, in a large space."""
STRANGER_FLOOR = 0.855
"""The same, for a question that names somebody or something that the space has never heard of."""
WORDS_FLOOR = 0.33
"""Without an embedder: the share of the question's words that one memory must have."""

PASSAGE_FLOOR = 0.61
"""The same for the best passage of documents and changes, where words, that passage and the best of all are summed."""
PASSAGE_WORDS, PASSAGE_NEAREST = 0.75, 0.5
UNKNOWN_WORD, MOST_UNKNOWN = 0.05, 4
"""What is taken away for a word that stands nowhere, and for how many at most."""

LONG_TEXT = 300
"""From this many terms on, words may have met by chance."""

SMALL = 10
"""In fewer memories than this nobody can tell which words are rare: they weigh as in so many."""

# The best of many random cosines grows with the logarithm of their number: the floor of a small space is lower. That of
# a very small one was found apart, for its few memories are likely to be of one subject.
_COSINE_OF_ONE = 0.114
_COSINE_PER_LOG = 0.0456
_LEAST_COSINE = 0.25
_NEVER = 2.0  # above any cosine
_CAPITALIZED = re.compile(r"(?<![.?!:\"'(]\s)(?<=\s)[A-Z][\w'-]*")


def coverage(stats: TermStats) -> dict[int, float]:
    """The share of the question's weight that stands in each row, 0..1; words that the space lacks weigh most.

    In a text of thousands of words any word may stand by chance: there a share counts for less.
    """
    weights = {term: idf(max(stats.size, SMALL), n) for term, n in stats.frequencies.items()}
    total = sum(weights.values())
    if not total:
        return dict.fromkeys(stats.counts, 0.0)
    shares = {row: sum(weights[t] for t in weights if t in counts) / total for row, counts in stats.counts.items()}
    return {
        row: share * min(1.0, math.sqrt(LONG_TEXT / max(1, sum(stats.lengths[row])))) for row, share in shares.items()
    }


def judge(words: float, cosine: float | None, size: int, has_stranger: bool) -> Evidence:
    """The best coverage and the best cosine (None: no embedder) of a space of `size`, with the floors for them."""
    if cosine is None:
        return Evidence(words, None, _NEVER, WORDS_FLOOR)
    scale = _scale(size)
    if has_stranger:
        return Evidence(words, cosine, _NEVER, STRANGER_FLOOR * scale)
    return Evidence(words, cosine, COSINE_FLOOR * scale, EVIDENCE_FLOOR * scale)


def judge_passages(
    stats: TermStats, cut: Mapping[int, Sequence[PassageTerms]], near: Nearness, cosine: float
) -> Evidence:
    """The evidence of a space with documents or changes, from its best passage: the share of the words that stands there
    and its cosine, the best `cosine` of all, less something for each word that the space has never heard of."""
    weights = {term: idf(max(stats.size, SMALL), n) for term, n in stats.frequencies.items()}
    total = sum(weights.values()) or 1.0
    best = (0.0, 0.0)
    for row, passages in cut.items():
        for place, one in enumerate(passages):
            own = near.of(row, place)
            share = sum(weights[term] for term in one.counts) / total
            best = max(best, (share, 0.0 if math.isnan(own) else own), key=lambda pair: (round(sum(pair), 6), pair))
    unknown = min(MOST_UNKNOWN, sum(not n for n in stats.frequencies.values()))
    words = PASSAGE_WORDS * best[0] + PASSAGE_NEAREST * cosine - UNKNOWN_WORD * unknown
    return Evidence(words, best[1], _NEVER, PASSAGE_FLOOR * _scale(stats.size))


def _scale(size: int) -> float:
    """How much lower the floors of a small space are."""
    chance = max(_LEAST_COSINE, _COSINE_OF_ONE + _COSINE_PER_LOG * math.log(max(size, 1)))
    return min(1.0, chance / COSINE_FLOOR)


def has_stranger(question: str, frequencies: Mapping[str, int]) -> bool:
    """Whether the question names, with a capital letter inside a sentence, what the space never mentions."""
    for match in _CAPITALIZED.finditer(question):
        forms = terms(match[0])
        if forms and not is_calendar_word(match[0]) and not any(frequencies.get(form) for form in forms):
            return True
    return False
