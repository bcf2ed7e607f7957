"""Words: styles of text, and BM25F, which scores how well a memory, or a whole group, answers the words of a question.

S. Robertson, H. Zaragoza: "The Probabilistic Relevance Framework: BM25 and Beyond", 2009, section 3.6;
the inverse document frequency is that of Lucene, which is never negative. The numbers of each style were chosen by
measurement: see bench/README.md.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence

from memcli.model.memory import TALK_KINDS
from memcli.model.recall import Entry, RecordedGroup, TermStats
from memcli.record import Record


class Style(Record):
    """How text of one style is scored.

    `k1`: how soon more of the same word stops counting; `b`: how much long fields are discounted, 0..1.
    `lexical`: the share of words in the score of a memory, 0..1; the rest is meaning.
    `neighbours`: the share of the score of the memory before and after, within the group.
    `group`, `group_words`: the weights, beside 1 for the memory itself, of the best memories of its group and of
    how the group as a whole answers in words.
    `tail`: what scores less, where 1 answers well, and does not reach its own floor does not match.
    """

    k1: float
    b: float
    lexical: float
    neighbours: float
    group: float
    group_words: float
    tail: float
    by_passage: bool = False
    """Whether a memory says as much as its best passage, rather than as a whole."""
    rank: int = 0
    """Which style leads of two that answer equally well: the higher."""

    __eq__ = object.__eq__  # there is one of each, and they are compared for every row
    __hash__ = object.__hash__


TALK = Style(k1=0.6, b=0.3, lexical=0.42, neighbours=0.1, group=0.25, group_words=0.25, tail=0.25, rank=1)
PROSE = Style(
    k1=1.2, b=0.75, lexical=0.5, neighbours=0.1, group=0.25, group_words=0.25, tail=0.4, by_passage=True, rank=2
)
CODE = Style(k1=1.5, b=0.75, lexical=0.5, neighbours=0.0, group=1.3, group_words=1.5, tail=0.22)

_BY_KIND: Mapping[str, Style] = {**dict.fromkeys(TALK_KINDS, TALK), "diff": CODE, "code": CODE, "config": CODE}


def style_of(entry: Entry) -> Style:
    """The style of the text of a memory. A log in which nobody speaks, a changelog, is prose."""
    style = _BY_KIND.get(entry.kind, PROSE)
    return PROSE if style == TALK and not (entry.group or entry.speaker) else style


FIELD_WEIGHTS = (2.0, 2.0, 0.5, 1.0, 1.0)
"""What one occurrence in each of FIELDS counts: path, tags, summary, raw, content."""

LENGTHS = (5, 5, 20, 40, 20)
"""How many terms each of FIELDS has in a memory of common length. What the memories beside it have in the mean would make
the score of each depend on all others."""

BEST = 0.7
"""What a text that answers well comes to, for each unit of the weight of the question's words: few have them all."""

LONG_TEXT = 300
"""From this many terms on, words may have met by chance."""
RARE = 100
"""A word in as many memories as this tells little of what a question is about. Counted in memories that have it and not as a
share of the space, a word weighs the same whatever else is stored."""

GROUP_K1 = 1.5
GROUP_B = 0.75


def bm25f(stats: TermStats, styles: Mapping[int, Style]) -> dict[int, float]:
    """The score of each row of `stats`; `styles` gives the style of each. Rows without any of the words are left out."""
    weights = {term: idf(stats.size, n) for term, n in stats.frequencies.items() if n}
    scores: dict[int, float] = {}
    for row, counts in stats.counts.items():
        style = styles[row]
        norms = [
            weight / (1 - style.b + style.b * length / common)
            for weight, length, common in zip(FIELD_WEIGHTS, stats.lengths[row], LENGTHS, strict=True)
        ]
        score = 0.0
        for term in stats.frequencies:
            if term in counts:
                score += weights[term] * saturated(weighed(counts[term], norms), style.k1)
        if counts:
            scores[row] = score
    return scores


def most(stats: TermStats) -> float:
    """About what the words of a text come to that answers well: the same whatever the texts of the space say."""
    return BEST * sum(idf(stats.size, n) for n in stats.frequencies.values()) or 1.0


def group_bm25(stats: TermStats, groups: Mapping[str, RecordedGroup]) -> dict[str, float]:
    """The score of each group, as if it were one text: a commit answers with all its files, a session with all turns."""
    totals: dict[str, dict[str, float]] = {}
    for name, group in groups.items():
        total: dict[str, float] = {}
        for row in group.rows:
            if row in stats.counts:
                for term, counts in stats.counts[row].items():
                    total[term] = total.get(term, 0.0) + weighed(counts, FIELD_WEIGHTS)
        totals[name] = total
    frequencies = Counter(term for total in totals.values() for term in total)
    weights = {term: idf(len(groups), frequencies[term]) for term in stats.frequencies}
    average = sum(group.length for group in groups.values()) / max(1, len(groups))
    scores = {}
    for name, total in totals.items():
        norm = 1 - GROUP_B + GROUP_B * groups[name].length / max(average, 1.0)
        scores[name] = sum(
            weights[term] * saturated(total[term] / norm, GROUP_K1) for term in stats.frequencies if term in total
        )
    return scores


def weighed(counts: Sequence[int], weights: Sequence[float]) -> float:
    """What occurrences in each of FIELDS count together."""
    found = 0.0
    for n, weight in zip(counts, weights, strict=True):
        if n:
            found += n * weight
    return found


def idf(size: int, frequency: int) -> float:
    """The weight of a term that stands in `frequency` of `size` texts."""
    return math.log(1 + (size - frequency + 0.5) / (frequency + 0.5))


def saturated(found: float, k1: float) -> float:
    """How much `found` occurrences of a term count: more and more of them add less and less."""
    return found * (k1 + 1) / (found + k1)


def word_weights(stats: TermStats) -> dict[str, float]:
    """What each term of the question weighs: words that the space lacks most."""
    return {term: math.log(1 + RARE / (n + 0.5)) for term, n in stats.frequencies.items()}


def coverage(stats: TermStats) -> dict[int, float]:
    """The share of the question's weight that stands in each row, 0..1; words that the space lacks weigh most.

    In a text of thousands of words any word may stand by chance: there a share counts for less.
    """
    weights = word_weights(stats)
    total = sum(weights.values())
    if not total:
        return dict.fromkeys(stats.counts, 0.0)
    shares = {row: sum(weights[t] for t in weights if t in counts) / total for row, counts in stats.counts.items()}
    return {
        row: share * min(1.0, math.sqrt(LONG_TEXT / max(1, sum(stats.lengths[row])))) for row, share in shares.items()
    }
