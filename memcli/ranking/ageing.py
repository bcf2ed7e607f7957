"""What time and use do to a score: confidence, its decay, the season, accesses."""

from __future__ import annotations

from collections.abc import Mapping

from memcli.model.recall import Entry, Query
from memcli.policy.decay import familiarity, remaining
from memcli.policy.season import is_in_season

CONFIDENCE_SHARE = 0.4
"""What a memory loses in which nobody has any confidence: what feedback has lowered ranks lower."""
DECAY_SHARE = 0.05
"""What a memory loses at most that nobody has confirmed for long. Most of what was told still holds: the turns of LoCoMo,
taken as facts of their dates, have an nDCG@10 of 63.0 without decay, 63.1 with .05, 62.4 with .1 and 61.1 with .2."""
GUESS_SHARE = 0.2
"""The same of a guess."""
SEASON_SHARE = 0.2
"""What a memory gains in its season."""
_GUESS = "inferred"
_ALL = 0.999
"""So much that is left counts as all of it: what was told this hour has not decayed."""


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
