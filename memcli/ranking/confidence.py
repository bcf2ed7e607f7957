"""Confidence: the probability that what a memory shows answers the question.

A logistic regression over a dozen signals of the question and the memory, with weights of its own for each form of text,
for questions and for the prompts of an agent (which ask for nothing), and for passages without a vector. The weights are
data (`confidence.json`), fitted by `tools/fit_confidence.py` to questions and prompts whose answers are known; how well
they are calibrated: bench/README.md.
"""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Mapping, Sequence
from functools import cache

from memcli.model.recall import Entry, Hit, PassageTerms, TermStats
from memcli.ranking.lexical import CODE, coverage, style_of, word_weights
from memcli.record import NamedTuple
from memcli.text.passages import MESSAGE
from memcli.text.words import DAY_NUMBERS, MONTH_NUMBERS, exact_terms, language, terms

NEIGHBOUR = 50
"""The memory by whose cosine those of the others are measured: the so many-th nearest of the space."""
HALF_SMALL = 100
"""A space of so many memories is half as small as an empty one."""
FORMS = ("authored", "document", "message", "change")
"""Each has weights of its own."""

_CAPITALIZED = re.compile(r"(?<![.?!:\"'(]\s)(?<=\s)[A-Z][\w'-]*")
_ASKS = re.compile(
    r"[?？]|[吗呢]\W*$|か[。\s]*$|^\W*(?:who|what|when|where|why|how|which|whose|is|are|was|were|do|does|did|can|could|should|has|have)\b",
    re.IGNORECASE,
)


class Signals(NamedTuple):
    """What is known of a question and one memory that was found for it.

    `passage`: the share (0..1) of the question's words, by weight, in its best passage with the heading, and in what was
    written down as a whole, with its path and tags; `strange`: the share of words that the space lacks; `stranger`: a name among them (0 or 1);
    `cosine`: that of the memory with the question, `above`: how much it exceeds that of the 50th nearest memory (both 0
    without vectors); `exact`: the share of the names in the question (identifiers, versions, files) that the memory
    lacks; `score`: that of the ranking, `relative`: the same over the best score; `lead`: how much, as a share of it, the
    best score exceeds the fifth; `asks`: the question has the form of one (0 or 1); `length`: the logarithm of the number
    of its terms; `small`: 1 in an empty space, 1/2 in one of a hundred memories, where fewer are near by chance.
    """

    passage: float
    strange: float
    stranger: float
    cosine: float
    above: float
    exact: float
    score: float
    relative: float
    lead: float
    asks: float
    length: float
    small: float
    both: float
    """The product of `passage` and `cosine`: words and meaning agree."""


def form_of(entry: Entry, passage: PassageTerms | None) -> str:
    """The one of FORMS that a memory has, by its best passage."""
    if not entry.is_read:
        return "authored"
    if passage is not None and passage.form == MESSAGE:
        return "message"
    return "change" if style_of(entry) == CODE else "document"


class QuestionSignals:
    """Measures the signals of one question in one space. `cosines` are by row, `neighbour` is the cosine of the 50th nearest."""

    def __init__(self, topic: str, stats: TermStats, cosines: Mapping[int, float], neighbour: float) -> None:
        self._stats, self._cosines, self._neighbour = stats, cosines, neighbour
        self._weights = word_weights(stats)
        self._total = sum(self._weights.values()) or 1.0
        self._covered = coverage(stats)
        unknown = sum(self._weights[term] for term, n in stats.frequencies.items() if not n)
        self._strange = unknown / self._total
        self._stranger = float(has_stranger(topic, stats.frequencies))
        self._names = exact_terms(topic)
        self._asks = float(bool(_ASKS.search(topic)))
        self._length = math.log1p(len(stats.frequencies))
        self._small = smallness(stats.size)

    def of(
        self, row: int, passage: PassageTerms | None, score: float, best: float, fifth: float, *, is_read: bool = False
    ) -> Signals:
        """The signals of a row with this best passage and this score, among scores of which these are the best and the
        fifth. Of what was read from a document or a change only the passage counts."""
        inside = 0.0 if is_read and passage else self._covered.get(row, 0.0)
        if passage:
            inside = max(inside, sum(self._weights.get(term, 0.0) for term in passage.counts) / self._total)
        found = self._stats.counts.get(row, {})
        lacking = [name for name in self._names if name not in found and not (passage and name in passage.counts)]
        cosine = self._cosines.get(row, 0.0)
        return Signals(
            inside, self._strange, self._stranger, cosine, cosine - self._neighbour if cosine else 0.0,
            len(lacking) / len(self._names) if self._names else 0.0, score, score / best if best > 0 else 0.0,
            (best - fifth) / best if best > 0 else 0.0, self._asks, self._length, self._small, inside * cosine,
        )  # fmt: skip

    def has_vector(self, row: int) -> bool:
        """Whether the cosine of a row is known."""
        return row in self._cosines


