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
from memcli.model.passages import HUNK
from memcli.model.recall import Evidence, PassageTerms, TermStats
from memcli.ranking.answers import Near, cosines_of
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

PASSAGE_FLOOR = 0.6
"""What must speak for the best passage of documents and changes; see `judge_passages` for the weights, which were fitted to
questions with and without an answer in stores of 1 to 3,000 memories."""
HUNK_FLOOR = 0.36
"""The same where that is the hunk of a change: code is never as near to a question as prose is."""
JOINT_WEIGHT = 0.65
TERM_WEIGHT, MOST_TERMS = 0.05, 12
UNKNOWN_WEIGHT, MOST_UNKNOWN = 0.045, 4
SIZE_WEIGHT = 0.05

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
    stats: TermStats, cut: Mapping[int, Sequence[PassageTerms]], near: Near, best: tuple[int, int]
) -> Evidence | None:
    """The evidence of a space with documents or changes; None where the passage that answers `best` has no vector.

    `best` is its row and its place there. What counts is its cosine; the share of the words and the cosine of the passage
    where these two are most; how many words the question has, for few are soon found together; less something for each
    word that the space has never heard of, and for the chance of many passages.
    """
    cosine = cosines_of(near, best[0], best[1] + 1)[best[1]]
    if math.isnan(cosine):
        return None
    weights = {term: idf(max(stats.size, SMALL), n) for term, n in stats.frequencies.items()}
    total = sum(weights.values()) or 1.0

    joint = max(
        sum([weights[term] for term in one.counts if term in weights]) / total + (0.0 if math.isnan(known) else known)
        for row, passages in cut.items()
        for one, known in zip(passages, near[0][1].of(row, len(passages)), strict=True)
    )
    unknown = sum(not n for n in stats.frequencies.values())
    words = (
        JOINT_WEIGHT * joint
        + TERM_WEIGHT * min(MOST_TERMS, len(weights))
        - UNKNOWN_WEIGHT * min(MOST_UNKNOWN, unknown)
        - SIZE_WEIGHT * math.log(max(1, near[0][1].size))
    )
    is_hunk = cut[best[0]][best[1]].form == HUNK
    return Evidence(words, cosine, _NEVER, HUNK_FLOOR if is_hunk else PASSAGE_FLOOR)


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
