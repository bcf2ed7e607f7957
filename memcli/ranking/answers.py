"""The scores of single passages, and the probability that a memory answers the question.

Words and meaning are on one scale for documents, messages and changes. The cosines of rows are arrays, as of ten thousand rows
only the nearest are read one by one. Every number was chosen by measurement: see bench/README.md.

Confidence is a logistic regression over a dozen signals of the question and the memory, with weights of its own for each form of
text, for questions and for the prompts of an agent (which ask for nothing), and for passages without a vector. The weights are
data (`confidence.json`), fitted by `tools/fit_confidence.py` to questions and prompts whose answers are known; how well
they are calibrated: bench/README.md.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Collection, Mapping, Sequence
from functools import cache
from itertools import pairwise, takewhile

from memcli.model.recall import FIELDS, Entry, Nearness, PassageTerms, Query, RowSet, TermStats
from memcli.ranking.lexical import (
    CODE,
    FIELD_WEIGHTS,
    LENGTHS,
    coverage,
    idf,
    most,
    saturated,
    style_of,
    weighed,
    word_weights,
)
from memcli.record import NamedTuple, Record
from memcli.regex import regex
from memcli.text.passages import CONTENT, CONTEXT, HUNK, MARKUP, MESSAGE
from memcli.text.words import DAY_NUMBERS, MONTH_NUMBERS, exact_terms, language, terms

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Cosines(Record):
    """The cosines of some rows: `rows` is int64 [n], ascending, `values` float64 [n]. Without rows NumPy is not imported."""

    rows: Any = ()
    values: Any = ()

    def among(self, visible: RowSet) -> Cosines:
        """The cosines of the visible rows."""
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
        """The `count` rows with the best cosines, and those that tie with the last one, as row numbers must not decide."""
        if len(self.rows) <= count:
            return [int(row) for row in self.rows]
        import numpy

        last = len(self.rows) - count
        least = round(float(numpy.partition(self.values, last)[last]), 6)
        near = numpy.flatnonzero(self.values >= least - 1e-6)  # a margin, so that only these are rounded
        found = zip(self.rows[near].tolist(), self.values[near].tolist(), strict=True)
        return [row for row, cosine in found if round(cosine, 6) >= least]


NONE = Cosines()

APART, ANSWERS = -0.15, 0.6
"""The cosines of unrelated texts, and of a good answer."""


def closeness(cosine: float) -> float:
    """A cosine on the scale of words: 0 for unrelated texts, 1 for a good answer."""
    return max(0.0, (cosine - APART) / (ANSWERS - APART))


def mixed(near: Sequence[tuple[float, Nearness]]) -> Cosines:
    """The cosine of each row: the weighted sum of those with several texts, each given with its share."""
    (share, first), *others = near
    values = first.best if share == 1 else share * first.best
    for share, other in others:
        values = values + share * other.best
    return Cosines(first.rows, values)


FORM_WEIGHTS: Mapping[str, float] = {HUNK: 0.55, MESSAGE: 0.8, MARKUP: 0.6}
"""The weight of a passage by its form, relative to prose: with equal words a document states what a hunk only implies."""
LEXICAL_SHARE = 0.3
TOLD_LEXICAL_SHARE = 0.5
"""The share of words in the score of a passage, 0..1; the rest is meaning. The second is for memories that were not read from
files: they are short, and found by their words."""
K1, B = 1.2, 0.75
LENGTH = 70
"""The number of terms of a passage of usual length, with its heading."""
SINCE_WEIGHT = 0.15
"""The score of a heading with a version if the topic asks since when."""
# As three numbers `0.28.1` is common, and a commit about just that version ranked far behind; as a whole it is rare.
EXACT_WEIGHT = 0.5
"""The score of a passage with all rare names of the topic: identifiers, versions, options, file names."""
RARE_SHARE, RARE = 0.02, 3
"""A name is rare in at most this share of the memories, or in at most so many."""

_SINCE = regex(
    r"\b(?:since|from|as of|in|until|before|after|by)\s+(?:which|what)\s+(?:version|release)"
    r"|\b(?:which|what)\s+(?:version|release)|\bwhen\s+(?:was|were|did|has|have|is|are)\b|\bhow long (?:has|have)\b|\Awhen\b"
)
_OF_SINCE = ("version", "release", "when", "how long")
"""Each match has one of these: the pattern takes longer to compile than two modules to import."""
_RAW_FIELD, _CONTENT_FIELD = FIELDS.index("raw"), FIELDS.index("content")
_NO_TERM = (0, 0)
_NO_COUNTS: Mapping[str, tuple[int, ...]] = {}


class Scored(NamedTuple):
    """A passage: its number, its score, 0..1, the parts whose sum is the score, and its form."""

    n: int
    score: float
    why: Mapping[str, float]
    form: str


Near = Sequence[tuple[float, Nearness]]
"""The nearness of all passages to each form of the topic, with its share."""

Answers = Mapping[int, Sequence[Scored]]
"""The scored passages of each row, best first."""


Signs = Mapping[int, Sequence[tuple[float, float]]]
"""For each passage of each row its BM25F score by words, and its cosine, NaN without a vector."""


def measure(
    stats: TermStats,
    passages: Mapping[int, Sequence[PassageTerms]],
    read: Collection[int],
    near: Near,
    read_near: Near,
) -> dict[int, list[tuple[float, float]]]:
    """For every passage its BM25F score by words and its cosine with the topic (-1..1, NaN without a vector).

    `read` are the rows of documents and changes; `near`, and for these rows `read_near`, is the nearness to the topic, empty
    without an embedder.
    """
    weights = {term: idf(stats.size, frequency) for term, frequency in stats.frequencies.items()}
    signs = {}
    for row, found in passages.items():
        # A path, tags or a summary may be all that a note says of the matter; a document or a change answers by its
        # passage.
        of_memory = _NO_COUNTS if row in read else stats.counts.get(row, _NO_COUNTS)
        words = [_words(one, stats, weights, row, of_memory) if of_memory or one.counts else 0.0 for one in found]
        signs[row] = list(zip(words, cosines_of(read_near if row in read else near, row, len(found)), strict=True))
    return signs


def answers(
    query: Query,
    stats: TermStats,
    passages: Mapping[int, Sequence[PassageTerms]],
    read: Collection[int],
    signs: Signs,
) -> Answers:
    """The passages of each row, best first, with scores (0..1) from the values in `signs`, which `measure` returns."""
    high = most(stats)
    low = query.topic.lower()
    asks_since = any(word in low for word in _OF_SINCE) and bool(_SINCE.search(low))
    # Names in few memories identify the answer; each counts by its share of their rarity.
    most_rare = max(RARE, RARE_SHARE * stats.size)
    known = {name: stats.frequencies.get(name, 0) for name in exact_terms(query.topic)}
    rare = {name: idf(stats.size, n) for name, n in known.items() if 0 < n <= most_rare}
    names = {name: weight / sum(rare.values()) for name, weight in rare.items()}
    keyword, semantic = query.weights.get("keyword"), query.weights.get("semantic")

    def scored(one: PassageTerms, is_authored: bool, words: float, cosine: float) -> Scored:
        weight = FORM_WEIGHTS.get(one.form, 1.0)
        lexical = TOLD_LEXICAL_SHARE if is_authored else LEXICAL_SHARE
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


def _words(
    one: PassageTerms,
    stats: TermStats,
    weights: Mapping[str, float],
    row: int,
    of_memory: Mapping[str, Sequence[int]],
) -> float:
    """The BM25F score of a passage with its heading, and with the other fields of its memory, if `of_memory` has the counts of
    its terms. `weights` are the weights of the terms."""
    counts = _NO_COUNTS if one.form == CONTEXT else of_memory
    own = 1 / (1 - B + B * one.length / LENGTH)
    norms = list[float]()
    if counts:
        norms = [
            weight / (1 - B + B * length / common)
            for weight, length, common in zip(FIELD_WEIGHTS, stats.lengths[row], LENGTHS, strict=True)
        ]
        # The field that contains the passage is counted by passage, so its other terms have no weight.
        norms[_RAW_FIELD] = 0.0
        if one.form == CONTENT:
            norms[_CONTENT_FIELD] = 0.0
    score = 0.0
    for term, weight in weights.items():
        above, inside = one.counts.get(term, _NO_TERM)
        found = own * (above + inside)
        if term in counts:
            found += weighed(counts[term], norms)
        if found:
            score += weight * saturated(found, K1)
    return score


def cosines_of(near: Near, row: int, count: int) -> list[float]:
    """The cosine of each of the `count` passages of a row with the topic, summed over its forms; NaN without a vector."""
    if not near:
        return [math.nan] * count
    parts = [[share * cosine for cosine in nearness.of(row, count)] for share, nearness in near]
    return parts[0] if len(parts) == 1 else [sum(several) for several in zip(*parts, strict=True)]


NEIGHBOUR = 50
"""Cosines are compared with that of the memory at this rank among the nearest of the space."""
HALF_SMALL = 100
"""The number of memories of a space at which `Signals.small` is 1/2."""
TALK = "talk"
FORMS = ("authored", TALK, "document", "message", "change")
"""The forms of memories, each with its own weights. A turn of a talk shares few words with the question that it answers, and
stands out little from its neighbours."""

_ASKING = frozenset(
    "who what when where why how which whose is are was were do does did can could should has have".split()
)
_ASKS_ELSEWHERE = regex(r"？|[吗呢]\W*$|か[。\s]*$")


class Signals(NamedTuple):
    """The signals of a question and one of its hits.

    `passage`: the share (0..1) of the question's words, by weight, in the best passage with its heading, or for memories not
    read from files in the whole memory, with path and tags, if that is more; `strange`: the share of words that the space lacks;
    `stranger`: whether a name is among them (0 or 1); `cosine`: of the memory with the question; `above`: its difference to the
    cosine of the 50th nearest memory (both 0 without vectors); `exact`: the share of the names in the question (identifiers,
    versions, files) that the memory lacks; `score`: of the ranking; `relative`: the score divided by the best score; `lead`: the
    difference of the best score to the fifth, divided by the best; `asks`: whether the topic has the form of a question (0 or 1);
    `length`: the logarithm of the number of its terms; `small`: 1 in an empty space, 1/2 in one of a hundred memories, where
    fewer are near by chance.
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
    """The product of `passage` and `cosine`, high if words and meaning agree."""