@cache
def _weights() -> Mapping[str, Mapping[str, Sequence[float]]]:
    """By use ("question", "prompt", each also with " by words"), and by form: a weight for each of Signals, and the constant.
    By "calibration" and use: a weight for each of Evidence, and the constant."""
    with open(os.path.join(os.path.dirname(__file__), "confidence.json"), "rb") as file:
        found: Mapping[str, Mapping[str, Sequence[float]]] = json.load(file)
    return found


def probability(signals: Signals, form: str, *, is_prompt: bool, by_meaning: bool) -> float:
    """The probability (0..1) that a memory of this form with these signals answers a question or serves a prompt.
    `by_meaning`: it has a vector."""
    use = ("prompt" if is_prompt else "question") + ("" if by_meaning else " by words")
    *weights, constant = _weights()[use][form]
    return 1 / (1 + math.exp(-constant - sum(w * x for w, x in zip(weights, signals, strict=True))))


class Evidence(NamedTuple):
    """What the first hits of a ranking show together of whether one of them answers.

    `best`: the logit of the best of their probabilities; `cosine`, `both` and `score`: by how much the greatest of these
    signals exceeds the fifth greatest: what answers stands out; `passage`: its mean over the first three; the others are
    those of the question, as in Signals.
    """

    best: float
    cosine: float
    both: float
    score: float
    passage: float
    strange: float
    lead: float
    asks: float
    length: float
    small: float


def evidence_of(probabilities: Sequence[float], signals: Sequence[Signals]) -> Evidence:
    """The evidence in one or more hits, best first, by their probabilities and their signals."""
    best = min(max(*probabilities, 1e-6), 1 - 1e-6)

    def spread(values: Sequence[float]) -> float:
        ordered = sorted(values, reverse=True)
        return ordered[0] - ordered[:5][-1]

    first, top = signals[0], signals[:3]
    return Evidence(
        math.log(best / (1 - best)), spread([one.cosine for one in signals]), spread([one.both for one in signals]),
        spread([one.score for one in signals]), sum(one.passage for one in top) / len(top), first.strange, first.lead,
        first.asks, first.length, first.small,
    )  # fmt: skip


def calibrated(evidence: Evidence, *, by_meaning: bool) -> float:
    """The probability (0..1) that one of the hits with this evidence answers the question. `by_meaning`: they have vectors."""
    *weights, constant = _weights()["calibration"]["question" if by_meaning else "question by words"]
    return 1 / (1 + math.exp(-constant - sum(w * x for w, x in zip(weights, evidence, strict=True))))


def smallness(size: int) -> float:
    """1 for an empty space, 1/2 for one of HALF_SMALL memories, and less for a larger one."""
    return 1 / (1 + size / HALF_SMALL)


def has_stranger(question: str, frequencies: Mapping[str, int]) -> bool:
    """Whether the question names, with a capital letter inside a sentence, what the space never mentions."""
    if language(question) == "german":  # whose nouns all have one
        return False
    for match in _CAPITALIZED.finditer(question):
        forms, word = terms(match[0]), match[0].lower().removesuffix("'s")
        is_date = word in MONTH_NUMBERS or word in DAY_NUMBERS
        if forms and not is_date and not any(frequencies.get(form) for form in forms):
            return True
    return False


def best_and_fifth(hits: Sequence[Hit]) -> tuple[float, float]:
    """The best score of the hits and the fifth, 0 where there is none."""
    scores = sorted((hit.score for hit in hits), reverse=True)
    return (scores[0] if scores else 0.0), (scores[4] if len(scores) > 4 else 0.0)
