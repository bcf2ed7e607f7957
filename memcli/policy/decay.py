"""Decay: how much of a memory's confidence is left, by its kind and its age, read at recall and never written."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import lru_cache

from memcli.clock import days_between
from memcli.model.memory import Memory

HALF_LIVES: Mapping[str, float] = {
    "fact": 30, "preference": 90, "procedure": 60, "correction": 365, "negative": 365, "inferred": 7,
}  # fmt: skip
"""Days in which the confidence in a memory of this kind falls to 1/e; other kinds do not decay."""
_ACCESS_SHARE = 0.1
_BOOST = 0.5
_HOURS = 24.0


def remaining(kind: str, since: str, now: str) -> float:
    """The share of the confidence that is left at `now` of what was told or confirmed at `since`; 0..1."""
    days = HALF_LIVES.get(kind)
    return 1.0 if days is None else _faded(days, since, now)


@lru_cache(maxsize=20_000)
def _faded(days: float, since: str, now: str) -> float:
    return math.exp(-days_between(since, now) / days)


def familiarity(accesses: int) -> float:
    """What accesses add to the confidence, as a share of it: .1 ln(accesses + 1)."""
    return _ACCESS_SHARE * math.log(accesses + 1)


def confirmed_at(memory: Memory) -> str:
    """From when the confidence decays: the last edit or confirmation, else when what it speaks of was so."""
    is_renewed = memory.version > 1 or memory.strength > 1
    return max(memory.created_at, memory.updated_at) if is_renewed else memory.created_at


def effective_confidence(memory: Memory, now: str, accesses: int = 0) -> float:
    """`confidence * exp(-age / half_life) * (1 + .1 ln(accesses + 1)) * trust`, at most 1."""
    left = memory.confidence * memory.trust * remaining(memory.kind, confirmed_at(memory), now)
    return min(1.0, left * (1 + familiarity(accesses)))


def recency_boost(last_at: str, now: str) -> float:
    """What a last access multiplies strength by: 1.5 at once, 1 after days; `1 + .5 e^(-hours / 24)`."""
    return 1 + _BOOST * math.exp(-days_between(last_at, now) * 24 / _HOURS) if last_at else 1.0