def form_of(entry: Entry, passage: PassageTerms | None) -> str:
    """The form of a memory, one of FORMS, by its best passage."""
    if not entry.is_read:
        return TALK if entry.speaker else "authored"
    if passage is not None and passage.form == MESSAGE:
        return "message"
    return "change" if style_of(entry) == CODE else "document"


class QuestionSignals:
    """Measures the signals of one question in one space. `cosines` are by row, `neighbour` is the cosine of the 50th nearest,
    `speakers` are names that the space knows although no text has them."""

    def __init__(
        self,
        topic: str,
        stats: TermStats,
        cosines: Mapping[int, float],
        neighbour: float,
        speakers: Collection[str] = (),
    ) -> None:
        self._stats, self._cosines, self._neighbour = stats, cosines, neighbour
        self._weights = word_weights(stats)
        self._total = sum(self._weights.values()) or 1.0
        self._covered = coverage(stats)
        spoken = {term for speaker in speakers for term in terms(speaker)}
        known = {term: n or int(term in spoken) for term, n in stats.frequencies.items()}
        self._strange = sum(self._weights[term] for term, n in known.items() if not n) / self._total
        self._stranger = float(has_stranger(topic, known))
        self._names = exact_terms(topic)
        self._asks = float(asks(topic))
        self._length = math.log1p(len(stats.frequencies))
        self._small = 1 / (1 + stats.size / HALF_SMALL)

    def of(
        self, row: int, passage: PassageTerms | None, score: float, best: float, fifth: float, *, is_read: bool = False
    ) -> Signals:
        """The signals of a row, given its best passage and its score, and the best and the fifth score of the ranking. If the
        memory was read from a document or a change, only the passage counts."""
        inside = 0.0 if is_read and passage else self._covered.get(row, 0.0)
        if passage:
            # A compound such as `dry-run` that stands in a heading alone has no weight: `without_absent` leaves it to
            # its parts.
            inside = max(inside, sum(self._weights.get(term, 0.0) for term in passage.counts) / self._total)
        found = self._stats.counts.get(row, {})
        lacking = [name for name in self._names if name not in found and not (passage and name in passage.counts)]
        cosine = self._cosines.get(row, 0.0)
        return Signals(
            inside, self._strange, self._stranger, cosine, cosine - self._neighbour if cosine else 0.0,
            len(lacking) / len(self._names) if self._names else 0.0, score, score / best if best > 0 else 0.0,
            (best - fifth) / best if best > 0 else 0.0, self._asks, self._length, self._small, inside * cosine,
        )  # fmt: skip


