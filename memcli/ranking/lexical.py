"""The components of a score other than meaning: words, dates and speakers in a question, age and use.

BM25F scores a memory, or a whole group, by the words of a question, with the parameters of the style of its text.
S. Robertson, H. Zaragoza: "The Probabilistic Relevance Framework: BM25 and Beyond", 2009, section 3.6;
the inverse document frequency is that of Lucene, which is never negative. The parameters were chosen by
measurement: see bench/README.md.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from memcli.clock import days_between
from memcli.errors import UsageError
from memcli.model.memory import TALK_KINDS
from memcli.model.recall import Entry, Hit, Query, RecordedGroup, TermStats, in_order
from memcli.policy.ageing import familiarity, is_in_season, remaining
from memcli.record import Record
from memcli.text.words import dates


class Style(Record):
    """The parameters of the scoring of text of one style.

    `k1`: the saturation of repeated words; `b`: the discount of long fields, 0..1.
    `lexical`: the share of words in the score of a memory, 0..1; the rest is meaning.
    `neighbours`: the share of the score of the memory before and after, within the group.
    `group`, `group_words`: the weights, relative to 1 for the memory itself, of the best memories of its group and of the
    score of the group as one text.
    `tail`: the least score of a match, where 1 is a good answer, unless it shares enough with the question.
    """

    k1: float
    b: float
    lexical: float
    neighbours: float
    group: float
    group_words: float
    tail: float
    by_passage: bool = False
    """Whether a memory scores as its best passage, rather than as a whole."""
    rank: int = 0
    """The order of styles with equal scores, the highest first."""

    __eq__ = object.__eq__  # identity is enough for three constants, and faster: they are compared for every row
    __hash__ = object.__hash__


# The tail belongs to the style: one that was fitted to prose cost a space of changes one answer in thirty.
TALK = Style(k1=0.6, b=0.3, lexical=0.42, neighbours=0.1, group=0.25, group_words=0.25, tail=0.25, rank=1)
PROSE = Style(
    k1=1.2, b=0.75, lexical=0.5, neighbours=0.1, group=0.25, group_words=0.25, tail=0.4, by_passage=True, rank=2
)
CODE = Style(k1=1.5, b=0.75, lexical=0.5, neighbours=0.0, group=1.3, group_words=1.5, tail=0.22)

_BY_KIND: Mapping[str, Style] = {**dict.fromkeys(TALK_KINDS, TALK), "diff": CODE, "code": CODE, "config": CODE}


def style_of(entry: Entry) -> Style:
    """The style of a memory. One of a kind of talk without group and speaker, as a changelog, is prose."""
    style = _BY_KIND.get(entry.kind, PROSE)
    return PROSE if style == TALK and not (entry.group or entry.speaker) else style


FIELD_WEIGHTS = (2.0, 2.0, 0.5, 1.0, 1.0)
"""The weight of an occurrence in each of FIELDS: path, tags, summary, raw, content."""

LENGTHS = (5, 5, 20, 40, 20)
"""The number of terms of each of FIELDS in a memory of usual length. A constant, as the mean of the space would make each score
depend on all other memories."""

BEST = 0.7
"""The score of a good answer for each unit of the weight of the question's words: few texts have all of them."""

LONG_TEXT = 300
"""In texts of more terms, words may occur together by chance."""
RARE = 100
"""A word in so many memories has little weight. It is a number of memories, not a share of the space, so that the weight does not
depend on the size of the space."""

GROUP_K1 = 1.5
GROUP_B = 0.75


def bm25f(stats: TermStats, styles: Mapping[int, Style]) -> dict[int, float]:
    """The score of each row that has a style; rows without any of the words are left out. Hidden rows have no style, and so do
    not influence the scale."""
    weights = {term: idf(stats.size, n) for term, n in stats.frequencies.items() if n}
    scores: dict[int, float] = {}
    for row, counts in stats.counts.items():
        if row not in styles:
            continue
        style = styles[row]
        norms = [
            weight / (1 - style.b + style.b * length / common)
            for weight, length, common in zip(FIELD_WEIGHTS, stats.lengths[row], LENGTHS, strict=True)
        ]
        score = 0.0
        # In the order of the query, as the sum of floats depends on it.
        for term in stats.frequencies:
            if term in counts:
                score += weights[term] * saturated(weighed(counts[term], norms), style.k1)
        if counts:
            scores[row] = score
    return scores


