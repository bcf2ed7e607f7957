"""What time and use do to a score: confidence that decays, the season, accesses."""

from __future__ import annotations

from collections.abc import Mapping

from memcli.model.recall import Entry, Query
from memcli.policy.decay import familiarity, remaining
from memcli.policy.season import is_in_season

DECAY_SHARE = 0.2
"""What a memory loses at most once nobody has confirmed it for long: less than kinds and words decide."""
SEASON_SHARE = 0.2
"""What a memory gains in its season."""
_ALL = 0.999
"""So much that is left counts as all of it: what was told this hour has not decayed."""


def add_ageing(parts: Mapping[int, dict[str, float]], entries: Mapping[int, Entry], query: Query) -> None:
    """Adds to the parts of each score what its age takes, and what its season and its accesses give."""
    wanted = query.weights.get("access", 0.0)
    for row, why in parts.items():
        entry = entries[row]
        total = sum(why.values())
        left = remaining(entry.kind, entry.confirmed_at or entry.created_at, query.now)
        if left < _ALL:
            why["importance"] = why.get("importance", 0.0) * left
            why["decay"] = -DECAY_SHARE * (1 - left) * total
        if entry.season and is_in_season(entry.season, query.now, query.seasons):
            why["season"] = SEASON_SHARE * total
        if wanted:
            why["access"] = wanted * familiarity(query.accesses.get(entry.id, 0))