@cache
def _weights() -> Mapping[str, Mapping[str, Sequence[float]]]:
    """The weights in `confidence.json`: by use ("question", "prompt", each also with " by words") and form, the weights of
    Signals and the constant; by "calibration" and use ("question", "talk", also with " by words"), the weights of Evidence and
    the constant."""
    # Read by `json`: a recall does not import `orjson`.
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
    """Features of the first hits of a ranking for the probability that one of them answers.

    `best`: the logit of the best of their probabilities; `cosine`, `both` and `score`: the difference of the greatest and the
    fifth greatest of these signals, as an answer stands out; `passage`: the mean of this signal over the first three; the
    others are signals of the question.
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
    """The evidence of one or more hits, best first, from their probabilities and their signals."""
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


def calibrated(evidence: Evidence, form: str, *, by_meaning: bool) -> float:
    """The probability (0..1) that one of the hits with this evidence answers the question. `form` is that of the first;
    `by_meaning`: they have vectors."""
    use = TALK if form == TALK else "question"
    *weights, constant = _weights()["calibration"][use if by_meaning else f"{use} by words"]
    return 1 / (1 + math.exp(-constant - sum(w * x for w, x in zip(weights, evidence, strict=True))))


def asks(topic: str) -> bool:
    """Whether the topic has the form of a question."""
    if "?" in topic or (not topic.isascii() and _ASKS_ELSEWHERE.search(topic)):
        return True
    words = "".join([c if c.isalnum() or c == "_" else " " for c in topic.lower()]).split()
    return bool(words) and words[0] in _ASKING


def has_stranger(question: str, frequencies: Mapping[str, int]) -> bool:
    """Whether the question has a name, with a capital inside a sentence, that does not occur in the space."""
    if language(question) == "german":  # all nouns have capitals
        return False
    for before, word in pairwise(question.split()):
        if "A" <= word[0] <= "Z" and before[-1] not in ".?!:\"'(":
            name = "".join(takewhile(lambda c: c.isalnum() or c in "_'-", word))
            forms, low = terms(name), name.lower().removesuffix("'s")
            is_date = low in MONTH_NUMBERS or low in DAY_NUMBERS
            if forms and not is_date and not any(frequencies.get(form) for form in forms):
                return True
    return False