def most(stats: TermStats) -> float:
    """The approximate score by words of a good answer, which does not depend on the texts of the space."""
    return BEST * sum(idf(stats.size, n) for n in stats.frequencies.values()) or 1.0


def group_bm25(stats: TermStats, groups: Mapping[str, RecordedGroup]) -> dict[str, float]:
    """The score of each group, as if it were one text: a commit answers with all its files, a session with all turns."""
    # The words of a commit are spread over its files, so the group as one text gains more than any weights of its parts.
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
    """The weighted sum of the occurrences in each of FIELDS."""
    found = 0.0
    for n, weight in zip(counts, weights, strict=True):
        if n:
            found += n * weight
    return found


def idf(size: int, frequency: int) -> float:
    """The inverse document frequency of a term in `frequency` of `size` texts."""
    return math.log(1 + (size - frequency + 0.5) / (frequency + 0.5))


def saturated(found: float, k1: float) -> float:
    """The saturated count of `found` occurrences of a term: each further one adds less."""
    return found * (k1 + 1) / (found + k1)


def word_weights(stats: TermStats) -> dict[str, float]:
    """The weight of each term of the question, most for terms that the space lacks."""
    return {term: math.log(1 + RARE / (n + 0.5)) for term, n in stats.frequencies.items()}


def coverage(stats: TermStats) -> dict[int, float]:
    """The share of the question's terms in each row, by their weights, 0..1; terms that the space lacks weigh most.

    In a text of thousands of words any term may occur by chance, so its share is discounted.
    """
    weights = word_weights(stats)
    total = sum(weights.values())
    if not total:
        return dict.fromkeys(stats.counts, 0.0)
    shares = {row: sum(weights[t] for t in weights if t in counts) / total for row, counts in stats.counts.items()}
    return {
        row: share * min(1.0, math.sqrt(LONG_TEXT / max(1, sum(stats.lengths[row])))) for row, share in shares.items()
    }


DATE_WEIGHT = 0.35
PERIOD_WEIGHT = 0.35
"""The score of a date within the period in the question."""
SPEAKER_WEIGHT = 0.1
RECENCY_WEIGHT = 0.01
IMPORTANCE_WEIGHT = 0.01
RELEVANCE_WEIGHT = 0.02
STATED_SHARE = 0.3
"""The bonus of memories that were stated explicitly, as a share of the score, over code, diffs and logs with the same text."""
STATED_KINDS = frozenset(
    ("decision", "fact", "preference", "procedure", "correction", "negative", "constraint", "goal")
)
_RELEVANCE: Mapping[str, float] = {"high": 1.0, "medium": 0.5, "low": 0.0}

COMPONENTS = ("semantic", "keyword", "recency", "importance", "access")
"""The names in `--weights`. A backend ignores those that it has no parts for."""

RECENCY_DAYS = 30.0
PREFERENCE = 0.1
"""The score of a preferred kind or tag, where scores are 0 to about 1."""


def check(query: Query) -> None:
    """Raises UsageError for unknown weights, and for weights or a recency bias out of range."""
    unknown = sorted(query.weights.keys() - set(COMPONENTS))
    if unknown:
        raise UsageError(f"unknown weight {unknown[0]!r}", f"known: {', '.join(COMPONENTS)}")
    for name, weight in query.weights.items():
        if not 0 <= weight < math.inf:
            raise UsageError(f"the weight of {name} is {weight}", "use a number of 0 or more, such as .4")
    if query.recency_bias is not None and not 0 <= query.recency_bias <= 1:
        raise UsageError(f"the recency bias is {query.recency_bias}", "use a number from 0 to 1")


def ordered(hits: Iterable[Hit], query: Query) -> tuple[Hit, ...]:
    """The hits, best first; with a recency bias `b` each score becomes `(1 - b) * score + b * recency * best score`, on the
    scale of the backend.
    """
    found = list(hits)
    bias = query.recency_bias
    if not bias or not found:
        return tuple(in_order(found))
    high = max(hit.score for hit in found)
    biased = []
    for hit in found:
        added = bias * (high * recency(hit.entry.created_at, query.now))
        why = {name: (1 - bias) * part for name, part in hit.why.items()} | {"recency_bias": added}
        biased.append(hit._replace(score=sum(why.values()), why=why))
    return tuple(in_order(biased))


