"""What a score is made of beside meaning: words, dates and speakers that a question names, age and use.

BM25F scores how well a memory, or a whole group, answers the words of a question, by the style of its text.
S. Robertson, H. Zaragoza: "The Probabilistic Relevance Framework: BM25 and Beyond", 2009, section 3.6;
the inverse document frequency is that of Lucene, which is never negative. The numbers of each style were chosen by
measurement: see bench/README.md.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

from memcli.clock import days_between
from memcli.errors import UsageError
from memcli.model.memory import TALK_KINDS
from memcli.model.recall import Entry, Hit, Query, RecordedGroup, TermStats, in_order
from memcli.policy.ageing import familiarity, is_in_season, remaining
from memcli.record import Record, replace
from memcli.text.words import dates


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
    """The score of each row that has a style; rows without any of the words are left out. What a filter hides has no style, and
    does not set the scale."""
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


DATE_WEIGHT = 0.35
PERIOD_WEIGHT = 0.35
"""What a date within the period that the question names gives."""
SPEAKER_WEIGHT = 0.1
RECENCY_WEIGHT = 0.01
IMPORTANCE_WEIGHT = 0.01
RELEVANCE_WEIGHT = 0.02
STATED_SHARE = 0.3
"""What somebody took the trouble to state counts this much more than code, diffs and logs that say the same."""
STATED_KINDS = frozenset(
    ("decision", "fact", "preference", "procedure", "correction", "negative", "constraint", "goal")
)
_RELEVANCE: Mapping[str, float] = {"high": 1.0, "medium": 0.5, "low": 0.0}

COMPONENTS = ("semantic", "keyword", "recency", "importance", "access")
"""The names that `--weights` knows. A backend without such a part has nothing to weigh by it."""

RECENCY_DAYS = 30.0
PREFERENCE = 0.1
"""What a preferred kind or tag adds, where scores go from 0 to about 1."""


def factors(query: Query, own: Mapping[str, float]) -> dict[str, float]:
    """For each component what to multiply its parts by, so that it weighs what the query asks instead of `own`.

    `own` is what each component of a backend weighs, above 0. Raises UsageError.
    """
    check(query)
    return {name: query.weights.get(name, weight) / weight for name, weight in own.items()}


def check(query: Query) -> None:
    """Raises UsageError when the query asks for weights that there are not."""
    unknown = sorted(query.weights.keys() - set(COMPONENTS))
    if unknown:
        raise UsageError(f"unknown weight {unknown[0]!r}", f"known: {', '.join(COMPONENTS)}")
    for name, weight in query.weights.items():
        if not 0 <= weight < math.inf:
            raise UsageError(f"the weight of {name} is {weight}", "use a number of 0 or more, such as .4")
    if query.recency_bias is not None and not 0 <= query.recency_bias <= 1:
        raise UsageError(f"the recency bias is {query.recency_bias}", "use a number from 0 to 1")


def ordered(hits: Iterable[Hit], query: Query) -> tuple[Hit, ...]:
    """The hits, best first; with a recency bias `b` each score is `(1 - b) * score + b * recency * the best score`, on the
    scale of the backend.
    """
    check(query)
    found = list(hits)
    bias = query.recency_bias
    if not bias or not found:
        return tuple(in_order(found))
    high = max(hit.score for hit in found)
    biased = []
    for hit in found:
        added = bias * (high * recency(hit.entry.created_at, query.now))
        why = {name: (1 - bias) * part for name, part in hit.why.items()} | {"recency_bias": added}
        biased.append(replace(hit, score=sum(why.values()), why=why))
    return tuple(in_order(biased))


@lru_cache(maxsize=20_000)
def recency(moment: str, now: str) -> float:
    """`exp(-age / 30 days)`: 1 for what was recorded now, 0 for what is old."""
    return math.exp(-days_between(moment, now) / RECENCY_DAYS)


def preferences(entry: Entry, query: Query) -> dict[str, float]:
    """The parts for a preferred kind and a preferred tag."""
    parts = {}
    if entry.kind in query.prefer_kinds:
        parts["prefer_kind"] = PREFERENCE
    if any(tag in entry.tags for tag in query.prefer_tags):
        parts["prefer_tag"] = PREFERENCE
    return parts


def speaker(question: str, names: Iterable[str]) -> str | None:
    """The one of `names` that the question names; None when it names none or several."""
    named = [
        name for name in sorted(set(names)) if name and re.search(rf"\b{re.escape(name)}\b", question, re.IGNORECASE)
    ]
    return named[0] if len(named) == 1 else None


CONFIDENCE_SHARE = 0.4
"""The share of its score that a memory of confidence 0 loses; feedback lowers confidence."""
DECAY_SHARE = 0.05
"""What a memory loses at most that nobody has confirmed for long. Most of what was told still holds: the turns of LoCoMo,
taken as facts of their dates, have an nDCG@10 of 63.0 without decay, 63.1 with .05, 62.4 with .1 and 61.1 with .2."""
GUESS_SHARE = 0.2
"""The same of a guess."""
SEASON_SHARE = 0.2
"""What a memory gains in its season."""
_GUESS = "inferred"
_ALL = 0.999
"""From this remaining share (0..1) on, a memory has not decayed: what was recorded this hour counts in full."""


def add_ageing(parts: Mapping[int, dict[str, float]], entries: Mapping[int, Entry], query: Query) -> None:
    """Adds to the parts of each score what doubt and age take, and what the season and accesses give."""
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
    """Adds to the parts of each score what the period, the dates and the speaker give that the question names."""
    named = dates(query.topic) if query.period is None else []
    who = speaker(query.topic, (entry.speaker for entry in entries.values()))
    for row, why in parts.items():
        entry = entries[row]
        if query.period:
            why["period"] = PERIOD_WEIGHT * query.period.nearness(entry.created_at)
        if named:
            why["date"] = DATE_WEIGHT * max(date.match(entry.created_at) for date in named)
        if who and entry.speaker == who:
            why["speaker"] = SPEAKER_WEIGHT


def add_priors(parts: Mapping[int, dict[str, float]], entries: Mapping[int, Entry], query: Query) -> None:
    """Adds what counts whatever the question is: a stated kind, recency, importance, relevance and preferences."""
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
