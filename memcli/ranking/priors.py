"""What counts in a score beside words and meaning: the weights of a query, dates and speakers that it names, age and use."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from functools import lru_cache

from memcli.clock import days_between
from memcli.errors import UsageError
from memcli.model.recall import Entry, Hit, Query, in_order
from memcli.policy.ageing import familiarity, is_in_season, remaining
from memcli.record import replace
from memcli.text.words import dates

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
        added = bias * (high * recency(hit.entry, query))
        why = {name: (1 - bias) * part for name, part in hit.why.items()} | {"recency_bias": added}
        biased.append(replace(hit, score=sum(why.values()), why=why))
    return tuple(in_order(biased))


def recency(entry: Entry, query: Query) -> float:
    """`exp(-age / 30 days)`: 1 for what was recorded now, 0 for what is old."""
    return _decayed(entry.created_at, query.now)


@lru_cache(maxsize=20_000)
def _decayed(moment: str, now: str) -> float:
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
        if entry.season and is_in_season(entry.season, query.now, query.seasons):
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
        why["recency"] = newest * recency(entry, query)
        why["importance"] = weightiest * entry.importance * entry.confidence
        why["relevance"] = RELEVANCE_WEIGHT * _RELEVANCE.get(entry.relevance, _RELEVANCE["medium"])
        if prefers:
            why.update(preferences(entry, query))