def recency(moment: str, now: str) -> float:
    """`exp(-age / 30 days)`, 1 for a memory recorded now, towards 0 for an old one."""
    return math.exp(-days_between(moment, now) / RECENCY_DAYS)


def preferences(entry: Entry, query: Query) -> dict[str, float]:
    """The parts for a preferred kind and a preferred tag."""
    parts = {}
    if entry.kind in query.prefer_kinds:
        parts["prefer_kind"] = PREFERENCE
    if any(tag in entry.tags for tag in query.prefer_tags):
        parts["prefer_tag"] = PREFERENCE
    return parts


# A share of the score: as a fixed part of a hundredth, confidence did not change rankings, and so feedback had no effect.
CONFIDENCE_SHARE = 0.4
"""The share of its score that a memory of confidence 0 loses; feedback lowers confidence."""
DECAY_SHARE = 0.05
"""The most share of its score that a memory loses without confirmation. Most old statements still hold: the turns of LoCoMo as
facts of their dates have an nDCG@10 of 63.0 without decay, 63.1 with .05, 62.4 with .1 and 61.1 with .2."""
GUESS_SHARE = 0.2
"""The same for a guess."""
SEASON_SHARE = 0.2
"""The share of its score that a memory gains in its season."""
_GUESS = "inferred"
_ALL = 0.999
"""From this remaining share (0..1) on, a memory has no part for decay, as one that was recorded this hour."""


def add_ageing(parts: Mapping[int, dict[str, float]], entries: Mapping[int, Entry], query: Query) -> None:
    """Adds to the parts of each score the losses by doubt and age, and the gains by season and accesses."""
    wanted = query.weights.get("access", 0.0)
    for row, why in parts.items():
        entry = entries[row]
        total = sum(why.values())
        if entry.confidence < 1:
            why["confidence"] = -CONFIDENCE_SHARE * (1 - entry.confidence) * total
        left = remaining(entry.kind, entry.confirmed_at or entry.created_at, query.now)
        if left < _ALL:
            why["importance"] = why.get("importance", 0.0) * left
            share = GUESS_SHARE if entry.kind == _GUESS else DECAY_SHARE
            why["decay"] = -share * entry.confidence * (1 - left) * total
        if entry.season and is_in_season(query.seasons.get(entry.season, entry.season), query.now[:10]):
            why["season"] = SEASON_SHARE * total
        if wanted:
            why["access"] = wanted * familiarity(query.accesses.get(entry.id, 0))


def add_mentions(parts: Mapping[int, dict[str, float]], entries: Mapping[int, Entry], query: Query) -> None:
    """Adds to the parts of each score those for the period, the dates and the speaker in the question."""
    # The dates of a period count as the period, not twice.
    named = dates(query.topic) if query.period is None else []
    names = {entry.speaker for entry in entries.values()} - {""}
    speakers = [name for name in names if re.search(rf"\b{re.escape(name)}\b", query.topic, re.IGNORECASE)]
    for row, why in parts.items():
        entry = entries[row]
        if query.period:
            why["period"] = PERIOD_WEIGHT * query.period.nearness(entry.created_at)
        if named:
            why["date"] = DATE_WEIGHT * max(date.match(entry.created_at) for date in named)
        if speakers == [entry.speaker]:  # of several, none is meant
            why["speaker"] = SPEAKER_WEIGHT


def add_priors(parts: Mapping[int, dict[str, float]], entries: Mapping[int, Entry], query: Query) -> None:
    """Adds to the parts of each score those that do not depend on the topic: a stated kind, recency, importance, relevance and
    preferences."""
    newest = query.weights.get("recency", RECENCY_WEIGHT)
    weightiest = query.weights.get("importance", IMPORTANCE_WEIGHT)
    prefers = bool(query.prefer_kinds or query.prefer_tags)
    for row, why in parts.items():
        entry = entries[row]
        why["stated"] = STATED_SHARE * sum(why.values()) if entry.kind in STATED_KINDS else 0.0
        why["recency"] = newest * recency(entry.created_at, query.now)
        why["importance"] = weightiest * entry.importance * entry.confidence
        why["relevance"] = RELEVANCE_WEIGHT * _RELEVANCE.get(entry.relevance, _RELEVANCE["medium"])
        if prefers:
            why.update(preferences(entry, query))
